/** A bad version in a rollout of five waves: it is rolled back on the canaries, and no other site is touched. */

import { beforeAll, describe, expect, it } from 'vitest';
import { shortOrLong } from '../robustness/soak.js';
import { tokens } from '../support/tokens.js';
import { type RolloutApp, rolloutApp, SHOP } from './rollout-app.js';

const SITES = shortOrLong(60, 1_000);
/** Five waves: the last has the rest. */
const SIZES = SITES === 60 ? [5, 10, 15, 15] : [20, 100, 200, 300];
const [CANARIES = 0, ...NEXT] = SIZES;
const PLAN = { waves: { canaries: CANARIES, sizes: NEXT, soak_minutes: 30 } };

let app: RolloutApp;
let id: string;

beforeAll(async () => {
  app = await rolloutApp(SITES);
  for (const site of app.fleet.sites) site.faults.breaks = { [`${SHOP}@2.0`]: 'fatal' };
  ({ rollout_id: id } = await app.start(PLAN));
  await app.turn();
  for (let wave = 1; wave <= 5; wave++) await app.after(31);
});

describe('a bad version', () => {
  it('is planned in an answer that a model can read', async () => {
    expect(tokens(await app.plan(PLAN))).toBeLessThan(1_500);
    expect(tokens(await app.read(id))).toBeLessThan(3_000);
  });

  it('is rolled back on all canaries, and goes no further', async () => {
    const rollout = await app.read(id, { per_page: 50 });
    expect(rollout).toMatchObject({ state: 'halted', next: '', halted_items: [{ slug: SHOP, version: '2.0' }] });
    const undone = await app.sites(id, 'rolled_back');
    expect(undone).toHaveLength(CANARIES);
    expect(rollout.counts).toEqual({ rolled_back: CANARIES, untouched: SITES - CANARIES });
    expect(rollout.waves.map(({ sites, state }: { sites: number; state: string }) => [sites, state])).toEqual([
      [CANARIES, 'running'],
      ...NEXT.map((size) => [size, 'waiting']),
      [SITES - SIZES.reduce((sum, size) => sum + size, 0), 'waiting'],
    ]);
    for (const { version } of app.plugins) expect(version).toBe('1.0');
    for (const [index, { guard }] of app.fleet.sites.entries()) {
      expect(guard?.armed).toEqual([]);
      if (!undone.includes(index + 1)) expect(guard?.kept ?? []).toEqual([]);
    }
  });

  it('is told by the log alone', async () => {
    const { actions } = await app.call('list-actions', { per_page: 100 });
    const story = actions
      .filter(
        ({ context, action }: { context: string; action: string }) => context === 'rollout' || action === 'rolled-back',
      )
      .reverse();
    const said = story.map(({ context, action, detail, site_id }: Record<string, string>) =>
      context === 'rollout' ? [action, detail] : [action, site_id],
    );
    const undone = await app.sites(id, 'rolled_back');
    expect(said[0]).toEqual(['started', expect.stringContaining(`${SITES} updates on ${SITES} sites in 5 waves`)]);
    expect(said[1]).toEqual(['wave-started', `Wave 1: ${CANARIES} updates on ${CANARIES} sites.`]);
    expect(said.filter(([action]: string[]) => action === 'wave-started')).toHaveLength(1);
    expect(
      said
        .filter(([action]: string[]) => action === 'rolled-back')
        .map(([, site]: unknown[]) => site)
        .sort(),
    ).toEqual([...undone].sort());
    expect(said.filter(([action]: string[]) => action === 'item-halted')).toEqual([
      ['item-halted', expect.stringMatching(/shop\/shop\.php.* 2\.0 broke site \d+/)],
    ]);
    expect(said.filter(([action]: string[]) => action === 'halted')).toHaveLength(1);
    expect(said.at(-1)).toEqual([
      'ended',
      expect.stringContaining(`halted: ${CANARIES} rolled back, ${SITES - CANARIES} never touched.`),
    ]);
    for (const { actor, slug, context } of story)
      expect([actor, context === 'rollout' ? slug : id]).toEqual(['admin', id]);
  });
});
