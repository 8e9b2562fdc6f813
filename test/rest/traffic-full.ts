/** Calls for the rows with the largest answers: once with everything they can contain, once with nothing. */

import { SEGMENT_NAMES, SEGMENTS } from '../../schemas/report.js';
import { RECORD_SEGMENTS } from '../../src/domain/reports/record-segments.js';
import { bareSite } from '../support/bare-site.js';
import { START } from '../support/harness.js';
import type { RestApp } from './client.js';
import type { recorder } from './traffic.js';

type Recorder = ReturnType<typeof recorder>;

const RANGE = '?start_date=2026-11-01&end_date=2026-11-20';
/** A range without any data. */
const BEFORE = '?start_date=2020-01-01&end_date=2020-01-02';
const DAY = 86_400_000;
const HOUR = 3_600_000;
/** Within the range. */
const THEN = START - 5 * DAY;

/** Adds a site that was never synced and has no data. */
async function addBlank(app: RestApp): Promise<number> {
  const url = 'https://blank.example.com/';
  const id = await app.service.store.sites.add(bareSite(url, { name: 'Blank' }), START, () => []);
  if (id === undefined) throw new Error('the site is there');
  return id;
}

const CONTEXTS: Readonly<Record<string, string>> = {
  plugins: 'plugins',
  themes: 'themes',
  posts: 'post',
  pages: 'page',
  users: 'user',
  comments: 'comment',
  menus: 'nav-menu',
  media: 'attachment',
};

/** Stores every action of every activity once, and pending and abandoned items. */
async function fillActivities(app: RestApp, site: number): Promise<void> {
  let seq = 0;
  for (const [segment, context] of Object.entries(CONTEXTS))
    for (const action of SEGMENTS[segment as 'plugins'])
      await app.db.run(
        `INSERT INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created)
         VALUES (?, 'logs', ?, ?, ?, 'Something', 'ada', 1, ?)`,
        [site, `full${++seq}`, context, action, THEN / 1000 + seq],
      );
  await app.service.store.actionLog.add([
    { site_id: site, context: 'core', action: 'updated', slug: 'core', old_version: '1', new_version: '2', at: THEN },
  ]);
  await app.db.run('DELETE FROM site_update WHERE site_id = ?', [site]);
  for (const type of [0, 1, 2, 3])
    await app.db.run(
      `INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, url_key)
       SELECT id, ?, 'a', 0, 'A', '1.0', '2.0', url_key FROM site WHERE id = ?`,
      [type, site],
    );
  await app.db.run('DELETE FROM site_abandoned WHERE site_id = ?', [site]);
  for (const kind of [0, 1])
    await app.db.run(
      `INSERT INTO site_abandoned (site_id, kind, slug, name, version, last_updated, url_key)
       SELECT id, ?, 'old', 'Old', '0.9', ?, url_key FROM site WHERE id = ?`,
      [kind, Date.UTC(2019, 2, 4) / 1000, site],
    );
}

const SAMPLES = {
  text: 'text',
  number: 7.5,
  percent: 99.5,
  date: '2026-11-09',
  list: [{ name: 'Form', count: 1, fixed_in: null }, {}],
  chart: [{ date: '2026-11-09', value: 50 }],
} as const;

/** For each tool a record with every member on one site, and one with a single member on the other. */
async function fillRecords({ send }: Recorder, full: number, blank: number): Promise<void> {
  const path = '/pro-reports/{id_or_domain}/records';
  const at = new Date(THEN).toISOString();
  for (const [segment, { row, figures, sums }] of Object.entries(RECORD_SEGMENTS)) {
    const members = row.length > 0 ? row : figures.filter(({ key }) => !(key in sums));
    const all = members.map(({ key, kind }) => [key, SAMPLES[kind]] as const);
    await send('POST', path, { id_or_domain: full }, { segment, at, values: Object.fromEntries(all) });
    for (const one of [all[0], all.at(-1)])
      if (one !== undefined)
        await send('POST', path, { id_or_domain: blank }, { segment, at, values: Object.fromEntries([one]) });
  }
}

async function fillMeasured(app: RestApp, full: number, blank: number): Promise<void> {
  const hour = Math.floor(THEN / HOUR);
  await app.db.run('INSERT INTO monitor_hour VALUES (?, ?, 2700, 900, 0, 2, 400, 150, 250)', [full, hour]);
  await app.db.run('INSERT INTO monitor_hour VALUES (?, ?, 0, 0, 3600, 0, 0, NULL, NULL)', [full, hour + 30]);
  for (const ended of [THEN + HOUR, null])
    await app.db.run(
      "INSERT INTO incident (site_id, started_at, ended_at, http_code, msg, down_count) VALUES (?, ?, ?, 503, 'HTTP 503', 3)",
      [full, ended === null ? THEN + 2 * HOUR : THEN, ended],
    );
  await app.db.run('UPDATE monitor SET status = 1 WHERE site_id = ?', [full]);
  await app.db.run(
    `INSERT OR REPLACE INTO site_certificate (site_id, status, good, issuer_o, subject_cn, valid_from, valid_to, last_check)
     VALUES (?, 'valid', 1, 'Example CA', 'shop.example', ?, ?, ?)`,
    [full, THEN, THEN + 90 * DAY, THEN],
  );
  await app.db.run('DELETE FROM site_certificate WHERE site_id = ?', [blank]);
  await app.db.run(
    `INSERT INTO domain (name, registrar, creation_date, updated_date, expiry_date, source, last_check)
     VALUES ('shop.example', 'Example Registrar', ?, ?, ?, 'rdap', ?)`,
    [THEN - 900 * DAY, THEN, THEN + 90 * DAY, THEN],
  );
  await app.db.run("INSERT OR REPLACE INTO site_domain (site_id, domain) VALUES (?, 'shop.example')", [full]);
}

const FINDING = { id: 'a', title: 'Alt', description: 'Text.', score: 0.5, display_value: '2', group: 'seo' };
const FIGURES = ['first_contentful_paint', 'largest_contentful_paint', 'speed_index', 'total_blocking_time'];

function labData(score: number | null) {
  const ms = [...FIGURES, 'time_to_interactive'].map((name) => [name, { value: 10, unit: 'ms', score, display: '1' }]);
  return { ...Object.fromEntries(ms), cumulative_layout_shift: { value: 0.1, unit: '', score, display: '0.1' } };
}

/**
 * Results with everything and with hardly anything; the newest audit of one site failed, another has only one strategy.
 */
async function fillAudits(app: RestApp, full: number, other: number, single: number): Promise<void> {
  const add = (site: number, strategy: string, at: number, values: (string | number | null)[]) =>
    app.db.run(
      `INSERT INTO audit (site_id, strategy, status, requested_at, finished_at, engine, performance, seo, accessibility, best_practices,
         response_code, lab_data, others_data) VALUES (?, ?, 'completed', ?, ?, 'lighthouse', ?, ?, ?, ?, ?, ?, ?)`,
      [site, strategy, at, at, ...values],
    );
  const good = (score: number | null) => [
    50,
    60,
    70,
    80,
    200,
    JSON.stringify(labData(score)),
    JSON.stringify([FINDING]),
  ];
  await add(full, 'desktop', THEN, good(0.5));
  await add(full, 'mobile', THEN, good(null));
  await add(full, 'mobile', THEN + DAY, [null, 60, null, null, null, '{}', '[]']);
  await add(other, 'mobile', THEN, [null, null, 70, null, null, '{}', '[]']);
  await add(other, 'desktop', THEN, good(null));
  await add(single, 'mobile', THEN, good(0.5));
  await app.db.run(
    "INSERT INTO audit (site_id, strategy, status, requested_at, finished_at, error) VALUES (?, 'mobile', 'failed', ?, ?, 'No answer.')",
    [other, THEN + DAY, THEN + DAY],
  );
}

/** Site 1 has everything, site 2 a little, the third nothing. */
export async function fullAndEmpty(recording: Recorder, app: RestApp) {
  const { get, each, send } = recording;
  await get('/perf-audit/results');
  await get('/time-tracker');
  const blank = await addBlank(app);
  const client = await app.call('add-client', { name: 'Ada', client_email: 'ada@example.com', selected_sites: [1] });
  // An alert that belongs to no site, as a summary of all.
  const facts = JSON.stringify({ vulnerabilities: 1, sites: 2 });
  await app.db.run(
    "INSERT INTO alert (key, kind, site_id, at, facts) VALUES ('summary', 'vulnerability.summary', NULL, ?, ?)",
    [THEN, facts],
  );
  await get('/alerts');
  await fillActivities(app, 1);
  await fillRecords(recording, 1, blank);
  await fillMeasured(app, 1, blank);
  await fillAudits(app, 1, 2, blank);
  for (const id_or_domain of [1, 2, blank]) {
    for (const segment of SEGMENT_NAMES) {
      const path = `/pro-reports/{id_or_domain}/${segment}`;
      const actions: readonly string[] = SEGMENTS[segment];
      for (const format of ['raw', 'normal']) {
        await get(path, { id_or_domain }, `${RANGE}&format=${format}`);
        await get(path, { id_or_domain }, `${BEFORE}&format=${format}`);
        for (const action of actions.length > 1 ? [actions[0], actions.at(-1)] : [])
          await get(path, { id_or_domain }, `${RANGE}&format=${format}&action=${action}`);
      }
    }
    for (const range of [RANGE, BEFORE]) {
      const query = `${range}&format=json&segments=${SEGMENT_NAMES.join(',')}`;
      await get('/pro-reports/{id_or_domain}/report', { id_or_domain }, query);
    }
    await get('/pro-reports/{id_or_domain}/report', { id_or_domain }, `${RANGE}&format=json&segments=misc`);
    for (const strategy of ['both', 'desktop'])
      await get('/perf-audit/results/{id_or_domain}', { id_or_domain }, `?strategy=${strategy}`);
  }
  await get('/perf-audit/results');
  await get('/perf-audit/results', {}, '?strategy=desktop');
  await time(recording, app, client.id ?? client.client_id, blank);
  await standings(recording, app, blank);
  await each('PUT', '/perf-audit/settings/edit', {}, { api_key: 'AIza-secret-key-0123456789' });
  await get('/perf-audit/settings');
  // No site is left.
  await send('POST', '/perf-audit/audit', {}, { exclude: Array.from({ length: 100 }, (_, index) => index + 1) });
}

/** Everything that an answer can say of its site beside the status. */
async function standings({ get }: Recorder, app: RestApp, site: number): Promise<void> {
  for (const [suspended, unreached, since, reachable, http] of [
    [1, 0, null, null, null],
    [1, 1, THEN, 0, 500],
    [0, 1, null, null, null],
  ] as const) {
    await app.db.run('UPDATE site SET suspended = ?, unreached = ? WHERE id = ?', [suspended, unreached, site]);
    await app.db.run(
      'UPDATE site_detail SET status_since = ?, reachable = ?, http_status = ?, checked_at = ? WHERE site_id = ?',
      [since, reachable, http, unreached === 0 ? null : THEN, site],
    );
    await get('/perf-audit/results/{id_or_domain}', { id_or_domain: site });
  }
}

async function time({ get, each, send }: Recorder, app: RestApp, client: number, blank: number): Promise<void> {
  await get('/time-tracker/buckets');
  await get('/time-tracker/clients');
  const bucketOf = async (body: object) =>
    (await each('POST', '/time-tracker/buckets/add', {}, body)).body.data.id as number;
  const care = await bucketOf({ title: 'Care', hours: '5', client_ids: [client], recurrence: 'monthly' });
  await bucketOf({ title: 'All', hours: '0.5' });
  const taskOf = async (body: object) =>
    (await each('POST', '/time-tracker/tasks/add', {}, body)).body.data.id as number;
  const idle = await taskOf({ title: 'Idle' });
  const counted = await taskOf({
    title: 'Down',
    site_ids: [1],
    bucket_id: care,
    timer_mode: 'count_down',
    start: true,
  });
  const logged = await taskOf({ title: 'Logged', client_id: client, duration_seconds: 3600, hourly_price: '90' });
  app.clock.move(HOUR);
  for (const task_id of [idle, counted, logged]) await get('/time-tracker/tasks/{task_id}', { task_id });
  await send('POST', '/time-tracker/tasks/{task_id}/stop', { task_id: counted });
  await get('/time-tracker');
  await get('/time-tracker/clients');
  await get('/time-tracker/clients', {}, '?search=nobody');
  for (const part of ['', '/settings', '/tasks', '/buckets'])
    await get(`/time-tracker/clients/{id_or_email}${part}`, { id_or_email: client });
  await get('/time-tracker/sites/{id_or_domain}/tasks', { id_or_domain: 1 });
  await get('/time-tracker/sites/{id_or_domain}/tasks', { id_or_domain: blank });
  for (const bucket_id of [care, care + 1]) await get('/time-tracker/buckets/{bucket_id}', { bucket_id });
  await get('/time-tracker/buckets');
}
