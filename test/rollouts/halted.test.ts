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
      [CANARIES, 'stopped'],
      ...NEXT.map((size) => [size, 'not_begun']),
      [SITES - SIZES.reduce((sum, size) => sum + size, 0), 'not_begun'],
    ]);
    for (const { version } of app.plugins) expect(version).toBe('1.0');
    for (const [index, { guard }] of app.fleet.sites.entries()) {
      expect(guard?.armed).toEqual([]);
      if (!undone.includes(index + 1)) expect(guard?.kept ?? []).toEqual([]);
    }
  });

  it('is told by the log alone', async () => {
    const story = storyOf(await wholeLog());
    const changed = app.fleet.sites.flatMap(({ guard }, index) => ((guard?.kept.length ?? 0) > 0 ? [index + 1] : []));
    expect(changed).toHaveLength(CANARIES);
    expect(story).toEqual({
      by: 'admin',
      planned: [SITES, SITES, 5],
      steps: ['started', 'wave-started', 'item-halted', 'halted', 'ended'],
      begun: [[1, CANARIES, CANARIES]],
      tried: changed.map((site) => [site, SHOP, '1.0', '2.0', 'svc_update_rolled_back']),
      undone: changed.map((site) => [site, SHOP, '2.0', '1.0']),
      stopped: [expect.stringMatching(/shop\/shop\.php 2\.0 broke site \d+: it goes to no further site\.$/)],
      why: expect.stringMatching(/^\d+ sites? broke or went down; the limit is 3\.$/),
      end: `halted: ${CANARIES} rolled back, ${SITES - CANARIES} never touched. ${story.why}`,
    });
    // None of the sites that were never touched is in it since the start, and nothing else happened.
    expect(story.tried.map(([site]) => site)).toEqual(changed);
  });
});

type Entry = Record<'actor' | 'context' | 'action' | 'slug' | 'detail' | 'code', string> &
  Record<'old_version' | 'new_version' | 'operation' | 'request_id', string> & { id: number; site_id: number | null };

/** All pages, oldest first. */
async function wholeLog(): Promise<Entry[]> {
  const all: Entry[] = [];
  for (let page = 1; ; page++) {
    const { actions, total } = await app.call('list-actions', { page, per_page: 100, details: true });
    all.push(...actions);
    if (all.length >= total) return all.reverse();
  }
}

/** What the only rollout did, by the entries of the log and by nothing else. */
function storyOf(entries: readonly Entry[]) {
  const start = entries.find(({ context, action }) => context === 'rollout' && action === 'started');
  if (start === undefined) throw new Error('no rollout is in the log');
  const after = entries.slice(entries.indexOf(start));
  const steps = after.filter(({ context, slug }) => context === 'rollout' && slug === start.slug);
  const details = (action: string) => steps.filter((step) => step.action === action).map(({ detail }) => detail);
  const numbers = (detail = '') => (detail.match(/\b\d+\b/g) ?? []).map(Number);
  // What it did on sites is its starter's, of the same request.
  const onSites = after
    .filter((entry) => entry.site_id !== null)
    .map((entry) => ({ ...entry, ours: entry.request_id === start.request_id && entry.operation === start.operation }))
    .sort((a, b) => Number(a.site_id) - Number(b.site_id));
  expect(onSites.filter(({ ours, actor }) => !ours || actor !== start.actor)).toEqual([]);
  const told = (wanted: string, ...more: (keyof Entry)[]) =>
    onSites
      .filter(({ action }) => action === wanted)
      .map((entry) => (['site_id', 'slug', 'old_version', 'new_version', ...more] as const).map((name) => entry[name]));
  return {
    by: start.actor,
    planned: numbers(start.detail).slice(0, 3),
    steps: steps.map(({ action }) => action),
    begun: details('wave-started').map(numbers),
    tried: told('updated', 'code'),
    undone: told('rolled-back'),
    stopped: details('item-halted'),
    why: details('halted')[0],
    end: details('ended')[0],
  };
}
