/**
 * A week of many monitors, minute by minute: alerts for the injected problems and no others, through a network cut and
 * a restart.
 */

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runDueMonitors } from '../../src/domain/monitoring/due-monitors.js';
import type { HttpAnswer } from '../../src/outbound/probe/probe.js';
import { shortOrLong } from '../robustness/soak.js';
import { tempFolder } from '../support/cleanup.js';
import { START } from '../support/harness.js';
import { answers, type MonitoringApp, maintenancePage, monitoringApp, silence } from './monitoring-app.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SITES = shortOrLong(30, 500);

/** The behaviour of one site at a moment; undefined = its normal answer. */
type Behaviour = (at: number, tries: number) => HttpAnswer | undefined;
const within = (at: number, from: number, length: number) => at >= START + from && at < START + from + length;

/** The injected problems, by site number, with the alerts each must cause and no others. */
const TROUBLES: Record<number, { what: string; behaviour: Behaviour; alerts: string[]; incidents: number }> = {
  3: {
    what: 'an outage of two hours',
    behaviour: (at) => (within(at, DAY, 2 * HOUR) ? silence() : undefined),
    alerts: ['monitor.down', 'monitor.up'],
    incidents: 1,
  },
  4: {
    what: 'HTTP 500 for a day',
    behaviour: (at) => (within(at, 2 * DAY, DAY) ? answers(500) : undefined),
    alerts: ['monitor.down', 'monitor.up'],
    incidents: 1,
  },
  5: {
    what: 'down when the week ends',
    behaviour: (at) => (at >= START + 6 * DAY + 20 * HOUR ? answers(502) : undefined),
    alerts: ['monitor.down'],
    incidents: 1,
  },
  6: {
    what: 'single lost probes, every one of them',
    behaviour: (_, tries) => (tries % 2 === 1 ? silence() : undefined),
    alerts: [],
    incidents: 0,
  },
  7: {
    what: 'fails one whole check now and then, fine at the next',
    behaviour: (at) => (Math.floor((at - START) / MINUTE) % 61 < 1 ? silence('unreachable') : undefined),
    alerts: [],
    incidents: 0,
  },
  8: { what: 'slow, always', behaviour: () => answers(200, { total_ms: 29_000 }), alerts: [], incidents: 0 },
  9: {
    what: 'a long maintenance',
    behaviour: (at) => (within(at, 3 * DAY, 5 * HOUR) ? maintenancePage() : undefined),
    alerts: [],
    incidents: 0,
  },
  10: {
    what: 'down, in maintenance, still down, up: no alert again after the maintenance',
    behaviour: (at) =>
      within(at, 4 * DAY + HOUR, HOUR) ? maintenancePage() : within(at, 4 * DAY, 3 * HOUR) ? answers(500) : undefined,
    alerts: ['monitor.down', 'monitor.up'],
    incidents: 1,
  },
  11: {
    what: 'flapping for two hours: ten minutes down, ten up',
    behaviour: (at) =>
      within(at, 5 * DAY, 2 * HOUR) && Math.floor((at - START) / (10 * MINUTE)) % 2 === 0 ? answers(500) : undefined,
    alerts: ['monitor.down', 'monitor.up', 'monitor.down', 'monitor.up', 'monitor.flapping', 'monitor.up'],
    incidents: 6,
  },
  12: {
    what: 'goes down while we are cut off, and stays so for a while',
    behaviour: (at) => (within(at, 36 * HOUR + 2 * HOUR, 4 * HOUR) ? answers(500) : undefined),
    alerts: ['monitor.down', 'monitor.up'],
    incidents: 1,
  },
  13: {
    what: 'is down before we are cut off and back before we are',
    behaviour: (at) => (within(at, 35 * HOUR, 2 * HOUR) ? answers(500) : undefined),
    alerts: ['monitor.down', 'monitor.up'],
    incidents: 1,
  },
  14: {
    what: 'is down before, during and after a restart of the service',
    behaviour: (at) => (within(at, 3.5 * DAY - HOUR, 3 * HOUR) ? silence() : undefined),
    alerts: ['monitor.down', 'monitor.up'],
    incidents: 1,
  },
};
const CUT_FROM = 36 * HOUR;
const CUT_LENGTH = 3 * HOUR;
const RESTART_AT = 3.5 * DAY;

describe(`a week of ${SITES} monitors`, () => {
  let folder: string;
  let app: MonitoringApp;
  let ids: number[];
  const perMinute: number[] = [];
  const events: string[] = [];

  beforeAll(async () => {
    folder = tempFolder('week');
    const clockHolder: { now: () => number } = { now: () => START };
    const tries = new Map<number, number>();
    let thisMinute = 0;
    let failWrites = false;
    const world = {
      online: () => !within(clockHolder.now(), CUT_FROM, CUT_LENGTH),
      http: ({ url }: { url: string }) => {
        const site = Number(/s(\d+)\./.exec(url)?.[1]);
        const n = (tries.get(site) ?? 0) + 1;
        tries.set(site, n);
        thisMinute++;
        if (!world.online()) return silence();
        return TROUBLES[site]?.behaviour(clockHolder.now(), n) ?? answers(200);
      },
    };
    const wrapDb = (db: Parameters<NonNullable<Parameters<typeof monitoringApp>[1]>['wrapDb'] & object>[0]) => {
      const batch = db.batch.bind(db);
      db.batch = async (statements) => {
        if (failWrites && statements.some(({ sql }) => sql.includes('INSERT INTO heartbeat')))
          throw new Error('the process dies here');
        return batch(statements);
      };
      return db;
    };
    const options = { db: `file:${join(folder, 'week.db')}`, wrapDb };
    app = await monitoringApp(world, options);
    clockHolder.now = () => app.clock.now();
    ids = await app.addSites(SITES);
    await app.settings({ svc_uptime_monitoring_active: 1, svc_uptime_monitoring_interval: 30 });
    // The sites with problems are checked every five minutes, by their own setting.
    for (const site of Object.keys(TROUBLES))
      await app.service.store.monitors.saveSettings(
        ids[Number(site) - 1] ?? 0,
        { interval_min: 5 },
        { active: 1, interval_min: 30 },
        START,
      );
    for (let at = 0; at < 7 * DAY; at += MINUTE) {
      if (at === RESTART_AT) {
        failWrites = true;
        await expect(runDueMonitors(app.ctx())).rejects.toThrow('the process dies here');
        failWrites = false;
        events.push(...app.events.map(({ name }) => name));
        await app.close();
        app = await monitoringApp(world, { ...options, clock: app.clock });
      }
      thisMinute = 0;
      await runDueMonitors(app.ctx());
      perMinute.push(thisMinute);
      app.clock.move(MINUTE);
    }
    events.push(...app.events.map(({ name }) => name));
  });

  it.each(Object.entries(TROUBLES).map(([site, trouble]) => ({ site, ...trouble })))(
    'site $site: $what',
    async ({ site, alerts, incidents }) => {
      const id = ids[Number(site) - 1] ?? 0;
      const told = await app.db.all('SELECT kind FROM alert WHERE site_id = ? ORDER BY id', [id]);
      expect(told.map(({ kind }) => kind)).toEqual(alerts);
      const kept = await app.db.all('SELECT started_at, ended_at FROM incident WHERE site_id = ?', [id]);
      expect(kept).toHaveLength(incidents);
    },
  );

  it('tells nothing else, and each alert as one event', async () => {
    const expected = Object.values(TROUBLES).flatMap(({ alerts }) => alerts);
    const told = await app.db.all('SELECT kind FROM alert');
    expect(told.map(({ kind }) => kind).sort()).toEqual([...expected].sort());
    expect(events.filter((name) => name.startsWith('monitor.')).sort()).toEqual([...expected].sort());
    const [count] = await app.db.all('SELECT count(*) AS n FROM incident');
    expect(count?.n).toBe(Object.values(TROUBLES).reduce((sum, { incidents }) => sum + incidents, 0));
    const open = await app.db.all('SELECT site_id FROM incident WHERE ended_at IS NULL');
    expect(open).toEqual([{ site_id: ids[4] }]);
  });

  it('notices that it is cut off once, and that it is back once', () => {
    expect(events.filter((name) => name.startsWith('network.'))).toEqual(['network.down', 'network.up']);
  });

  it('spreads the checks evenly over the interval', () => {
    // From the second hour to the cut: some every five minutes and the rest every thirty, some twice because of their
    // problems.
    const often = Object.keys(TROUBLES).length;
    const steady = perMinute.slice(60, 30 * 60);
    const mean = steady.reduce((sum, n) => sum + n, 0) / steady.length;
    expect(mean).toBeGreaterThan(((SITES - often) / 30 + often / 5) * 0.97);
    expect(mean).toBeLessThan(((SITES - often) / 30 + often / 5) * 1.1);
    expect(Math.max(...steady) - Math.min(...steady)).toBeLessThanOrEqual(9);
  });

  it('has the ratios of what happened', async () => {
    const id = ids[2] ?? 0;
    const { sums, incidents } = await app.service.store.monitorResults.metrics([id, ids[20] ?? 0], app.clock.now());
    const row = sums.get(id);
    const downHours = (row?.down_7d ?? 0) / 3600;
    expect(downHours).toBeGreaterThan(1.9);
    expect(downHours).toBeLessThan(2.1);
    // Neither up nor down: the minutes before the outage was certain, and the cut of our own network.
    expect((row?.up_7d ?? 0) / 3600).toBeGreaterThan(168 - 2.1 - 3.3);
    expect((row?.up_7d ?? 0) / 3600).toBeLessThan(168 - 1.9 - 2.7);
    expect(incidents.get(id)).toEqual({ n_7d: 1, n_30d: 1 });
    expect(sums.get(ids[20] ?? 0)?.down_7d).toBe(0);
  });

  it('leaves no beat of the time it was cut off', async () => {
    const rows = await app.db.all('SELECT count(*) AS n FROM heartbeat WHERE at > ? AND at < ?', [
      START + CUT_FROM + MINUTE,
      START + CUT_FROM + CUT_LENGTH - MINUTE,
    ]);
    expect(rows[0]?.n).toBe(0);
  });
});
