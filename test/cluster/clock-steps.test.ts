/** A clock set forward or back, as by a time service or on resume: nothing stops, and nothing lives longer. */

import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { reapJobs } from '../../src/domain/actions/chunk.js';
import { createClockStepMonitor } from '../../src/domain/clock-steps.js';
import type { Ctx } from '../../src/domain/context.js';
import { runDueMonitors } from '../../src/domain/monitoring/due-monitors.js';
import { createLeases } from '../../src/runtime/cluster/leases.js';
import { createLog } from '../../src/runtime/telemetry/log.js';
import { createLeases as createLeaseRows } from '../../src/store/cluster/leases.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { openDb } from '../../src/store/driver/open.js';
import { migrations } from '../../src/store/schema/index.js';
import { createStore } from '../../src/store/store.js';
import { createVault, keyId } from '../../src/store/vault/vault.js';
import { answers, type MonitoringApp, monitoringApp } from '../monitoring/monitoring-app.js';
import { type RestApp, restApp } from '../rest/client.js';
import { runNextChunk } from '../support/chunks.js';
import { tempFolder } from '../support/cleanup.js';
import { handClock, START, SYSTEM, type TestApp, testApp } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { pause } from '../support/processes/program.js';

const KEY = Buffer.alloc(32, 7);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS: [string, number][] = [
  ['an hour back', -HOUR],
  ['an hour forward', HOUR],
  ['a day back', -DAY],
  ['a day forward', DAY],
];
/** Daylight saving time ends and begins in Europe in these nights: local time repeats or skips an hour. */
const NIGHTS: [string, number, number][] = [
  ['the end of summer time', Date.UTC(2027, 9, 31, 1, 0, 0) - START, -HOUR],
  ['the begin of summer time', Date.UTC(2027, 2, 28, 1, 0, 0) - START, HOUR],
];
const CASES: [string, number, number][] = [
  ...STEPS.map(([name, by]): [string, number, number] => [name, 0, by]),
  ...NIGHTS,
];

describe('an API key, over REST', () => {
  let app: RestApp;
  beforeEach(async () => {
    app = await restApp({ sites: 1, config: { rest_rate_limit: 5 } });
  });

  async function caller(): Promise<{ id: number; get(): Promise<number> }> {
    const { token, key } = await newKey(app.service.store.keys);
    return { id: key.id, get: async () => (await app.rest('GET /sites', { token })).status };
  }

  it.each(CASES)('is not locked out: %s', async (_name, offset, by) => {
    app.clock.move(offset);
    const key = await caller();
    for (let i = 0; i < 5; i++) expect(await key.get()).toBe(200);
    expect(await key.get()).toBe(429);
    app.clock.step(by);
    // Neither forgiven nor extended: one request is restored every twelve seconds.
    expect(await key.get()).toBe(429);
    app.clock.move(12 * SECOND);
    expect(await key.get()).toBe(200);
    expect(await key.get()).toBe(429);
  });

  it.each(CASES)('dies within a second of its removal: %s', async (_name, offset, by) => {
    app.clock.move(offset);
    const key = await caller();
    expect(await key.get()).toBe(200);
    app.clock.step(by);
    expect(await key.get()).toBe(200);
    await app.service.store.keys.remove(key.id);
    app.clock.move(SECOND);
    expect(await key.get()).toBe(401);
  });
});

describe('a queued job', () => {
  const PAUSE = 30 * SECOND;
  let app: TestApp;
  beforeEach(async () => {
    app = await testApp({ sites: 6, jobs: false, config: { batch_threshold: 1, job_chunk: 2, job_delay_ms: PAUSE } });
    for (let i = 0; i < 6; i++) await app.connect(i);
  });

  const ctx = () => app.ctx({ actor: SYSTEM });

  it.each(CASES)('goes on within one pause between chunks, and is not over for it: %s', async (_name, offset, by) => {
    app.clock.move(offset);
    const steps = createClockStepMonitor(ctx);
    const chunk = async (owner = 'a') => {
      await steps.settle();
      return runNextChunk(ctx(), owner);
    };
    const queued = await app.call('sync-sites', {});
    const status = () => app.call('get-batch-job-status', { job_id: queued.job_id });
    expect(await chunk()).toBe(true);
    app.clock.step(by);
    app.clock.move(PAUSE);
    await steps.settle();
    await reapJobs(ctx());
    expect(await chunk()).toBe(true);
    expect(await status()).toMatchObject({ status: 'processing', processed: 4, job_timed_out: false });
    app.clock.move(PAUSE);
    expect(await chunk()).toBe(true);
    expect(await status()).toMatchObject({ status: 'completed', processed: 6, succeeded: 6 });
  });
});

describe('a monitor', () => {
  const INTERVAL = 5 * MINUTE;
  let bench: MonitoringApp;
  let looks: number;
  beforeEach(async () => {
    looks = 0;
    bench = await monitoringApp({
      http: () => {
        looks++;
        return answers(200);
      },
    });
  });

  it.each(CASES)('is looked at in every interval: %s', async (_name, offset, by) => {
    bench.clock.move(offset);
    await bench.addSites(20);
    await bench.settings({ svc_uptime_monitoring_active: 1, svc_uptime_monitoring_interval: 5 });
    const steps = createClockStepMonitor(bench.ctx);
    const run = async () => {
      await steps.settle();
      const before = looks;
      await runDueMonitors(bench.ctx());
      return looks - before;
    };
    expect(await run()).toBe(20);
    // The first turns of the grid, and then every site in every interval.
    bench.clock.move(INTERVAL);
    expect(await run()).toBe(20);
    for (const step of [by, 0, -by, 0]) {
      bench.clock.step(step);
      bench.clock.move(INTERVAL);
      expect(await run(), `after ${step} ms`).toBe(20);
    }
  });
});

describe('a lease', () => {
  const LEASE = 30 * SECOND;
  let folder: string;
  beforeEach(() => {
    folder = tempFolder('steps');
  });

  /** Two processes on one machine with the same clock; the second one reads it before and after the step. */
  async function member() {
    const url = `file:${join(folder, 'rights.db')}`;
    const dbs = [await openDb(url), await openDb(url)];
    await migrate(dbs[0] as (typeof dbs)[0], migrations);
    const clock = handClock();
    const holds = dbs.map((db, i) => {
      const rows = createLeaseRows(db);
      return (ms = LEASE) => {
        const now = clock.now();
        return rows.acquire('site:1', `p${i}`, now - clock.steps(ms).forward, now + ms).then((fence) => fence !== null);
      };
    });
    const rights = (i: number) =>
      createLeases({
        rows: createLeaseRows(dbs[i] as (typeof dbs)[0]),
        owner: `p${i}`,
        clock: { ...clock, sleep: (_ms, signal) => (signal?.aborted ? Promise.reject(signal.reason) : pause(1)) },
        log: createLog('silent'),
      });
    const store = createStore(dbs[0] as (typeof dbs)[0], createVault([{ id: keyId(KEY), key: KEY }]));
    return { clock, holds, rights, store, close: () => Promise.all(dbs.map((db) => db.close())) };
  }

  it.each(CASES)('is never had by two: %s', async (_name, offset, by) => {
    const { clock, rights, close } = await member();
    clock.move(offset);
    let inside = 0;
    let most = 0;
    const never = new AbortController().signal;
    const stop = new AbortController();
    let done = () => {};
    const first = rights(0).exclusive('site:1', never, async () => {
      most = Math.max(most, ++inside);
      clock.step(by);
      await new Promise<void>((resolve) => {
        done = resolve;
      });
      inside--;
    });
    while (inside === 0) await pause(1);
    const second = rights(1).exclusive('site:1', stop.signal, async () => {
      most = Math.max(most, ++inside);
      inside--;
    });
    // Many tries, within a time too short for the holder to have renewed it.
    await pause(100);
    done();
    await Promise.all([first, second]);
    expect(most).toBe(1);
    await close();
  });

  it.each(CASES)('of a process that died lapses in its own time: %s', async (_name, offset, by) => {
    const { clock, holds, store, close } = await member();
    clock.move(offset);
    expect(await holds[0]?.()).toBe(true);
    clock.step(by);
    expect(await holds[1]?.()).toBe(false);
    const ctx = { clock, store, log: createLog('silent') } as unknown as Ctx;
    const steps = createClockStepMonitor(() => ctx);
    await steps.settle();
    clock.move(MINUTE + SECOND);
    await steps.settle();
    expect(await holds[1]?.()).toBe(true);
    await close();
  });
});
