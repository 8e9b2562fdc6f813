/** Each step of a rollout has its entry in the log, or does not happen: it is taken up again once the log can be written. */

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifyLog } from '../../src/domain/action-log/verify.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { runNextChunk } from '../support/chunks.js';
import { SYSTEM } from '../support/harness.js';
import { withoutLog } from '../support/unwritable-log.js';
import { type RolloutApp, rolloutApp, SHOP } from './rollout-app.js';

const SITES = 5;
const WAVES = { canaries: 2, sizes: [2], soak_minutes: 30 };

let app: RolloutApp;

beforeAll(async () => {
  // One site after the other.
  app = await rolloutApp(SITES, { fleet: { keepCalls: true }, config: { job_chunk: 1, job_delay_ms: 1 } });
});
beforeEach(async () => {
  for (const plugin of app.plugins) {
    plugin.version = '1.0';
    plugin.update = { version: '2.0', requiresPhp: '', requiresWp: '' };
  }
  for (const site of app.fleet.sites) site.calls.length = 0;
  await app.call('sync-sites', {});
});

const advance = () => advanceRollouts(app.ctx({ actor: SYSTEM }));
const chunk = () => app.running(runNextChunk(app.ctx({ actor: SYSTEM }), 'test'));
const sent = () =>
  app.fleet.sites.map((site) => site.calls.filter((call) => call.function === 'upgradeplugintheme').length);
const story = async (id: string) =>
  (await app.db.all("SELECT action FROM action_log WHERE context = 'rollout' AND slug = ? ORDER BY id", [id])).map(
    ({ action }) => action,
  );
const waves = async (id: string) => (await app.read(id)).waves.map(({ state }: { state: string }) => state);
/** The step does not happen without the log, and then it does. */
async function tried<T>(work: () => Promise<T>): Promise<[without: T, then: T]> {
  const without = await withoutLog(app.db, async () => {
    await advance();
    return work();
  });
  await advance();
  return [without, await work()];
}

describe('without the log', () => {
  it('nothing starts, no wave begins or ends, and no rollout is completed', async () => {
    const { plan_id, digest } = await app.plan({ waves: WAVES });
    const start = { plan_id, digest, confirm: true };
    await withoutLog(app.db, () => app.fail('start-rollout', start));
    expect((await app.call('list-rollouts')).total).toBe(0);

    const { rollout_id: id } = await app.safely('start-rollout', start);
    await app.running(app.drain());
    expect(await tried(() => waves(id))).toEqual([
      ['running', 'waiting', 'waiting'],
      ['soaking', 'waiting', 'waiting'],
    ]);
    const pause = { rollout_id: id, action: 'pause', confirm: true };
    await withoutLog(app.db, () => app.fail('control-rollout', pause));
    expect((await app.read(id)).state).toBe('running');

    app.clock.move(31 * 60_000);
    await advance();
    await app.running(app.drain());
    expect(await tried(async () => [await waves(id), (await app.read(id)).counts])).toEqual([
      [['done', 'waiting', 'waiting'], { kept: 2, untouched: 3 }],
      [['done', 'running', 'waiting'], { kept: 2, queued: 2, untouched: 1 }],
    ]);
    expect(sent()).toEqual([1, 1, 0, 0, 0]);

    // Up to the check of the last wave.
    for (const minutes of [0, 31, 0, 0]) {
      await app.running(app.drain());
      app.clock.move(minutes * 60_000);
      await advance();
    }
    await app.running(app.drain());
    expect(await tried(async () => (await app.read(id)).state)).toEqual(['running', 'completed']);
    expect(sent()).toEqual(Array(SITES).fill(1));
    const wave = ['wave-started', 'wave-ended'];
    expect(await story(id)).toEqual(['started', ...wave, ...wave, ...wave, 'ended']);
    expect((await verifyLog(app.ctx())).valid).toBe(true);
  });

  it('a rollout that has to halt touches no further site, and halts afterwards', async () => {
    app.site(0).faults.breaks = { [`${SHOP}@2.0`]: 'fatal' };
    const { rollout_id: id } = await app.start({ waves: { ...WAVES, canaries: 3, halt_sites: 1 } });
    await chunk();
    expect((await app.read(id)).counts).toEqual({ rolled_back: 1, queued: 2, untouched: 2 });
    await withoutLog(app.db, async () => {
      for (let tries = 0; tries < 3; tries++) {
        app.clock.move(60_000);
        await chunk().catch((error: unknown) => expect(error).toMatchObject({ code: 'svc_storage_unavailable' }));
        await advance();
      }
    });
    expect(await app.read(id)).toMatchObject({ state: 'running', halted_items: [] });
    expect(sent()).toEqual([1, 0, 0, 0, 0]);
    app.clock.move(60_000);
    await app.turn();
    expect(await app.read(id)).toMatchObject({ state: 'halted', counts: { rolled_back: 1, untouched: 4 } });
    expect(sent()).toEqual([1, 0, 0, 0, 0]);
    expect(await story(id)).toEqual(['started', 'wave-started', 'item-halted', 'halted', 'ended']);
  });
});
