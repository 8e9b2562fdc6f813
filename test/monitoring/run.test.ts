import { describe, expect, it } from 'vitest';
import { classify } from '../../src/domain/monitoring/classify.js';
import { pruneMonitoring, runDueMonitors } from '../../src/domain/monitoring/due-monitors.js';
import { checkMonitor } from '../../src/domain/monitoring/edit.js';
import { effectiveSettings, type MonitorSettings, nextTurn } from '../../src/domain/monitoring/settings.js';
import type { HttpAnswer, HttpProbe } from '../../src/outbound/probe/probe.js';
import { bareSite } from '../support/bare-site.js';
import { answers, type MonitoringApp, maintenancePage, monitoringApp, silence } from './monitoring-app.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const SETTINGS: MonitorSettings = {
  active: true,
  interval: 5,
  timeout: 60,
  maxretries: 1,
  type: 'http',
  method: 'get',
  expected_status: [200, 201],
  keyword: '',
};

/** As sent by WordPress 6.8 in German, without its styles. */
const WARTUNG = `<!DOCTYPE html>
<html lang="de">
<head><title>Wartung</title></head>
<body id="error-page">
\t<div class="wp-die-message">Wegen Wartungsarbeiten ist diese Website kurzzeitig nicht verfügbar.</div></body>
</html>`;

describe('the verdict on one answer', () => {
  it.each<[string, HttpAnswer, Partial<MonitorSettings>, string]>([
    ['an expected code', answers(200), {}, 'up'],
    ['an expected code above 400', answers(503), { expected_status: [503] }, 'up'],
    ['a fine code outside the list', answers(204), {}, 'failing'],
    ['a redirect that was not followed', answers(301), {}, 'failing'],
    ['an error', answers(500), {}, 'failing'],
    ['too many requests', answers(429), {}, 'failing'],
    ['a gateway that gave up', answers(504), {}, 'failing'],
    ['silence', silence(), {}, 'failing'],
    ['maintenance, whatever the code', maintenancePage(), {}, 'maintenance'],
    ['maintenance in another language', answers(503, { retry_after: '600', body: WARTUNG }), {}, 'maintenance'],
    ['another page of wp_die()', answers(503, { body: WARTUNG }), {}, 'failing'],
    [
      'an overloaded server',
      answers(503, { retry_after: '600', body: '<html><body>503</body></html>' }),
      {},
      'failing',
    ],
    ['a 503 without a page', answers(503, { retry_after: '600' }), {}, 'failing'],
    [
      'an article about it',
      answers(200, { body: `${'A long story. '.repeat(1000)}${maintenancePage().body}` }),
      {},
      'up',
    ],
    ['maintenance with a fine code', answers(200, { body: maintenancePage().body.toUpperCase() }), {}, 'maintenance'],
    [
      'its page with a fine code',
      answers(200, { body: `<html><body id="error-page">${maintenancePage().body}</body></html>` }),
      {},
      'maintenance',
    ],
    [
      'a comment on a short page',
      answers(200, { body: `<html><body>${maintenancePage().body}</body></html>` }),
      {},
      'up',
    ],
    [
      'the keyword in another case',
      answers(200, { body: 'All GOOD here' }),
      { type: 'keyword', keyword: 'Good' },
      'up',
    ],
    ['a page without the keyword', answers(200, { body: 'hacked' }), { type: 'keyword', keyword: 'good' }, 'failing'],
    ['an empty page where a keyword is wanted', answers(200), { type: 'keyword', keyword: 'good' }, 'failing'],
    ['the keyword on an error page', answers(500, { body: 'good' }), { type: 'keyword', keyword: 'good' }, 'failing'],
  ])('%s', (_, answer, change, kind) => {
    expect(classify(answer, { ...SETTINGS, ...change }).kind).toBe(kind);
  });

  it('takes only a silence for one', () => {
    expect(classify(silence(), SETTINGS)).toMatchObject({ silent: true, http_code: null, ping_ms: null });
    expect(classify(answers(500), SETTINGS)).toMatchObject({ silent: false, http_code: 500, ping_ms: 120 });
    const blocked = answers(0, { failure: { kind: 'blocked_address', message: 'private' } });
    expect(classify(blocked, SETTINGS)).toMatchObject({ kind: 'failing', silent: false });
  });
});

describe('the turn of a monitor', () => {
  it('comes once an interval, at the same place in it', () => {
    for (const phase of [0, 0.25, 0.999]) {
      const first = nextTurn(1_800_000_000_123, 5, phase);
      expect(first).toBeGreaterThan(1_800_000_000_123);
      expect(first - 1_800_000_000_123).toBeLessThanOrEqual(5 * MINUTE);
      expect(nextTurn(first, 5, phase)).toBe(first + 5 * MINUTE);
    }
  });

  it('keyword monitors read the page', () => {
    const none = { active: null, interval_min: null, timeout_s: null, maxretries: null, type: null, method: null };
    const own = { ...none, expected_status: null, keyword: null };
    const global = { ...SETTINGS, method: 'head', concurrency: 5 };
    expect(effectiveSettings({ ...own, type: 'keyword' }, global).method).toBe('get');
    expect(effectiveSettings(own, global).method).toBe('head');
  });
});

describe('a run', () => {
  let app: MonitoringApp;
  let reply: (probe: HttpProbe, tries: number) => HttpAnswer | Promise<HttpAnswer>;
  let asked: HttpProbe[];

  async function start(n: number, settings: Record<string, unknown> = {}): Promise<number[]> {
    asked = [];
    reply = () => answers(200);
    app = await monitoringApp({
      http: (probe) => {
        asked.push(probe);
        return reply(probe, asked.filter(({ url }) => url === probe.url).length);
      },
    });
    const ids = await app.addSites(n);
    await app.settings({ svc_uptime_monitoring_active: 1, svc_uptime_monitoring_interval: 5, ...settings });
    return ids;
  }
  const run = () => runDueMonitors(app.ctx());
  const one = async (id: number) => {
    const row = await app.service.store.monitors.one(id);
    if (row === undefined) throw new Error('no monitor');
    return row;
  };

  it('sends no request while monitoring is off', async () => {
    const [id = 0] = await start(1, { svc_uptime_monitoring_active: 0 });
    let references = 0;
    app.ctx().probe.online = async () => {
      references++;
      return true;
    };
    await run();
    expect(asked).toEqual([]);
    expect(references).toBe(0);
    expect((await one(id)).next_check_at).toBeNull();
    await app.settings({ svc_uptime_monitoring_active: 1 });
    await run();
    expect(asked).toHaveLength(1);
    await app.settings({ svc_uptime_monitoring_active: 0 });
    await run();
    app.clock.move(DAY);
    await run();
    expect(asked).toHaveLength(1);
  });

  it('follows a new interval at once', async () => {
    const [id = 0] = await start(1, { svc_uptime_monitoring_interval: 1440 });
    await run();
    await app.settings({ svc_uptime_monitoring_interval: 5 });
    await run();
    const { next_check_at } = await one(id);
    expect((next_check_at ?? 0) - app.clock.now()).toBeLessThanOrEqual(5 * MINUTE);
  });

  it('confirms at once, then 20 seconds later, before a site is down', async () => {
    const [id = 0] = await start(1);
    await run();
    reply = () => answers(500);
    app.clock.move(5 * MINUTE);
    await run();
    expect(asked).toHaveLength(3);
    expect(await one(id)).toMatchObject({ status: 2, failures: 1, confirmed: 1 });
    app.clock.move(19_000);
    await run();
    expect(asked).toHaveLength(3);
    app.clock.move(1_000);
    await run();
    expect(await one(id)).toMatchObject({ status: 0, failures: 2, confirmed: 0, last_http_code: 500 });
    expect(app.events.map(({ name }) => name)).toContain('monitor.down');
    // Known to be down: requested once per turn.
    const before = asked.length;
    app.clock.move(5 * MINUTE);
    await run();
    expect(asked).toHaveLength(before + 1);
  });

  it('counts the retries of the settings', async () => {
    const [id = 0] = await start(1);
    await app.service.store.monitors.saveSettings(id, { maxretries: 3 }, { active: 1, interval_min: 5 }, 0);
    reply = () => silence();
    const states: number[] = [];
    for (let i = 0; i < 5; i++) {
      await run();
      states.push((await one(id)).status);
      app.clock.move(MINUTE);
    }
    expect(states.slice(0, 4)).toEqual([2, 2, 2, 0]);
  });

  it('looks at the page of a site that answers HEAD with 503: maintenance is no outage', async () => {
    const [id = 0] = await start(1);
    reply = ({ method }) => (method === 'HEAD' ? answers(503) : maintenancePage());
    for (let i = 0; i < 4; i++) {
      await run();
      app.clock.move(5 * MINUTE);
    }
    expect(asked.slice(0, 2).map(({ method }) => method)).toEqual(['HEAD', 'GET']);
    expect(await one(id)).toMatchObject({ status: 2, failures: 0, confirmed: 1 });
    expect(app.events.filter(({ name }) => name.startsWith('monitor.'))).toEqual([]);
  });

  it('asks for the headers only, where that is the type', async () => {
    const [id = 0] = await start(1);
    const change = { type: 'ping', method: 'get' };
    await app.service.store.monitors.saveSettings(id, change, { active: 1, interval_min: 5 }, 0);
    await run();
    expect(asked[0]).toMatchObject({ method: 'HEAD', maxBytes: 0 });
  });

  it('is not held up by a site that does not answer', async () => {
    const ids = await start(300);
    let release: (answer: HttpAnswer) => void = () => undefined;
    reply = ({ url }) =>
      url.includes('//s1.') ? new Promise<HttpAnswer>((resolve) => (release = resolve)) : answers(200);
    const running = run();
    await expect.poll(() => asked.length).toBe(300);
    app.clock.move(2_000);
    await expect.poll(async () => (await one(ids[299] ?? 0)).status).toBe(1);
    // Still running; monitors that come due meanwhile are taken on.
    app.clock.move(6 * MINUTE);
    await expect.poll(() => asked.length).toBeGreaterThan(590);
    release(answers(200));
    expect(await running).toBe('599 checked, 0 alerts');
  });

  it('costs few statements for many sites, and no more round trips for their logins', async () => {
    await start(200);
    await run();
    app.clock.move(5 * MINUTE);
    app.db.reset();
    await run();
    expect(app.db.counts.calls).toBeLessThan(20);
    expect(app.db.counts.statements).toBeLessThan(200 * 4 + 40);
  });

  it('leaves suspended sites alone, and forgets that they were down', async () => {
    const [id = 0] = await start(1, { svc_uptime_monitoring_down_confirmation_check: 0 });
    reply = () => answers(500);
    await run();
    expect((await one(id)).status).toBe(0);
    await app.service.store.sites.mark([id], { suspended: true });
    app.clock.move(MINUTE);
    await run();
    const { items } = await app.service.store.monitorResults.incidents(id, 1, 10);
    expect(items).toMatchObject([{ ended_at: app.clock.now() }]);
    expect(await one(id)).toMatchObject({ status: 99, next_check_at: null });
    await app.service.store.sites.mark([id], { suspended: false });
    reply = () => answers(200);
    await run();
    expect((await one(id)).status).toBe(1);
    expect(app.events.map(({ name }) => name).filter((name) => name.startsWith('monitor.'))).toEqual(['monitor.down']);
  });

  it('ends the incident of a suspended site that was checked by hand before', async () => {
    const [id = 0] = await start(1, { svc_uptime_monitoring_down_confirmation_check: 0 });
    reply = () => answers(500);
    await run();
    await app.service.store.sites.mark([id], { suspended: true });
    await checkMonitor(app.ctx(), id);
    app.clock.move(MINUTE);
    await run();
    const { items } = await app.service.store.monitorResults.incidents(id, 1, 10);
    expect(items).toMatchObject([{ ended_at: app.clock.now() }]);
    expect(await one(id)).toMatchObject({ status: 99, confirmed: 1, next_check_at: null });
  });

  it('drops a result that was measured before the settings changed', async () => {
    const [id = 0] = await start(1, { svc_uptime_monitoring_down_confirmation_check: 0 });
    reply = async (_, tries) => {
      if (tries === 2)
        await app.service.store.monitors.saveSettings(id, { active: 0 }, { active: 1, interval_min: 5 }, 0);
      return answers(500);
    };
    await run();
    const beats = await app.db.all('SELECT status FROM heartbeat');
    expect(beats).toEqual([]);
    // A run that finds nothing more to do picks up newly due monitors only after two seconds; the next run does at
    // once.
    await run();
    expect((await one(id)).next_check_at).toBeNull();
    expect(app.events.filter(({ name }) => name === 'monitor.down')).toEqual([]);
  });

  it('sends the login of a protected site', async () => {
    const [id = 0] = await start(2);
    const locked = bareSite('https://locked.example/', { ssl_verify: false, http_user: 'ada', http_pass: 'secret' });
    const sealed = await app.service.store.sites.add(locked, app.clock.now(), () => []);
    expect(sealed).not.toBe(id);
    await run();
    expect(asked.find(({ url }) => url.includes('locked'))).toMatchObject({
      http_user: 'ada',
      http_pass: 'secret',
      ssl_verify: false,
    });
    expect(asked.find(({ url }) => url.includes('s1.'))).toMatchObject({ http_user: null, ssl_verify: true });
  });

  it('does not hold alerts for references that were never reachable from here', async () => {
    const [id = 0] = await start(1, { svc_uptime_monitoring_down_confirmation_check: 0 });
    app.ctx().probe.online = async () => false;
    reply = () => silence();
    await run();
    expect((await one(id)).status).toBe(0);
  });

  it('waits while our own network is down, and goes on after it', async () => {
    const ids = await start(20);
    await run();
    app.ctx().probe.online = async () => false;
    reply = () => silence();
    app.clock.move(5 * MINUTE);
    await run();
    for (let i = 0; i < 30; i++) {
      app.clock.move(MINUTE);
      await run();
    }
    expect((await one(ids[0] ?? 0)).status).toBe(1);
    const cut = asked.length;
    app.ctx().probe.online = async () => true;
    reply = () => answers(200);
    app.clock.move(MINUTE);
    await run();
    expect(asked.length - cut).toBe(20);
    expect(app.events.map(({ name }) => name)).toEqual(['network.down', 'network.up']);
  });

  it('forgets beats after 180 days', async () => {
    const [id = 0] = await start(1, { svc_uptime_monitoring_interval: 1440 });
    for (let day = 0; day < 200; day++) {
      await run();
      app.clock.move(DAY);
    }
    await pruneMonitoring(app.ctx());
    const [row] = await app.db.all('SELECT count(*) AS n FROM heartbeat WHERE site_id = ?', [id]);
    expect(row?.n).toBeGreaterThan(177);
    expect(row?.n).toBeLessThan(182);
    const [hours] = await app.db.all('SELECT min(hour) AS first FROM monitor_hour');
    expect(Number(hours?.first)).toBeGreaterThanOrEqual(Math.floor((app.clock.now() - 31 * DAY) / 3_600_000));
  });

  it('keeps 400 days by day, as the hours were, and what was not measured stays unknown', async () => {
    const [id = 0] = await start(1, { svc_uptime_monitoring_interval: 1440 });
    const { db } = app;
    const today = Math.floor(app.clock.now() / DAY);
    const hour = (day: number, up: number, down: number, ping: number | null) =>
      db.run('INSERT INTO monitor_hour VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?)', [
        id,
        day * 24 + (up === 3600 ? 5 : 6),
        up,
        down,
        ping === null ? 0 : 1,
        ping ?? 0,
        ping,
        ping,
      ]);
    await hour(today - 2, 3600, 0, 40);
    await hour(today - 2, 1800, 1800, 60);
    const days = () =>
      db.all('SELECT day - ? AS ago, up_s, down_s, pings, ping_sum, ping_min, ping_max FROM monitor_day', [today]);
    await pruneMonitoring(app.ctx());
    const known = { ago: -2, up_s: 5400, down_s: 1800, pings: 2, ping_sum: 100, ping_min: 40, ping_max: 60 };
    // Of yesterday nothing is known, and today is not over.
    expect(await days()).toEqual([known]);
    await hour(today, 3600, 0, null);
    app.clock.move(DAY);
    await pruneMonitoring(app.ctx());
    const later = { ago: 0, up_s: 3600, down_s: 0, pings: 0, ping_sum: 0, ping_min: null, ping_max: null };
    expect(await days()).toEqual([known, later]);
    expect(await db.all('SELECT day - ? AS ago, up_s, down_s, connected FROM fleet_day', [today])).toEqual([
      { ago: -2, up_s: 5400, down_s: 1800, connected: null },
      { ago: 0, up_s: 3600, down_s: 0, connected: null },
    ]);
    // A check that was under way as the day ended adds to it.
    await hour(today, 1800, 0, null);
    app.clock.move(DAY);
    await pruneMonitoring(app.ctx());
    expect(await days()).toEqual([known, { ...later, up_s: 5400 }]);
    // The hours are deleted, and the days stay for 400 days.
    app.clock.move(395 * DAY);
    await pruneMonitoring(app.ctx());
    expect(await db.all('SELECT * FROM monitor_hour')).toEqual([]);
    expect(await days()).toEqual([known, { ...later, up_s: 5400 }]);
    app.clock.move(3 * DAY);
    await pruneMonitoring(app.ctx());
    expect((await days()).map(({ ago }) => ago)).toEqual([0]);
  });

  it('is forgotten as fast as a large fleet writes it', async () => {
    const [id = 0] = await start(1);
    // 100,000 sites every five minutes: more than a fifth of an hour.
    await app.db.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 260000)
       INSERT INTO heartbeat (site_id, at, status, important, duration, down_count, msg) SELECT ?, i, 1, 0, 0, 0, '' FROM n`,
      [id],
    );
    await pruneMonitoring(app.ctx());
    expect(await app.db.all('SELECT count(*) AS n FROM heartbeat WHERE at < 1000000')).toEqual([{ n: 0 }]);
  });
});
