/** Locks across processes: one holder at a time, expiring with it; shares that add up; syncs that come too late. */

import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSite, requireConnection } from '../../src/domain/sites/load.js';
import { createLeases } from '../../src/runtime/cluster/leases.js';
import { createClusterLimits } from '../../src/runtime/cluster/shared-limits.js';
import { createLog } from '../../src/runtime/telemetry/log.js';
import { createLeases as createLeaseRows } from '../../src/store/cluster/leases.js';
import type { Db } from '../../src/store/driver/db.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { openDb } from '../../src/store/driver/open.js';
import { migrations } from '../../src/store/schema/index.js';
import { tempFolder } from '../support/cleanup.js';
import { handClock, testApp } from '../support/harness.js';

const log = createLog('silent');
const folder = tempFolder('rights');
const never = new AbortController().signal;
setMaxListeners(0, never);
const clock = handClock();
const sleepless = { ...clock, sleep: () => new Promise<void>((resolve) => setTimeout(resolve, 1)) };
let dbs: Db[];
let rows: ReturnType<typeof createLeaseRows>[];

beforeAll(async () => {
  const url = `file:${join(folder, 'rights.db')}`;
  dbs = await Promise.all([0, 1, 2, 3, 4].map(() => openDb(url)));
  await migrate(dbs[0] as Db, migrations);
  rows = dbs.map(createLeaseRows);
});
afterAll(async () => {
  await Promise.all(dbs.map((db) => db.close()));
});

const process_ = (i: number, leaseMs = 30_000) =>
  createLeases({ rows: rows[i] as (typeof rows)[0], owner: `p${i}`, clock: sleepless, log, leaseMs });

describe('a right', () => {
  it('is given back when its process closes, also while it is kept for more work', async () => {
    const [closing, next] = [process_(0), process_(1)];
    const keep = { retention: { idleMs: 60_000, mostMs: 60_000, leaseMs: 60_000 } };
    await closing.exclusive('closing', never, async () => undefined, keep);
    const taken = next.exclusive('closing', never, async () => 'taken');
    const soon = new Promise((resolve) => setTimeout(resolve, 100, 'kept'));
    expect(await Promise.race([taken, soon])).toBe('kept');
    await closing.close();
    expect(await taken).toBe('taken');
  });

  it('is had by one piece of work at a time, in one process and across four', async () => {
    let inside = 0;
    let most = 0;
    let runs = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 2));
      inside--;
      runs++;
    };
    const processes = [0, 1, 2, 3].map((i) => process_(i));
    const keep = { retention: { idleMs: 3, mostMs: 20, leaseMs: 30_000 } };
    await Promise.all(
      processes.flatMap((rights) => [
        ...Array.from({ length: 5 }, () => rights.exclusive('site:1', never, work)),
        ...Array.from({ length: 5 }, () => rights.exclusive('site:1', never, work, keep)),
      ]),
    );
    expect({ most, runs }).toEqual({ most: 1, runs: 40 });
  });

  it('lapses with a holder that died, and one that was only paused is informed', async () => {
    const [paused, other] = [process_(0, 40), process_(1, 40)];
    const order: string[] = [];
    const noticed = paused.exclusive('site:2', never, async (held) => {
      order.push('first');
      // As if the process had been stopped: the lease expires before any renewal.
      clock.move(1000);
      await other.exclusive('site:2', never, async () => {
        order.push('second');
        await expect.poll(() => held.aborted).toBe(true);
      });
      return held.aborted;
    });
    expect(await noticed).toBe(true);
    expect(order).toEqual(['first', 'second']);
  });

  it('is confirmed before something is sent after a pause, and kept unless another has had it meanwhile', async () => {
    const [paused, other] = [process_(0), process_(1)];
    await paused.exclusive('site:4', never, async (held) => {
      clock.move(10_000);
      expect(paused.confirm()).toBeUndefined();
      // Longer than a lease, and nothing has renewed it: the timers of a process that was stopped come too late.
      clock.move(30_000);
      await paused.confirm();
      expect(held.aborted).toBe(false);
      clock.move(30_000);
      await other.exclusive('site:4', never, async () => undefined);
      await paused.confirm();
      expect(held.aborted).toBe(true);
    });
  });

  it('is asked for once by all that wait to send, and lost where storage does not answer', async () => {
    let asked = 0;
    let answers = true;
    const rights = createLeases({
      rows: {
        acquire: async (...of) => {
          asked++;
          if (!answers) throw new Error('unreachable');
          return (rows[0] as (typeof rows)[0]).acquire(...of);
        },
        release: async () => undefined,
      },
      ...{ owner: 'p0', clock: sleepless, log },
    });
    await rights.exclusive('site:5', never, async (held) => {
      clock.move(60_000);
      asked = 0;
      await Promise.all(Array.from({ length: 9 }, () => rights.confirm()));
      expect([asked, held.aborted]).toEqual([1, false]);
      answers = false;
      clock.move(60_000);
      await rights.confirm();
      expect(held.aborted).toBe(true);
    });
  });

  it('is not waited for longer than the caller waits', async () => {
    const stop = new AbortController();
    await process_(0).exclusive('site:3', never, async () => {
      const waiting = createLeases({
        rows: rows[1] as (typeof rows)[0],
        owner: 'p1',
        clock: { ...clock, sleep: (_ms, signal) => Promise.reject(signal?.reason) },
        log,
      }).exclusive('site:3', stop.signal, async () => 'never');
      stop.abort(new Error('gave up'));
      await expect(waiting).rejects.toThrow('gave up');
    });
  });
});

describe('shares of a limit', () => {
  it('add up to the limit for every host, whatever the number of processes', async () => {
    for (const members of [1, 2, 3, 4, 5]) {
      const shares = Array.from({ length: members }, (_, i) =>
        createClusterLimits({
          heartbeat: async () => Array.from({ length: members }, (_, k) => `m${k}`),
          leave: async () => undefined,
          owner: `m${i}`,
          leases: process_(i),
          clock,
          log,
          heartbeatMs: 1000,
        }),
      );
      await Promise.all(shares.map((share) => share.join()));
      // A newcomer has no slots until the others must have counted it.
      if (members > 1) expect(shares.map((share) => share.slots('h', 2))).toEqual(shares.map(() => 0));
      clock.move(2000);
      for (const host of ['192.0.2.1', '192.0.2.2', '2001:db8::1'])
        for (const limit of [1, 2, 3, 7, 50])
          expect(shares.reduce((sum, share) => sum + share.slots(host, limit), 0)).toBe(limit);
      // Not seen for too long: the others have taken its slots.
      clock.move(5000);
      expect(shares.map((share) => share.slots('h', 50))).toEqual(shares.map(() => 0));
      await Promise.all(shares.map((share) => share.close()));
    }
  });
});

it('nothing is sent to a site that another process has had while this one was paused', async () => {
  const config = { db: `file:${join(tempFolder('paused'), 'fleet.db')}`, secret_key: 'b'.repeat(64) };
  const paused = await testApp({ sites: 1, jobs: false, config });
  const id = await paused.connect(0);
  const other = await testApp({ sites: 1, jobs: false, config });
  const site = paused.fleet.site(0);
  const ctx = paused.ctx();
  const target = requireConnection(await loadSite(ctx, id));
  await ctx.locks.exclusive(id, never, async (held) => {
    await ctx.child.pluginAction(target, 'deactivate', ['akismet/akismet.php'], { signal: held });
    const before = site.calls.length;
    for (const { clock } of [paused, other]) clock.move(60_000);
    await other.ctx().locks.exclusive(id, never, async () => undefined);
    await expect(ctx.child.pluginAction(target, 'activate', ['x/x.php'], { signal: held })).rejects.toThrow();
    expect([held.aborted, site.calls.length]).toEqual([true, before]);
  });
  await other.close();
  await paused.close();
});

describe('a look that comes too late', () => {
  it('does not replace what a later one has stored', async () => {
    const app = await testApp({ sites: 1, jobs: false, realClock: true });
    const id = await app.connect(0);
    const { inventory, sites } = app.service.store;
    const [before] = await sites.records([id]);
    if (before === undefined) throw new Error('no record');
    const news = { plugins: [], themes: [] };
    const since = { last_attempt: before.last_attempt };
    expect(await inventory.save({ ...before, content_hash: '' }, news, 5, true, since)).toBe(true);
    const old = { plugins: [{ slug: 'old/old.php', name: 'Old', version: '1', active: true }], themes: [] };
    expect(await inventory.save({ ...before, content_hash: '' }, old as never, 4, true, since)).toBe(false);
    expect(
      await inventory.saveFailure(id, { code: 'svc_sync_failed', message: 'late', late: false, own: false }, 4, since),
    ).toBe(false);
    const { extensions } = await inventory.read(id);
    expect(extensions).toEqual([]);
    expect((await sites.records([id]))[0]).toMatchObject({
      last_sync: 5,
      last_attempt: 5,
      sync_error: '',
    });
  });
});
