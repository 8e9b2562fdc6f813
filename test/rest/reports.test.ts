import { beforeEach, describe, expect, test } from 'vitest';
import { SEGMENT_NAMES, SEGMENTS, type Segment } from '../../schemas/report.js';
import { logEntry } from '../../src/demo/change-log.js';
import { phpDate } from '../../src/domain/reports/php-date.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
let site: number;
let other: number;

beforeEach(async () => {
  app = await restApp({ sites: 2 });
  site = await app.connect(0);
  other = await app.connect(1);
  // Removes the data of the simulated site: each test provides its own.
  for (const table of ['site_change', 'site_update', 'site_abandoned', 'site_certificate'])
    await app.db.run(`DELETE FROM ${table}`);
});

const HOUR = 3_600_000;
const RANGE = 'start_date=2026-11-01&end_date=2026-11-20';
const at = (text: string) => Date.parse(text);

const get = (segment: string, query = '', of = site) => app.rest(`GET /pro-reports/${of}/${segment}?${RANGE}${query}`);
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
async function normal(segment: string, query = '', of = site): Promise<any> {
  const { status, body } = await get(segment, `&format=normal${query}`, of);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}
const change = (
  context: string,
  action: string,
  item: string,
  when: string,
  more: { source?: string; user?: string } = {},
) =>
  app.db.run(
    `INSERT INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created)
     VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)`,
    [
      site,
      more.source ?? 'logs',
      `${context}${action}${item}${when}${more.source}`,
      context,
      action,
      item,
      more.user ?? 'ada',
      at(when) / 1000,
    ],
  );
const did = (
  context: 'plugin' | 'theme' | 'core',
  action: string,
  slug: string,
  when: string,
  versions: [string, string] = ['', ''],
) =>
  app.service.store.actionLog.add([
    { site_id: site, context, action, slug, old_version: versions[0], new_version: versions[1], at: at(when) },
  ]);
const record = async (segment: string, values: object, more: object = {}) => {
  const reply = await app.rest(`POST /pro-reports/${site}/records`, {
    body: { segment, values, at: '2026-11-10T08:00:00Z', ...more },
  });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
};

/** Seeds a segment with data for the 10th of November, and gives the expected output under plain keys. */
const DATA: Record<Segment, { seed: () => Promise<unknown>; rows?: object[]; counts?: object; values?: object }> = {
  plugins: {
    seed: async () => {
      await did('plugin', 'updated', 'seo/seo.php', '2026-11-10T08:00:00Z', ['1.9', '2.0']);
      await change('plugins', 'deactivated', 'Beta Widget', '2026-11-10T07:00:00Z', { source: 'actions' });
    },
    rows: [
      {
        action: 'updated',
        name: 'seo/seo.php',
        slug: 'seo/seo.php',
        author: 'Sitefleet',
        old_version: '1.9',
        current_version: '2.0',
        utime: at('2026-11-10T08:00:00Z') / 1000,
      },
      {
        action: 'deactivated',
        name: 'Beta Widget',
        author: 'ada',
        date: '2026-11-10',
        time: '07:00:00',
        at: '2026-11-10T07:00:00Z',
      },
    ],
    counts: {
      installed: 0,
      activated: 0,
      deactivated: 1,
      updated: 1,
      'rolled-back': 0,
      edited: 0,
      deleted: 0,
      abandoned: 0,
      pending: 0,
    },
  },
  themes: {
    seed: () => change('themes', 'switched', 'Twenty', '2026-11-10T08:00:00Z', { source: 'actions' }),
    rows: [{ action: 'activated', name: 'Twenty', author: 'ada' }],
    counts: {
      installed: 0,
      activated: 1,
      updated: 0,
      'rolled-back': 0,
      edited: 0,
      deleted: 0,
      abandoned: 0,
      pending: 0,
    },
  },
  platform: {
    seed: () => did('core', 'updated', 'platform', '2026-11-10T08:00:00Z', ['6.7', '6.8']),
    rows: [{ action: 'updated', name: 'WordPress', old_version: '6.7', current_version: '6.8' }],
    counts: { updated: 1, pending: 0 },
  },
  posts: content('post', 'published', 'created'),
  pages: content('page', 'trashed', 'trashed'),
  users: {
    seed: () => change('user', 'profile_updated', 'grace', '2026-11-10T08:00:00Z'),
    rows: [{ action: 'updated', name: 'grace', author: 'ada', role: '' }],
    counts: { created: 0, updated: 1, deleted: 0 },
  },
  comments: content('comment', 'spammed', 'spam'),
  menus: content('nav-menu', 'created', 'created'),
  media: {
    seed: () => change('attachment', 'uploaded', 'logo.png', '2026-11-10T08:00:00Z'),
    rows: [{ action: 'uploaded', name: 'logo.png' }],
    counts: { uploaded: 1, updated: 0, deleted: 0 },
  },
  backups: {
    seed: () => record('backups', { type: 'full' }),
    rows: [{ action: 'created', type: 'full', date: '2026-11-10' }],
    counts: { created: 1 },
  },
  maintenance: {
    seed: () => record('maintenance', { result: 'done', details: '12 revisions' }),
    rows: [{ action: 'process', result: 'done', details: '12 revisions' }],
    counts: { process: 1 },
  },
  scanner_a: {
    seed: () => record('scanner_a', { status: 'clean', webtrust: 'verified' }),
    rows: [{ action: 'checks', status: 'clean', webtrust: 'verified' }],
    counts: { checks: 1 },
  },
  scanner_b: {
    seed: () => record('scanner_b', { result: 'ok' }, { action: 'scan' }),
    rows: [{ action: 'scan', result: 'ok', details: null }],
    counts: { scan: 1 },
  },
  scanner_c: {
    seed: () => record('scanner_c', { status: 'clean' }),
    rows: [{ action: 'scans', status: 'clean' }],
    counts: { scans: 1 },
  },
  scan_a: {
    seed: () =>
      record('scan_a', {
        plugins_count: 1,
        themes_count: 0,
        plugins: [{ name: 'Form', version: '1.0', fixed_in: '1.1', severity: 'high' }],
      }),
    values: {
      plugins_count: 1,
      themes_count: 0,
      plugins: [{ name: 'Form', version: '1.0', fixed_in: '1.1', severity: 'high' }],
      core: [],
    },
  },
  protect_a: {
    seed: () => record('protect_a', { plugins_count: 0, core: [] }),
    values: { plugins_count: 0, themes_count: null },
  },
  security_plugin: {
    seed: async () => {
      await record('security_plugin', { result: 'clean', blocked: 3, lockouts: 1 });
      await record('security_plugin', { result: 'clean', blocked: 4 }, { at: '2026-11-11T08:00:00Z' });
    },
    rows: [
      { action: 'scan', result: 'clean', blocked: 4, lockouts: null },
      { action: 'scan', result: 'clean', blocked: 3, lockouts: 1 },
    ],
    counts: { scan: 2 },
    values: { blocked_count: 7, lockout_count: 1 },
  },
  domainmonitor: {
    seed: async () => {
      await app.db.run(
        "INSERT INTO domain (name, registrar, creation_date, expiry_date, source, last_check) VALUES ('shop.example', 'Example Registrar', ?, ?, 'rdap', ?)",
        [at('2020-01-02'), at('2027-01-02'), at('2026-11-19')],
      );
      await app.db.run('INSERT OR REPLACE INTO site_domain (site_id, domain) VALUES (?, ?)', [site, 'shop.example']);
    },
    values: {
      name: 'shop.example',
      registrar: 'Example Registrar',
      creation: '2020-01-02',
      updated: null,
      expiry: '2027-01-02',
      expires: 42,
      status: 'Valid',
      last_check: '2026-11-19T00:00:00Z',
    },
  },
  sslmonitor: {
    seed: () =>
      app.db.run(
        "INSERT INTO site_certificate (site_id, status, good, issuer_o, subject_cn, valid_from, valid_to, last_check) VALUES (?, 'valid', 1, 'Example CA', 'shop.example', ?, ?, ?)",
        [site, at('2026-10-01'), at('2026-12-30'), at('2026-11-19')],
      ),
    values: {
      name: 'shop.example',
      issuer: 'Example CA',
      valid_from: '2026-10-01',
      valid_to: '2026-12-30',
      expires: 39,
      last_check: '2026-11-19T00:00:00Z',
    },
  },
  shop_status: {
    seed: () => record('shop_status', { sales: 1234.5, topseller: 'Mug', onhold: 2 }),
    values: {
      sales: 1234.5,
      topseller: 'Mug',
      awaitingprocessing: null,
      onhold: 2,
      lowonstock: null,
      outofstock: null,
    },
  },
  vulnerable: {
    seed: () => record('vulnerable', { count: 0, checkdate: '2026-11-09' }),
    values: { count: 0, checkdate: '2026-11-09', plugins: [], themes: [] },
  },
  analytics_a: {
    seed: () =>
      record('analytics_a', {
        visits: 120,
        bounce_rate: 41.5,
        visits_chart: [
          { date: '2026-11-09', value: 50 },
          { date: '2026-11-10', value: 70 },
        ],
        visits_maximum: 70,
      }),
    values: {
      visits: 120,
      bounce_rate: 41.5,
      visits_maximum: 70,
      startdate: '2026-11-01',
      enddate: '2026-11-20',
      visits_chart: [
        { date: '2026-11-09', value: 50 },
        { date: '2026-11-10', value: 70 },
      ],
    },
  },
  analytics_b: {
    seed: () => record('analytics_b', { visits: 7, avg_time: '00:01:10' }),
    values: { visits: 7, avg_time: '00:01:10', pageviews: null },
  },
  'perf-audit': {
    seed: async () => {
      await audit('mobile', '2026-11-09T08:00:00Z', 50);
      await audit('mobile', '2026-11-10T08:00:00Z', 88);
      await audit('desktop', '2026-10-31T08:00:00Z', 99);
    },
    values: {
      performance_mobile: 88,
      accessibility_mobile: 90,
      bestpractices_mobile: 100,
      seo_mobile: 92,
      lastcheck_mobile: '2026-11-10T08:00:00Z',
      audits_mobile: [{ title: 'Reduce unused JavaScript', display_value: '120 KiB' }],
      chart_mobile: [
        { date: '2026-11-09', value: 50 },
        { date: '2026-11-10', value: 88 },
      ],
      performance_desktop: null,
      chart_desktop: [],
    },
  },
  uptime_monitor_ext: {
    seed: () => record('uptime_monitor_ext', { alltimeuptimeratio: 99.9, uptime7: 100 }),
    values: { alltimeuptimeratio: 99.9, uptime7: 100, uptime15: null },
  },
  uptime: {
    seed: async () => {
      const hour = at('2026-11-10T00:00:00Z') / HOUR;
      await app.db.run('INSERT INTO monitor_hour VALUES (?, ?, 3600, 0, 0, 4, 800, 100, 300)', [site, hour]);
      await app.db.run('INSERT INTO monitor_hour VALUES (?, ?, 2700, 900, 0, 2, 400, 150, 250)', [site, hour + 1]);
      await app.db.run(
        "INSERT INTO incident (site_id, started_at, ended_at, http_code, msg, down_count) VALUES (?, ?, ?, 503, 'HTTP 503', 3)",
        [site, at('2026-11-10T01:15:00Z'), at('2026-11-10T01:30:00Z')],
      );
    },
    rows: [
      {
        action: 'incidents',
        date: '2026-11-10',
        time: '01:15:00',
        ended_at: '2026-11-10T01:30:00Z',
        duration_sec: 900,
        reason: 'HTTP 503',
      },
    ],
    counts: { incidents: 1 },
    values: {
      alltimeuptimeratio: 87.5,
      uptime7: null,
      // The monitor began within these days.
      uptime15: null,
      numberofincidents: 1,
      responsetime_average: 200,
      responsetime_min: 100,
      responsetime_max: 300,
      startdate: '2026-11-01',
      enddate: '2026-11-20',
      chart: [{ date: '2026-11-10', value: 87.5 }],
      stats: [
        { state: 'up', seconds: 6300 },
        { state: 'down', seconds: 900 },
      ],
    },
  },
  feedback_tool: {
    seed: async () => {
      for (const hourly_price of ['0', '50'])
        await app.rest('POST /time-tracker/tasks/add', {
          body: { title: 'Fix', site_ids: [site], duration_seconds: 600, hourly_price },
        });
    },
    values: { all_tasks: 2, billable_tasks: 1 },
  },
  website: {
    seed: async () => undefined,
    values: {
      site_version: expect.stringMatching(/^\d/),
      site_php: expect.stringMatching(/^\d/),
      site_theme: expect.any(String),
    },
  },
  abandoned: {
    seed: () =>
      app.db.run(
        "INSERT INTO site_abandoned (site_id, kind, slug, name, version, last_updated, url_key) SELECT id, 0, 'old/old.php', 'Old', '0.9', ?, url_key FROM site WHERE id = ?",
        [at('2019-03-04') / 1000, site],
      ),
    rows: [{ action: 'plugins', name: 'Old', slug: 'old/old.php', version: '0.9', last_updated: '2019-03-04' }],
    counts: { plugins: 1, themes: 0 },
  },
  pending: {
    seed: () =>
      app.db.run(
        "INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, url_key) SELECT id, 1, 'seo/seo.php', 0, 'SEO', '1.0', '2.0', url_key FROM site WHERE id = ?",
        [site],
      ),
    rows: [{ action: 'plugins', name: 'SEO', slug: 'seo/seo.php', current_version: '1.0', new_version: '2.0' }],
    counts: { platform: 0, plugins: 1, themes: 0, translations: 0 },
  },
  misc: {
    seed: () =>
      app.call('add-client', { name: 'Ada', client_email: 'ada@example.com', city: 'Turin', selected_sites: [site] }),
    values: {
      report_daterange: '2026-11-01 – 2026-11-20',
      report_send_date: '2026-11-20',
      client_name: 'Ada',
      client_email: 'ada@example.com',
      client_city: 'Turin',
      client_zip: '',
    },
  },
};

function content(context: string, word: string, action: string) {
  const segment = { post: 'posts', page: 'pages', comment: 'comments', 'nav-menu': 'menus' }[context] as
    | 'posts'
    | 'pages'
    | 'comments'
    | 'menus';
  return {
    seed: () => change(context, word, 'Hello', '2026-11-10T08:00:00Z'),
    rows: [{ action, title: 'Hello', author: 'ada', date: '2026-11-10' }],
    counts: Object.fromEntries(SEGMENTS[segment].map((name) => [name, name === action ? 1 : 0])),
  };
}

const audit = (strategy: string, when: string, performance: number) =>
  app.db.run(
    `INSERT INTO audit (site_id, strategy, status, requested_at, finished_at, engine, performance, seo, accessibility, best_practices, others_data)
     VALUES (?, ?, 'completed', ?, ?, 'lighthouse', ?, 92, 90, 100, ?)`,
    [
      site,
      strategy,
      at(when),
      at(when),
      performance,
      JSON.stringify([
        {
          id: 'unused-javascript',
          title: 'Reduce unused JavaScript',
          description: '',
          score: 0.5,
          display_value: '120 KiB',
          group: 'x',
        },
      ]),
    ],
  );

/** These have no data until their tool has delivered records. */
const THIRD_PARTY: readonly Segment[] = [
  'scanner_a',
  'scanner_b',
  'scanner_c',
  'scan_a',
  'protect_a',
  'security_plugin',
  'shop_status',
  'analytics_a',
  'analytics_b',
  'uptime_monitor_ext',
];

describe.each(SEGMENT_NAMES)('%s', (segment) => {
  test('with data: rows, counts and values under plain keys', async () => {
    const { seed, rows, counts, values } = DATA[segment];
    await seed();
    const { data, meta, total, site: shown } = await normal(segment);
    expect(shown).toMatchObject({ id: site });
    if (rows !== undefined) expect(data.rows).toMatchObject(rows);
    if (rows !== undefined) expect(data.rows).toHaveLength(rows.length);
    expect(total).toBe(rows?.length ?? 0);
    if (counts !== undefined) expect(data.counts).toEqual(counts);
    if (values !== undefined) expect(data.values).toMatchObject(values);
    expect(meta).toMatchObject({
      start_date: '2026-11-01',
      end_date: '2026-11-20',
      action: 'all',
      format: 'normal',
      generated_at: '2026-11-20T12:00:00Z',
      truncated: false,
    });
  });

  test('with data: the same as bracketed tokens, as CSV and as a page', async () => {
    await DATA[segment].seed();
    const { body } = await get(segment);
    expect(body).toMatchObject({ success: 1, meta: { format: 'raw' }, site: { id: site } });
    expect(Object.keys(body.data)).toEqual(['sections_data', 'other_tokens_data']);
    const rows = body.data.sections_data.flat();
    expect(rows).toHaveLength(DATA[segment].rows?.length ?? 0);
    for (const name of [...rows, body.data.other_tokens_data].flatMap(Object.keys))
      expect(name).toMatch(/^\[[a-z0-9.-]+\]$/);
    if (SEGMENTS[segment].length > 0) expect(body.data.sections_data).toHaveLength(SEGMENTS[segment].length);

    const sheet = await get(segment, '&format=csv');
    expect(sheet.headers.get('content-type')).toBe('text/csv; charset=UTF-8');
    expect(sheet.headers.get('content-disposition')).toBe(
      `attachment; filename="site-${site}-${segment}-2026-11-01-2026-11-20.csv"`,
    );
    expect(sheet.body.trimEnd().split('\r\n').length).toBeGreaterThan(1);

    await app.db.run("UPDATE site SET url = 'https://xn--bcher-kva.example/' WHERE id = ?", [site]);
    const page = await get(segment, '&format=html');
    expect(page.headers.get('content-type')).toBe('text/html; charset=UTF-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.body).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect(page.body).not.toMatch(/<script|src=|undefined|NaN|\[object|xn--/);
    expect(page.body).toContain('https://bücher.example/');
  });

  test('without data: says so, and invents nothing', async () => {
    if (THIRD_PARTY.includes(segment)) {
      const { status, body } = await get(segment);
      expect([status, body.code, body.data.module]).toEqual([501, 'svc_module_not_available', segment]);
      return;
    }
    const { data, total, meta } = await normal(segment, '', other);
    expect([data.rows, total]).toEqual([[], 0]);
    // The site was not monitored then, or nothing was recorded.
    const none = ['uptime', 'backups', 'maintenance'].includes(segment) ? null : 0;
    expect(Object.values(data.counts).every((count) => count === none)).toBe(true);
    const lists = Object.values(data.values).filter(Array.isArray);
    if (segment !== 'website') expect(lists.flat()).toEqual([]);
    expect(meta.notes.length).toBeGreaterThan(0);
    const raw = (await get(segment, '', other)).body.data;
    expect(raw.sections_data.flat()).toEqual([]);
  });
});

describe('the contract', () => {
  test('an incident that ended as the range begins is not of the range', async () => {
    const incident = (from: string, to: string) =>
      app.db.run(
        "INSERT INTO incident (site_id, started_at, ended_at, http_code, msg, down_count) VALUES (?, ?, ?, 503, 'HTTP 503', 3)",
        [site, at(from), at(to)],
      );
    await incident('2026-10-31T23:00:00Z', '2026-11-01T00:00:00Z');
    expect((await normal('uptime')).data.values.numberofincidents).toBe(0);
    await incident('2026-10-31T23:00:00Z', '2026-11-01T00:00:01Z');
    await incident('2026-11-01T00:00:00Z', '2026-11-01T00:00:00Z');
    await incident('2026-11-20T23:59:59Z', '2026-11-21T00:00:00Z');
    await incident('2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z');
    const { data } = await normal('uptime');
    expect([data.values.numberofincidents, data.rows.length]).toEqual([3, 3]);
  });

  test.each([
    ['', 'rest_missing_callback_param', ['start_date', 'end_date']],
    ['start_date=2026-11-01', 'rest_missing_callback_param', ['end_date']],
    ['start_date=2026-02-30&end_date=2026-03-01', 'rest_invalid_param', { start_date: 'is not a real date' }],
    ['start_date=1.1.2026&end_date=2026-03-01', 'rest_invalid_param', { start_date: 'must be a day as YYYY-MM-DD' }],
    [
      'start_date=2026-11-02&end_date=2026-11-01',
      'rest_invalid_param',
      { end_date: 'must not be before start_date (2026-11-02)' },
    ],
    [
      'start_date=2026-11-01&end_date=2026-11-01&format=pdf',
      'rest_invalid_param',
      { format: expect.stringContaining('raw') },
    ],
    [
      'start_date=2026-11-01&end_date=2026-11-01&action=painted',
      'rest_invalid_param',
      { action: expect.stringContaining('deactivated') },
    ],
  ])('%s is refused', async (query, code, params) => {
    const { status, body } = await app.rest(`GET /pro-reports/${site}/plugins?${query}`);
    expect([status, body.code]).toEqual([400, code]);
    expect(body.data.params).toEqual(params);
  });

  test('an action word is refused where a segment has none', async () => {
    expect((await get('website', '&action=updated')).body).toMatchObject({ code: 'rest_invalid_param' });
    expect((await get('website', '&action=all')).status).toBe(200);
  });

  test('unknown segments, sites, suspended sites and a module that is off', async () => {
    expect((await get('weather')).body.code).toBe('rest_no_route');
    expect((await get('plugins', '', 99)).body.code).toBe('svc_rest_invalid_site_id');
    await app.call('suspend-site', { site_id_or_domain: site });
    expect(await get('plugins')).toMatchObject({ status: 409, body: { code: 'svc_site_suspended' } });
    const off = await restApp({ sites: 1, config: { modules: ['pro-reports'] } });
    const lone = await off.connect(0);
    const ask = async (segment: string) => {
      const { status, body } = await off.rest(`GET /pro-reports/${lone}/${segment}?${RANGE}`);
      return [status, body.data.module];
    };
    expect(await ask('posts')).toEqual([501, 'logs']);
    expect(await ask('sslmonitor')).toEqual([501, 'ssl-monitor']);
    expect(await ask('domainmonitor')).toEqual([501, 'domain-monitor']);
    expect(await ask('perf-audit')).toEqual([501, 'perf-audit']);
    expect(await ask('feedback_tool')).toEqual([501, 'feedback_tool']);
    const own = await off.rest(`GET /pro-reports/${lone}/plugins?${RANGE}`);
    expect(own.body.meta.notes).toContain('What was done on the site itself is left out: the Logs module is disabled.');
    await off.close();
    const none = await restApp({ sites: 1, config: { modules: [] } });
    expect((await none.rest(`GET /pro-reports/1/plugins?${RANGE}`)).body.data.module).toBe('pro-reports');
  });

  test('days are those of the dashboard, both included, over a change of summer time', async () => {
    await app.rest('PUT /settings/general/edit', {
      body: { timezone_string: 'Europe/Berlin', date_format: 'd.m.Y', time_format: 'H:i' },
    });
    const berlin = ['2026-10-24T21:59:59Z', '2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z', '2026-10-25T23:00:00Z'];
    for (const when of berlin) await did('plugin', 'deleted', `p/${when}`, when);
    const ask = (format: string) =>
      app.rest(
        `GET /pro-reports/${site}/plugins?start_date=2026-10-25&end_date=2026-10-25&action=deleted&format=${format}`,
      );
    const { data, meta } = (await ask('json')).body;
    expect(data.rows.map((row: { at: string; date: string; time: string }) => [row.at, row.date, row.time])).toEqual([
      ['2026-10-25T22:59:59Z', '2026-10-25', '23:59:59'],
      ['2026-10-24T22:00:00Z', '2026-10-25', '00:00:00'],
    ]);
    expect(meta).toMatchObject({
      time_zone: 'Europe/Berlin',
      action: 'deleted',
      sections: [{ name: 'deleted', count: 2 }],
    });
    expect((await ask('raw')).body.data.sections_data[0][0]).toMatchObject({
      '[plugin.deleted.date]': '25.10.2026',
      '[plugin.deleted.time]': '23:59',
      '[plugin.slug]': 'p/2026-10-25T22:59:59Z',
    });
  });

  describe('a month before the site was watched', () => {
    const UNWATCHED = 'Not known: watched since 2026-11-20.';
    const MONTH = 'start_date=2026-10-01&end_date=2026-10-31';
    const seen = async (segment: Segment) =>
      (await app.rest(`GET /pro-reports/${site}/${segment}?${MONTH}&format=normal`)).body;
    beforeEach(async () => {
      await app.db.run('UPDATE monitor SET status = 1 WHERE site_id = ?', [site]);
      await app.db.run(
        `INSERT INTO heartbeat (site_id, at, status, important, duration, down_count, msg) VALUES (?, ?, 1, 0, 0, 0, '')`,
        [site, at('2026-11-20T11:00:00Z')],
      );
    });

    test.each<[Segment, object]>([
      ['uptime', { counts: { incidents: null }, values: { numberofincidents: null, status: null } }],
      ['website', { values: { installed_plugins: [], installed_themes: [], site_version: null, site_health: null } }],
      ['plugins', { counts: { updated: null, installed: null, pending: null, abandoned: null } }],
      ['platform', { counts: { updated: null, pending: null } }],
      ['users', { counts: { created: null, updated: null } }],
      ['pending', { rows: [], counts: { plugins: null, platform: null } }],
      ['abandoned', { rows: [], counts: { plugins: null } }],
      ['sslmonitor', { values: { issuer: null, status: null, expires: null } }],
      ['domainmonitor', { values: { name: null, status: null } }],
      ['backups', { counts: { created: null } }],
    ])('is not known: %s', async (segment, data) => {
      const body = await seen(segment);
      expect(body).toMatchObject({ data, meta: { notes: [UNWATCHED] } });
    });

    test('is not known as raw data, nor on the page, nor to an assistant', async () => {
      const raw = (await app.rest(`GET /pro-reports/${site}/uptime?${MONTH}`)).body.data.other_tokens_data;
      expect(raw).toMatchObject({
        '[uptime.incidents.count]': '',
        '[uptime.numberofincidents]': '',
        '[uptime.status]': '',
      });
      const page = (await app.rest(`GET /pro-reports/${site}/report?${MONTH}`)).body;
      expect(page).toContain('<dt>Incidents</dt><dd>–</dd>');
      expect(page).toContain('<dt>Status</dt><dd>–</dd>');
      expect(page).not.toContain('Installed plugins');
      expect(page).not.toContain('Nothing happened');
      expect(page).toContain(UNWATCHED);
      const range = { start_date: '2026-10-01', end_date: '2026-10-31' };
      await app.rest('POST /clients', { body: { client_name: 'Ada', client_email: 'ada@ada.example' } });
      const own = await app.call('build-report', { site_id_or_domain: site, ...range });
      for (const { text } of own.reports) {
        expect(text).not.toMatch(/Incidents: |Status: |Installed|nothing in this period/);
        expect(text).toBe(`All of it: ${UNWATCHED}`);
      }
    });

    test('is known as far as it is on record, and a month half watched says so', async () => {
      await did('plugin', 'updated', 'seo/seo.php', '2026-10-10T08:00:00Z', ['1.9', '2.0']);
      const { data, meta } = await seen('plugins');
      expect(data.counts).toMatchObject({ updated: 1, installed: null });
      expect(meta.notes[0]).toBe(UNWATCHED);
      const half = await normal('uptime');
      expect(half.data.counts).toEqual({ incidents: 0 });
      expect(half.meta.notes).toContain('Not known before 2026-11-20: watched since then.');
    });
  });

  test('uptime is known by day for 400 days, and what is forgotten is not taken for none, nor for all', async () => {
    const { db } = app;
    const day = (date: string) => at(`${date}T00:00:00Z`) / (24 * HOUR);
    const sums = (date: string, up: number, down: number) =>
      db.run('INSERT INTO monitor_day VALUES (?, ?, ?, ?, 0, 2, 400, 100, 300)', [site, day(date), up, down]);
    const report = async (start: string, end: string) =>
      (await app.rest(`GET /pro-reports/${site}/uptime?start_date=${start}&end_date=${end}`)).body;
    const notes = async (start: string, end: string) => (await report(start, end)).meta.notes;
    // The current time is noon of November 20, and each day is summed until the one before.
    await db.run('UPDATE monitor_engine SET summed_day = ?', [day('2026-11-19')]);
    await sums('2025-10-25', 86_400, 0);
    await sums('2026-10-10', 43_200, 43_200);
    await sums('2026-10-11', 0, 0);
    expect(await notes('2025-09-01', '2025-09-30')).toEqual(['Not known: watched since 2025-10-25.']);
    const october = await report('2026-10-01', '2026-10-31');
    const tokens = october.data.other_tokens_data;
    expect(october.meta.notes).toEqual(['Days are in UTC.']);
    expect(tokens['[uptime.uptime60]']).toBe('50%');
    expect(tokens['[uptime.alltimeuptimeratio]']).toBe('75%');
    // The last 60 days of a report are known only if the site was watched then.
    await db.run('DELETE FROM monitor_day WHERE day = ?', [day('2025-10-25')]);
    const begun = await report('2026-10-01', '2026-10-31');
    expect(begun.meta.notes).toContain('Not known before 2026-10-10: watched since then.');
    expect(begun.data.other_tokens_data['[uptime.uptime60]']).toBe('');
    expect(begun.data.other_tokens_data['[uptime.uptime15]']).toBe('');
    const forgotten = 'Uptime statistics are kept for 400 days: measurements before 2025-10-16 are not included.';
    await sums('2025-10-16', 1, 0);
    expect(await notes('2026-11-01', '2026-11-20')).toEqual([forgotten, 'The monitor made no checks in the range.']);
    await DATA.uptime.seed();
    expect(await notes('2026-11-01', '2026-11-20')).toEqual([forgotten, 'Days are in UTC.']);
  });

  test('raw rows of plugins carry the tokens of the document', async () => {
    await DATA.plugins.seed();
    const { data } = (await get('plugins', '&action=updated,deactivated')).body;
    expect(data.sections_data).toEqual([
      [
        {
          '[plugin.name]': 'Beta Widget',
          '[plugin.slug]': '',
          '[plugin.deactivated.author]': 'ada',
          '[plugin.deactivated.date]': 'November 10, 2026',
          '[plugin.deactivated.time]': '7:00 am',
          '[plugin.deactivated.utime]': 1794294000,
        },
      ],
      [
        {
          '[plugin.name]': 'seo/seo.php',
          '[plugin.slug]': 'seo/seo.php',
          '[plugin.updated.author]': 'Sitefleet',
          '[plugin.old.version]': '1.9',
          '[plugin.current.version]': '2.0',
          '[plugin.updated.date]': 'November 10, 2026',
          '[plugin.updated.time]': '8:00 am',
          '[plugin.updated.utime]': 1794297600,
        },
      ],
    ]);
    expect(data.other_tokens_data).toEqual({ '[plugin.deactivated.count]': 1, '[plugin.updated.count]': 1 });
  });

  test('one event that both logs and our own history tell is one row', async () => {
    await did('plugin', 'activated', 'Shop', '2026-11-10T08:00:00Z');
    await change('plugin', 'activated', 'shop', '2026-11-10T08:00:20Z');
    await change('plugins', 'activated', 'Shop', '2026-11-10T08:00:21Z', { source: 'actions' });
    await change('plugin', 'activated', 'Shop', '2026-11-10T09:00:00Z');
    const { data } = await normal('plugins');
    expect(data.rows.map((row: { author: string; at: string }) => [row.author, row.at])).toEqual([
      ['ada', '2026-11-10T09:00:00Z'],
      ['Sitefleet', '2026-11-10T08:00:00Z'],
    ]);
    expect(data.counts.activated).toBe(2);
  });

  test('a promotion to administrator reads as one in every format', async () => {
    const { state } = app.fleet.site(0);
    const role = (changeusername: string, oldrole: string, newrole: string, seconds: number) =>
      logEntry(900 + seconds, {
        type: 1615,
        context: 'user',
        action: 'modified',
        user: 'ada',
        created: app.clock.now() / 1000 + seconds,
        meta: { changeusername, oldrole, newrole },
      });
    state.actions.clear();
    state.changeLog = [role('jane', 'Editor', 'Administrator', 1), role('tom', 'Author', 'Editor', 2)];
    app.clock.move(60_000);
    await app.call('sync-sites');
    const said = 'Promoted to administrator, from Editor to Administrator';
    const note = 'Promoted to administrator: jane by ada.';
    const { data, meta } = await normal('users');
    expect(data.rows).toMatchObject([
      { action: 'updated', name: 'tom', role: 'Editor', detail: 'Changed role of user, from Author to Editor' },
      { action: 'updated', name: 'jane', author: 'ada', role: 'Administrator', detail: said },
    ]);
    expect(data.counts).toEqual({ created: 0, updated: 2, deleted: 0 });
    expect(meta.notes[0]).toBe(note);
    const raw = (await get('users')).body;
    expect(raw.data.sections_data[1][1]).toMatchObject({ '[user.name]': 'jane', '[user.updated.detail]': said });
    expect(raw.meta.notes[0]).toBe(note);
    expect((await get('users', '&format=csv')).body).toContain(`updated,jane,ada,Administrator,"${said}",2026-11-20`);
    const page = (await get('users', '&format=html')).body;
    expect(page).toContain(`<td>${said}</td>`);
    expect(page).toContain(`<p class="note">${note}</p>`);
    const { reports } = await app.call('build-report', {
      site_id_or_domain: site,
      segments: ['users'],
      start_date: '2026-11-01',
      end_date: '2026-11-20',
    });
    expect(reports[0].text).toContain(`jane · ada · Administrator · "${said}"`);
    expect(reports[0].text).toContain(`Note: ${note}`);
    // Not for an action that was not requested.
    expect((await normal('users', '&action=deleted')).meta.notes.join()).not.toContain('Promoted');
  });

  test('words of the child that are not of the segment are left out', async () => {
    await change('user', 'logged-in', 'ada', '2026-11-10T08:00:00Z');
    expect((await normal('users')).total).toBe(0);
  });

  test('rows end at ten thousand, and the answer says so with true counts', async () => {
    await app.db.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10050)
       INSERT INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created)
       SELECT ?, 'logs', i, 'post', CASE WHEN i % 3 THEN 'updated' ELSE 'created' END, 'Post ' || i, 'ada', 1, ? + i FROM n`,
      [site, at('2026-11-10T00:00:00Z') / 1000],
    );
    const { data, meta, total } = await normal('posts');
    expect([total, data.rows.length, meta.truncated]).toEqual([10_000, 10_000, true]);
    expect(data.counts).toEqual({ created: 3350, updated: 6700, trashed: 0, deleted: 0, restored: 0 });
    expect(data.rows[0].title).toBe('Post 10050');
  });
});

describe('files', () => {
  test('a name that is a formula or markup stays text', async () => {
    await change('post', 'created', '=HYPERLINK("http://x";"y")', '2026-11-10T08:00:00Z');
    await change('post', 'created', '<script>alert(1)</script>, "quoted"', '2026-11-10T09:00:00Z');
    await change('post', 'created', 'Sale;=HYPERLINK(A1);now', '2026-11-10T10:00:00Z');
    const { body: sheet } = await get('posts', '&format=csv');
    expect(sheet).toContain(`"'=HYPERLINK(""http://x"";""y"")"`);
    expect(sheet).toContain(`"Sale;'=HYPERLINK(A1);now"`);
    expect(sheet).toContain('"<script>alert(1)</script>, ""quoted"""');
    const { body: page } = await get('posts', '&format=html');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).not.toContain('<script');
  });

  test('charts are drawn inside the page', async () => {
    await DATA.uptime.seed();
    const { body } = await get('uptime', '&format=html');
    expect(body.match(/<svg /g)).toHaveLength(1);
    expect(body).toContain('<title>2026-11-10: 87.5%</title>');
    expect((await get('uptime')).body.data.other_tokens_data['[uptime.chart]']).toMatch(/^<svg /);
  });

  test('several segments make one report; what nothing feeds is left out and named', async () => {
    for (const segment of ['plugins', 'uptime', 'perf-audit'] as const) await DATA[segment].seed();
    const page = await app.rest(`GET /pro-reports/${site}/report?${RANGE}`);
    expect(page.headers.get('content-disposition')).toBe(
      `inline; filename="site-${site}-report-2026-11-01-2026-11-20.html"`,
    );
    for (const heading of ['Website', 'Plugins', 'Uptime', 'Performance', 'Certificate'])
      expect(page.body).toContain(`<h2>${heading}</h2>`);
    const { body } = await app.rest(
      `GET /pro-reports/${site}/report?${RANGE}&format=json&segments=plugins,shop_status`,
    );
    expect(body).toMatchObject({
      success: 1,
      data: { plugins: { counts: { updated: 1 } } },
      errors: [{ segment: 'shop_status', code: 'svc_module_not_available' }],
    });
    const empty = await app.rest(`GET /pro-reports/${site}/report?${RANGE}&segments=shop_status`);
    expect([empty.status, empty.body.data.module]).toEqual([501, 'shop_status']);
  });
});

describe('records of other tools', () => {
  const post = (body: object) => app.rest(`POST /pro-reports/${site}/records`, { body });
  test.each([
    [{ segment: 'plugins', values: { name: 'x' } }, 'segment'],
    [{ segment: 'backups', values: {} }, 'values'],
    [{ segment: 'backups', values: { colour: 'red' } }, 'values.colour'],
    [{ segment: 'backups', values: { type: 7 } }, 'values.type'],
    [{ segment: 'backups', values: { type: 'full' }, action: 'painted' }, 'action'],
    [{ segment: 'shop_status', values: { sales: 'many' } }, 'values.sales'],
    [{ segment: 'shop_status', values: { sales: 1 }, action: 'sold' }, 'action'],
    [{ segment: 'analytics_a', values: { bounce_rate: 101 } }, 'values.bounce_rate'],
    [
      { segment: 'analytics_a', values: { visits_chart: [{ date: 'today', value: 1 }] } },
      'values.visits_chart[0].date',
    ],
    [{ segment: 'analytics_a', values: { visits_chart: 'up' } }, 'values.visits_chart'],
    [{ segment: 'security_plugin', values: { blocked_count: 1 } }, 'values.blocked_count'],
    [{ segment: 'backups', values: { type: 'full' }, at: 'yesterday' }, 'at'],
    [{ segment: 'backups', values: { type: 'full' }, at: '2030-01-01T00:00:00Z' }, 'at'],
  ])('%j is refused by name', async (body, name) => {
    const reply = await post(body);
    expect([reply.status, reply.body.code]).toEqual([400, 'rest_invalid_param']);
    expect(reply.body.data.params).toHaveProperty([name]);
  });

  test('out of range they are empty, not unavailable; forgotten, they are gone', async () => {
    await record('shop_status', { sales: 1 }, { at: '2026-10-01T00:00:00Z' });
    const { data, meta } = await normal('shop_status');
    expect([data.values.sales, meta.notes]).toEqual([null, ['Nothing was recorded in the range.']]);
    const gone = await app.rest(`DELETE /pro-reports/${site}/records/shop_status`);
    expect(gone.body.data).toEqual({ removed: 1 });
    expect((await get('shop_status')).status).toBe(501);
  });
});

test.each([
  ['F j, Y', 'March 5, 2026'],
  ['D, d M y', 'Thu, 05 Mar 26'],
  ['jS \\o\\f F', '5th of March'],
  ['g:i a', '12:07 am'],
  ['G:i:s A', '0:07:09 AM'],
  ['l N w t n', 'Thursday 4 4 31 3'],
])('a date as %s is %s', (format, text) => {
  expect(phpDate(format, { year: 2026, month: 3, day: 5, hour: 0, minute: 7, second: 9 })).toBe(text);
});

test('leads a browser without a login to the page, and from there on to the report; programs get the error', async () => {
  const path = '/pro-reports/1/report?start_date=2026-10-01&end_date=2026-10-31';
  const get = (accept: string, more: Record<string, string> = {}) =>
    app.http.request(`http://127.0.0.1/v2${path}`, { headers: { accept, ...more } });
  const reply = await get('text/html,application/xhtml+xml,*/*;q=0.8');
  expect(reply.status).toBe(303);
  expect(reply.headers.get('location')).toBe(`/login?to=${encodeURIComponent(`/v2${path}`)}`);
  expect((await get('application/json')).status).toBe(401);
  expect((await get('text/html', { authorization: 'Bearer wrong' })).status).toBe(401);
});
