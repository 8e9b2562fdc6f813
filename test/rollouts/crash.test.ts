/** A process dies anywhere in a rollout, and another one goes on; and several work on one at once. Every update is applied once. */

import { beforeAll, describe, expect, it } from 'vitest';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { finishInterruptedRuns } from '../../src/domain/updates/safe/unfinished.js';
import type { Statement } from '../../src/store/driver/db.js';
import { shortOrLong } from '../robustness/soak.js';
import { runNextChunk } from '../support/chunks.js';
import { SYSTEM } from '../support/harness.js';
import { type RolloutApp, rolloutApp } from './rollout-app.js';

const SITES = 4;
const WAVES = { canaries: 2, sizes: [2], soak_minutes: 5 };
/** How many points of death are tried. */
const DEATHS = shortOrLong(5, 60);

let app: RolloutApp;
/** Updates that were sent to each site. */
const sent = () =>
  app.fleet.sites.map((site) => site.calls.filter((call) => call.function === 'upgradeplugintheme').length);

beforeAll(async () => {
  app = await rolloutApp(SITES, { fleet: { keepCalls: true } });
});

/** Runs the work of a process that dies at its nth write from now; returns how many it made. */
async function dying(nth: number, work: () => Promise<unknown>): Promise<number> {
  const { all, run, batch } = app.db;
  let writes = 0;
  const guarded = async <R>(texts: readonly string[], go: () => Promise<R>): Promise<R> => {
    if (texts.some((text) => /^\s*(INSERT|UPDATE|DELETE)/i.test(text)) && ++writes >= nth) throw new Error('killed');
    return go();
  };
  Object.assign(app.db, {
    all: (...args: Parameters<typeof all>) => guarded([args[0]], () => all(...args)),
    run: (...args: Parameters<typeof run>) => guarded([args[0]], () => run(...args)),
    batch: (statements: readonly Statement[]) =>
      guarded(
        statements.map(({ sql }) => sql),
        () => batch(statements),
      ),
  });
  try {
    await work().catch(() => undefined);
    return writes;
  } finally {
    Object.assign(app.db, { all, run, batch });
  }
}

async function offerAgain() {
  for (const plugin of app.plugins) {
    plugin.version = '1.0';
    plugin.update = { version: '2.0', requiresPhp: '', requiresWp: '' };
  }
  for (const site of app.fleet.sites) site.calls.length = 0;
  await app.call('sync-sites', {});
}

/** A turn of a process: the schedule, and the jobs. */
async function turn() {
  await finishInterruptedRuns(app.ctx({ actor: SYSTEM }));
  await app.turn();
}

async function ended(id: string) {
  for (let rounds = 0; rounds < 12; rounds++) {
    // Leases of the dead lapse, and waves soak.
    app.clock.move(6 * 60_000);
    await app.running(turn());
    const rollout = await app.read(id);
    if (rollout.next === '') return rollout;
  }
  throw new Error(`the rollout did not end: ${JSON.stringify(await app.read(id))}`);
}

describe('a rollout', () => {
  it(`goes on after ${DEATHS} deaths, each at another point`, async () => {
    await offerAgain();
    const { rollout_id } = await app.start({ waves: WAVES });
    // How many writes there are until the second wave is done.
    const writes = await dying(Number.POSITIVE_INFINITY, async () => {
      await turn();
      await app.after(6);
    });
    expect(await ended(rollout_id)).toMatchObject({ state: 'completed', counts: { kept: SITES } });
    expect(writes).toBeGreaterThan(50);
    for (let death = 1; death <= DEATHS; death++) {
      const at = Math.ceil((death * writes) / (DEATHS + 1));
      await offerAgain();
      const { rollout_id: id } = await app.start({ waves: WAVES });
      await dying(at, async () => {
        await turn();
        await app.after(6);
      });
      const rollout = await ended(id);
      expect([at, rollout.state, rollout.counts]).toEqual([at, 'completed', { kept: SITES }]);
      expect([at, sent()]).toEqual([at, Array(SITES).fill(1)]);
      for (const { version } of app.plugins) expect([at, version]).toEqual([at, '2.0']);
      const runs = rollout.waves.flatMap(({ run_ids }: { run_ids: string[] }) => run_ids);
      expect(runs).toHaveLength(2);
      const kept =
        'SELECT count(*) FROM update_run_item WHERE state = ? AND run_id IN (SELECT value FROM json_each(?))';
      expect([at, await app.cell(kept, 'kept', JSON.stringify(runs))]).toEqual([at, SITES]);
    }
  });

  it('is advanced by three processes at once, and each update is sent once', async () => {
    await offerAgain();
    const { rollout_id: id } = await app.start({ waves: WAVES });
    const work = async (owner: string) => {
      await advanceRollouts(app.ctx({ actor: SYSTEM }));
      while (await runNextChunk(app.ctx({ actor: SYSTEM }), owner));
      await advanceRollouts(app.ctx({ actor: SYSTEM }));
    };
    for (let rounds = 0; rounds < 6; rounds++) {
      await app.running(Promise.all(['one', 'two', 'three'].map(work)));
      app.clock.move(6 * 60_000);
    }
    const rollout = await app.read(id);
    expect(rollout).toMatchObject({ state: 'completed', counts: { kept: SITES } });
    expect(sent()).toEqual(Array(SITES).fill(1));
    expect(rollout.waves.map(({ run_ids }: { run_ids: string[] }) => run_ids.length)).toEqual([1, 1]);
    const { actions } = await app.call('list-actions', { contexts: ['rollout'], per_page: 50 });
    const told = actions
      .filter(({ slug }: { slug: string }) => slug === id)
      .map(({ action }: { action: string }) => action);
    expect(told.reverse()).toEqual(['started', 'wave-started', 'wave-ended', 'wave-started', 'wave-ended', 'ended']);
  });
});
