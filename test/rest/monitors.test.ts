import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pruneMonitoring, runDueMonitors } from '../../src/domain/monitoring/due-monitors.js';
import { SYSTEM } from '../support/harness.js';
import { type RestApp, restApp } from './client.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let app: RestApp;
let ids: number[];
const run = () => runDueMonitors(app.ctx({ actor: SYSTEM }));

beforeAll(async () => {
  app = await restApp({ sites: 3 });
  ids = [await app.connect(0), await app.connect(1), await app.connect(2)];
});
beforeEach(() => {
  for (const index of [0, 1, 2]) {
    const { faults } = app.fleet.site(index);
    for (const name of Object.keys(faults)) Reflect.deleteProperty(faults, name);
  }
});

describe('settings that are refused', () => {
  it.each<[Record<string, unknown>, string]>([
    [{ active: 'maybe' }, 'must be 0 or 1 or "useglobal"'],
    [{ interval: '7x' }, 'must be minutes or a label (15m, 2h) or "useglobal"'],
    [{ interval: 7 }, 'must be 1, 5, 10, 15, 30, 45 or whole hours up to 24, in minutes'],
    [{ timeout: 'soon' }, 'must be seconds or a label (60s, 2min) or "useglobal"'],
    [{ maxretries: 'x' }, 'must be an integer or "useglobal"'],
    [{ expected_status: '200,abc' }, 'must be an HTTP status code'],
    [{ type: 'tcp' }, 'must be http, ping, keyword or "useglobal"'],
  ])('name the forms they take: %j', async (body, reason) => {
    const reply = await app.rest(`PUT /monitors/${ids[0]}/settings`, { body });
    expect([reply.status, Object.values(reply.body.data.params)]).toEqual([400, [reason]]);
  });

  it.each<[string, string, Record<string, unknown>, string]>([
    ['of the dashboard', 'PUT /settings/general/edit', { backup_before_upgrade: 3 }, 'must be 0 or 1'],
    ['of mails', 'PATCH /settings/emails/uptime/edit', { disable: 'maybe' }, 'must be 0 or 1'],
    ['of all monitors', 'PUT /monitors/settings', { interval: '7x' }, 'must be minutes or a label (15m, 2h)'],
  ])('also %s', async (_what, call, body, reason) => {
    const reply = await app.rest(call, { body });
    expect([reply.status, Object.values(reply.body.data.params)]).toEqual([400, [reason]]);
  });

  it('in a query, where every value is text, does not call text wrong', async () => {
    for (const [query, reason] of [
      ['per_page=7x', 'must be an integer'],
      ['include=7x', 'must be an id'],
    ]) {
      const reply = await app.rest(`GET /monitors?${query}`);
      expect([query, Object.values(reply.body.data.params)]).toEqual([query, [reason]]);
    }
    const sites = await app.rest('GET /sites?with_tags=maybe');
    expect(sites.body.data.params).toEqual({ with_tags: 'must be true or false' });
  });
});

describe('before anything was checked', () => {
  it('lists every site’s monitor, switched off', async () => {
    const { status, body } = await app.rest('GET /monitors');
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: 1, total: 3, page: 1, per_page: 20 });
    const row = body.data.find(({ id }: { id: number }) => id === ids[0]);
    expect(row).toMatchObject({
      id: ids[0],
      monitor_id: ids[0],
      url: app.fleet.site(0).url,
      type: 'http',
      last_status: 'unknown',
      check_frequency: '60m',
      last_check_at: null,
      last_status_code: null,
      uptime_ratio_24h: null,
      uptime_ratio_7d: null,
      uptime_ratio_30d: null,
      incidents_count_7d: 0,
      incidents_count_30d: 0,
      response_time_avg_ms: null,
      response_time_min_ms: null,
      response_time_max_ms: null,
    });
    expect(row.uptime_24h).toHaveLength(24);
    expect(row.uptime_24h.every(({ status }: { status: string }) => status === 'unknown')).toBe(true);
    expect((await app.rest(`GET /monitors/${ids[0]}`)).body.data.check_frequency).toBe('60m');
    expect((await app.rest('GET /monitors/count?status=paused')).body).toMatchObject({ count: 3, total: 3 });
    expect((await app.rest('GET /monitors/count?status=up,down')).body.count).toBe(0);
  });

  it.each(['include=', 'include[]=', 'include=,', 'exclude='])(
    'takes a blank list for no filter: %s',
    async (blank) => {
      for (const path of [
        '/monitors',
        '/monitors/basic',
        '/monitors/count',
        '/ssl-monitor/info',
        '/domain-monitor/profiles',
      ])
        expect([path, (await app.rest(`GET ${path}?${blank}`)).body.total]).toEqual([path, 3]);
    },
  );

  it('answers empty lists, not errors', async () => {
    const beats = await app.rest(`GET /monitors/${ids[0]}/heartbeat`);
    expect(beats.body).toMatchObject({ success: 1, data: [], meta: { page: 1, total: 0, total_pages: 0 } });
    expect((await app.rest(`GET /monitors/${ids[0]}/incidents`)).body).toMatchObject({
      success: 1,
      total: 0,
      data: [],
    });
    expect((await app.rest(`GET /monitors/${ids[0]}/incidents/count`)).body).toMatchObject({ success: 1, count: 0 });
  });

  it('knows no monitor of a site that is not there', async () => {
    for (const path of [
      '999',
      'nowhere.example',
      '999/basic',
      '999/heartbeat',
      '999/incidents',
      '999/incidents/count',
    ]) {
      const { status, body } = await app.rest(`GET /monitors/${path}`);
      expect([path, status, body.code]).toEqual([path, 404, 'svc_rest_monitor_not_found']);
    }
    expect((await app.rest('POST /monitors/999/check')).status).toBe(404);
  });
});

describe('settings', () => {
  it('of all monitors are those of the monitoring settings', async () => {
    const { status, body } = await app.rest('PUT /monitors/settings', {
      body: {
        active: true,
        interval: '5m',
        timeout: '30',
        maxretries: 1,
        method: 'get',
        expected_status: '200, 201,301',
      },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: 1, message: expect.any(String) });
    expect(body.data).toMatchObject({
      active: 1,
      interval: '5m',
      interval_minutes: 5,
      timeout: 30,
      timeout_label: '30s',
      maxretries: 1,
      type: 'http',
      method: 'get',
      expected_status: [200, 201, 301],
    });
    const group = await app.rest('GET /settings/monitoring');
    expect(group.body.data).toMatchObject({ svc_uptime_monitoring_active: 1, svc_uptime_monitoring_interval: 5 });
    await app.rest('PATCH /settings/monitoring/edit', { body: { svc_uptime_monitoring_interval: '15m' } });
    expect((await app.rest(`GET /monitors/${ids[0]}`)).body.data).toMatchObject({
      interval: '15m',
      interval_minutes: 15,
      active: 1,
      useglobal: expect.arrayContaining(['interval']),
    });
    await app.rest('PATCH /monitors/settings', { body: { interval: '5m', expected_status: null } });
  });

  it.each(['PUT', 'PATCH'])('of all monitors take what those of one take: %s', async (method) => {
    const same = {
      active: '1',
      interval: '2h',
      timeout: '90',
      maxretries: 2,
      type: 'keyword',
      method: 'put',
      expected_status: '200,301',
      keyword: 'shop',
    };
    const given = { ...same, active: 1, timeout: 90, expected_status: [200, 301] };
    for (const path of [`/monitors/${ids[2]}/settings`, '/monitors/settings'])
      expect((await app.rest(`${method} ${path}`, { body: same })).body.data).toMatchObject(given);
    const shown = await app.rest('GET /settings/monitoring');
    expect(shown.body.data.svc_uptime_monitoring_down_confirmation_check).toBe(2);
    const retries = async (value: unknown) =>
      (
        await app.rest(`${method} /settings/monitoring/edit`, {
          body: { svc_uptime_monitoring_down_confirmation_check: value },
        })
      ).body.data?.svc_uptime_monitoring_down_confirmation_check;
    expect([await retries(3), await retries('yes'), await retries(false), await retries(11)]).toEqual([
      3,
      1,
      0,
      undefined,
    ]);
    const back = Object.fromEntries(Object.keys(same).map((name) => [name, null]));
    expect((await app.rest(`${method} /monitors/settings`, { body: back })).body.data).toMatchObject({
      active: 0,
      interval: '1h',
      maxretries: 1,
      method: 'head',
    });
    await app.rest(`${method} /monitors/settings`, { body: { active: 1, interval: '5m', method: 'get' } });
    await app.rest(`${method} /monitors/${ids[2]}/settings`, { body: back });
  });

  it('of all monitors lose the keyword together with the type that needs it', async () => {
    const edit = (body: object) => app.rest('PATCH /monitors/settings', { body });
    expect((await edit({ type: 'keyword', keyword: 'shop' })).body.data).toMatchObject({ type: 'keyword' });
    expect((await edit({ keyword: null })).body.data.params).toHaveProperty('keyword');
    expect((await edit({ type: null, keyword: null })).body.data).toMatchObject({ type: 'http', keyword: '' });
  });

  it('of one monitor go before them, and follow them again', async () => {
    const path = `/monitors/${ids[1]}/settings`;
    const own = await app.rest(`PUT ${path}`, {
      body: { interval: '2h', timeout: '90', type: 'keyword', keyword: 'WordPress', method: 'head', maxretries: 3 },
    });
    expect(own.body.data).toMatchObject({
      interval: '2h',
      timeout: 90,
      type: 'keyword',
      method: 'get',
      keyword: 'WordPress',
      useglobal: ['active', 'expected_status'],
    });
    const partly = await app.rest(`PATCH ${path}`, { body: { interval: 'useglobal', maxretries: -1, active: '0' } });
    expect(partly.body.data).toMatchObject({ interval: '5m', maxretries: 1, active: 0, type: 'keyword' });
    const none = await app.rest(`PATCH ${path}`, {
      body: {
        active: 'useglobal',
        timeout: null,
        type: 'useglobal',
        method: 'useglobal',
        expected_status: ['useglobal'],
        keyword: '',
      },
    });
    expect(none.body.data.useglobal).toHaveLength(8);
  });

  it.each([
    [{}, 'empty_body', undefined],
    [{ interval: '7m' }, 'rest_invalid_param', 'interval'],
    [{ interval: '25h' }, 'rest_invalid_param', 'interval'],
    [{ timeout: 'soon' }, 'rest_invalid_param', 'timeout'],
    [{ timeout: 5401 }, 'rest_invalid_param', 'timeout'],
    [{ active: 'maybe' }, 'rest_invalid_param', 'active'],
    [{ maxretries: 11 }, 'rest_invalid_param', 'maxretries'],
    [{ type: 'dns' }, 'rest_invalid_param', 'type'],
    [{ method: 'trace' }, 'rest_invalid_param', 'method'],
    [{ expected_status: '200,999' }, 'rest_invalid_param', 'expected_status'],
    [{ type: 'keyword' }, 'rest_invalid_param', 'keyword'],
    [{ colour: 'red' }, 'rest_invalid_param', 'colour'],
  ])('refuses %j', async (body, code, field) => {
    for (const path of [`/monitors/${ids[0]}/settings`, '/monitors/settings']) {
      const { status, body: answer } = await app.rest(`PUT ${path}`, { body });
      expect([status, answer.code]).toEqual([400, code]);
      if (field !== undefined) expect(Object.keys(answer.data.params).join()).toContain(field);
    }
  });

  it('names what is wrong by the codes of the routes document', async () => {
    for (const path of ['/monitors/settings', `/monitors/${ids[0]}/settings`]) {
      const { status, body } = await app.rest(`PUT ${path}`, {
        body: { active: 'maybe', timeout: '11min', expected_status: '200,299', interval: '7m' },
      });
      expect([status, body.code]).toEqual([400, 'rest_invalid_param']);
      expect(body.data.details).toMatchObject({
        active: { code: 'invalid_active' },
        timeout: { code: 'invalid_timeout' },
        'expected_status[1]': { code: 'invalid_status_code' },
        interval: { code: 'rest_invalid_param' },
      });
    }
  });

  it('refuses useglobal where there is nothing to follow', async () => {
    expect((await app.rest('PUT /monitors/settings', { body: { interval: 'useglobal' } })).status).toBe(400);
  });

  it('needs a key that may write', async () => {
    const { status } = await app.rest('PUT /monitors/settings', { body: { active: 0 }, token: app.tokens.read });
    expect(status).toBe(403);
  });
});

describe('a check by hand', () => {
  it('answers what it saw, and leaves a beat', async () => {
    const { status, body } = await app.rest(`POST /monitors/${ids[0]}/check`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      http_code: 200,
      uptime_status: 'up',
      status: 'up',
      checked_at: expect.any(String),
    });
    expect(body.data.response_time_ms).toBeGreaterThan(0);
    const beats = await app.rest(`GET /monitors/${ids[0]}/heartbeat`);
    expect(beats.body.data[0]).toMatchObject({
      monitor_id: ids[0],
      status: 1,
      status_label: 'up',
      importance: 0,
      msg: '',
      http_code: 200,
      time: body.data.checked_at,
    });
  });

  it('of a site that is down is a result', async () => {
    app.fleet.site(0).faults.http500 = true;
    const { status, body } = await app.rest(`POST /monitors/${ids[0]}/check`);
    expect(status).toBe(200);
    expect(body.success).toBe(1);
    // The first failure: the next check decides whether the site is down.
    expect(body.data).toMatchObject({ http_code: 500, uptime_status: 'down', status: 'pending' });
    app.fleet.site(0).faults.http500 = false;
    app.fleet.site(0).faults.offline = true;
    expect((await app.rest(`POST /monitors/${ids[0]}/check`)).body.data).toMatchObject({
      http_code: 0,
      uptime_status: 'down',
      status: 'down',
      msg: expect.stringContaining('closed the connection'),
    });
    app.fleet.site(0).faults.offline = false;
    expect((await app.rest(`POST /monitors/${ids[0]}/check`)).body.data).toMatchObject({ status: 'up' });
  });

  it('of a site in maintenance calls it neither up nor down, in whatever language', async () => {
    const site = app.fleet.site(0);
    site.state.language = 'de_DE';
    site.faults.maintenance = true;
    const { body } = await app.rest(`POST /monitors/${ids[0]}/check`);
    expect(body).toMatchObject({
      message: 'The site is in maintenance.',
      data: { http_code: 503, uptime_status: 'pending', status: 'pending' },
    });
    for (const ms of Object.values(body.data.timing)) expect(ms === null || Number.isInteger(ms)).toBe(true);
    site.faults.maintenance = false;
  });

  it('of a monitor that is off sends no alert', async () => {
    await app.rest(`PUT /monitors/${ids[2]}/settings`, { body: { active: '0' } });
    await run();
    app.fleet.site(2).faults.http500 = true;
    for (let i = 0; i < 3; i++) await app.rest(`POST /monitors/${ids[2]}/check`);
    expect((await app.rest(`GET /monitors/${ids[2]}/incidents/count`)).body.count).toBe(0);
    expect((await app.rest(`GET /monitors/${ids[2]}`)).body.data).toMatchObject({
      last_status: 'pending',
      last_status_code: 500,
      next_check_at: null,
    });
    await app.rest(`PUT /monitors/${ids[2]}/settings`, { body: { active: 'useglobal' } });
  });
});

describe('an outage', () => {
  it('shows in the list, the beats, the incidents, the figures and the alerts', async () => {
    await run();
    app.clock.move(2 * HOUR);
    await run();
    app.fleet.site(1).faults.http500 = true;
    app.clock.move(5 * MINUTE);
    await run();
    app.clock.move(MINUTE);
    await run();
    const started = app.clock.now();
    expect((await app.rest('GET /monitors?status=down')).body).toMatchObject({
      total: 1,
      data: [{ id: ids[1], last_status: 'down', last_status_code: 500 }],
    });
    const open = await app.rest(`GET /monitors/${ids[1]}/incidents`);
    expect(open.body.data).toMatchObject([
      { status: 'down', ended_at: null, resolved: false, duration_sec: 0, down_count: 1, http_code: 500 },
    ]);
    expect(open.body.data[0].started_at).toBe(new Date(started).toISOString().slice(0, 19).replace('T', ' '));
    for (let i = 0; i < 12; i++) {
      app.clock.move(5 * MINUTE);
      await run();
    }
    app.fleet.site(1).faults.http500 = false;
    app.clock.move(5 * MINUTE);
    await run();
    const { body } = await app.rest(`GET /monitors/${ids[1]}/incidents`);
    expect(body).toMatchObject({ total: 1, data: [{ resolved: true, down_count: 13, duration_sec: 65 * 60 }] });
    const { data } = (await app.rest(`GET /monitors/${ids[1]}`)).body;
    expect(data).toMatchObject({ last_status: 'up', incidents_count_7d: 1, incidents_count_30d: 1 });
    expect(data.uptime_ratio_24h).toBeGreaterThan(0);
    expect(data.uptime_ratio_24h).toBeLessThan(100);
    expect(data.uptime_ratio_7d).toBe(data.uptime_ratio_24h);
    expect(data.uptime_24h.map(({ status }: { status: string }) => status)).toContain('down');
    expect(data.heartbeats.length).toBeGreaterThan(14);
    const both = await app.rest('GET /monitors');
    expect(both.body.data.find(({ id }: { id: number }) => id === ids[1]).uptime_ratio_24h).toBe(data.uptime_ratio_24h);
    const alerts = await app.rest(`GET /alerts?include=${ids[1]}`);
    expect(alerts.body.data.map(({ kind }: { kind: string }) => kind)).toEqual(['monitor.up', 'monitor.down']);
  });

  it('pages beats without gap or repeat, by words and codes of their state', async () => {
    const all = (await app.rest(`GET /monitors/${ids[1]}/heartbeat?limit=0`)).body;
    const paged: number[] = [];
    for (let page = 1; page <= Math.ceil(all.meta.total / 4); page++) {
      const { body } = await app.rest(`GET /monitors/${ids[1]}/heartbeat?limit=4&page=${page}`);
      paged.push(...body.data.map((beat: { heartbeat_id: number }) => beat.heartbeat_id));
    }
    expect(paged).toEqual(all.data.map((beat: { heartbeat_id: number }) => beat.heartbeat_id));
    const down = (await app.rest(`GET /monitors/${ids[1]}/heartbeat?status=down`)).body;
    expect(down.meta.total).toBe(13);
    expect((await app.rest(`GET /monitors/${ids[1]}/heartbeat?status=0`)).body).toEqual(down);
    const important = all.data.filter(({ importance }: { importance: number }) => importance === 1);
    expect(important.map((beat: { status_label: string }) => beat.status_label)).toEqual(['up', 'down']);
  });

  it('takes periods', async () => {
    const total = async (query: string) => {
      const { body } = await app.rest(`GET /monitors/${ids[1]}/heartbeat?${query}`);
      return body.meta?.total ?? body.code;
    };
    const all = await total('period=24h');
    const since = encodeURIComponent(new Date(app.clock.now() - 10 * MINUTE).toISOString());
    expect(await total(`since=${since}`)).toBe(3);
    expect(await total('period=2020-01-01/2020-01-02')).toBe(0);
    expect(await total(`period=2026-01-01T00:00:00Z/2027-01-01T00:00:00Z`)).toBe(all);
    for (const wrong of [
      'period=week',
      'period=2026-02-01/2026-01-01',
      'period=a/b/c',
      'since=yesterday',
      'period=2026-02-31/2026-04-01',
      'period=2026-01-01/2026-02-29',
      'since=2026-11-31T00:00:00Z',
    ])
      expect([wrong, await total(wrong)]).toEqual([wrong, 'invalid_period']);
    expect((await app.rest(`GET /monitors/${ids[1]}/incidents/count?period=24h`)).body.count).toBe(1);
    expect((await app.rest(`GET /monitors/${ids[1]}/incidents/count?period=2020-01-01/2020-01-02`)).body.count).toBe(0);
  });
});

describe('lists', () => {
  it('filter and page with the true total', async () => {
    const basic = await app.rest(`GET /monitors/basic?include=${ids.join()}&exclude=${ids[0]}&per_page=1&page=2`);
    expect(basic.body).toMatchObject({ total: 2, page: 2, per_page: 1 });
    expect(Object.keys(basic.body.data[0]).sort()).toEqual(['id', 'last_status', 'url']);
    expect(basic.headers.get('x-total')).toBe('2');
    expect((await app.rest(`GET /monitors/count?search=${encodeURIComponent('no such site')}`)).body.count).toBe(0);
    expect((await app.rest('GET /monitors?status=sleeping')).status).toBe(400);
    expect((await app.rest('GET /monitors?per_page=201')).status).toBe(400);
    expect((await app.rest(`GET /monitors/${ids[0]}/basic`)).body.data).toMatchObject({ id: ids[0] });
  });
});

describe('maintenance', () => {
  const site = () => ids[2] ?? 0;
  const incidents = async () => (await app.rest(`GET /monitors/${site()}/incidents`)).body.total;
  const checked = async () => (await app.rest(`GET /monitors/${site()}`)).body.data.last_check_at;

  it('lets a site be down without a check, an incident or an alert, and checks go on by themselves', async () => {
    await app.rest(`PUT /monitors/${site()}/settings`, { body: { active: 1, interval: 5, maxretries: 0 } });
    await run();
    app.clock.move(10 * MINUTE);
    await run();
    const before = await checked();
    const set = await app.rest(`POST /monitors/${site()}/maintenance`, { body: { minutes: 60 } });
    expect(set.status).toBe(200);
    const until = new Date(app.clock.now() + HOUR).toISOString().replace('.000Z', 'Z');
    expect(set.body.data).toEqual({ id: site(), maintenance_until: until });
    app.fleet.site(2).faults.http500 = true;
    // A change of the settings plans it again, and does not end it.
    await app.rest(`PUT /monitors/${site()}/settings`, { body: { interval: 1 } });
    for (let times = 0; times < 5; times++) {
      app.clock.move(10 * MINUTE);
      await run();
    }
    expect([await checked(), await incidents()]).toEqual([before, 0]);
    const byHand = await app.rest(`POST /monitors/${site()}/check`);
    expect(byHand.body.data.http_code).toBe(500);
    expect(await incidents()).toBe(0);
    expect((await app.rest('GET /monitors?orderby=name')).body.data).toContainEqual(
      expect.objectContaining({ id: site(), maintenance_until: until }),
    );
    app.clock.move(12 * MINUTE);
    await run();
    expect(await incidents()).toBe(1);
    expect((await app.rest(`GET /monitors/${site()}`)).body.data.maintenance_until).toBeNull();
  });

  it('ends when it is told to, is refused without its length, and needs a key that may write', async () => {
    const path = `POST /monitors/${site()}/maintenance`;
    await app.rest(path, { body: { minutes: 600 } });
    const ended = await app.rest(path, { body: { minutes: 0 } });
    expect(ended.body.data.maintenance_until).toBeNull();
    app.fleet.site(2).faults.http500 = false;
    app.clock.move(10 * MINUTE);
    await run();
    expect((await app.rest(`GET /monitors/${site()}`)).body.data.last_status).toBe('up');
    expect((await app.rest(path, { body: { hours: 1 } })).body.code).toMatch(/rest_(invalid|missing)/);
    expect((await app.rest(path, { body: { minutes: 20_161 } })).status).toBe(400);
    expect((await app.rest(path, { body: { minutes: 1 }, token: app.tokens.read })).status).toBe(403);
  });
});

describe('GET /monitors by uptime', () => {
  it('has the same order whether the days are summed or not, to the hour', async () => {
    const { db } = app;
    const hour = Math.floor(app.clock.now() / HOUR);
    await db.run('DELETE FROM monitor_hour');
    const measured = (site: number, ago: number, down: number) =>
      db.run('INSERT INTO monitor_hour VALUES (?, ?, ?, ?, 0, 0, 0, NULL, NULL)', [
        ids[site] ?? 0,
        hour - ago,
        3600 - down,
        down,
      ]);
    // Of each the share of the last 720 hours: 1,800 of 7,200 s down; 0 of 3,600, for what is 720 hours ago no longer counts;
    // 900 of 7,200.
    for (const [site, ago, down] of [
      [0, 0, 0],
      [0, 400, 1800],
      [1, 300, 0],
      [1, 720, 3600],
      [2, 719, 900],
      [2, 30, 0],
    ] as const)
      await measured(site, ago, down);
    const order = async () =>
      (await app.rest('GET /monitors?orderby=uptime_30d')).body.data.map(({ id }: { id: number }) => ids.indexOf(id));
    expect(await order()).toEqual([0, 2, 1]);
    await pruneMonitoring(app.ctx({ actor: SYSTEM }));
    expect(await db.all('SELECT count(*) AS n FROM monitor_day')).toEqual([{ n: 5 }]);
    expect(await order()).toEqual([0, 2, 1]);
    // The days are what is read: a site that was down on one of them comes first.
    await db.run('UPDATE monitor_day SET up_s = 0, down_s = 36000 WHERE site_id = ? AND day = ?', [
      ids[1] ?? 0,
      Math.floor((hour - 300) / 24),
    ]);
    expect(await order()).toEqual([1, 0, 2]);
  });

  it('by the hours in which they were down in the last day: the longest first, those not looked at last', async () => {
    const { db } = app;
    const now = app.clock.now();
    const hour = Math.floor(now / HOUR);
    await db.run('DELETE FROM monitor_hour');
    await db.run('UPDATE monitor SET status = 1, last_check_at = ?', [now - MINUTE]);
    for (const [site, ago, down] of [
      [0, 3, 60],
      [1, 2, 3600],
      [1, 23, 1],
      // Over a day ago.
      [0, 24, 3600],
      [0, 25, 3600],
    ] as const)
      await db.run('INSERT INTO monitor_hour VALUES (?, ?, ?, ?, 0, 0, 0, NULL, NULL)', [
        ids[site] ?? 0,
        hour - ago,
        3600 - down,
        down,
      ]);
    const order = async (query = '') => {
      const { body } = await app.rest(`GET /monitors?orderby=downtime_24h&order=desc&per_page=2${query}`);
      expect(body.total).toBe(3);
      return body.data.map(({ id }: { id: number }) => ids.indexOf(id));
    };
    expect(await order()).toEqual([1, 0]);
    expect(await order('&page=2')).toEqual([2]);
    // One that is down at the moment, and was for two hours of the day, comes before one that was for two.
    await db.run('UPDATE monitor SET status = 0 WHERE site_id = ?', [ids[2] ?? 0]);
    for (const ago of [0, 1])
      await db.run('INSERT INTO monitor_hour VALUES (?, ?, 0, 3600, 0, 0, 0, NULL, NULL)', [ids[2] ?? 0, hour - ago]);
    expect(await order()).toEqual([2, 1]);
    await db.run('UPDATE monitor SET last_check_at = ? WHERE site_id = ?', [now - 24 * HOUR - 1, ids[2] ?? 0]);
    expect(await order()).toEqual([1, 0]);
    expect(await order('&page=2')).toEqual([2]);
  });
});
