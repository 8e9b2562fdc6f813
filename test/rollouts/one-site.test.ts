/**
 * What one site shows, or says, of a version keeps it from the others for a day at most: the rollout waits, and goes on.
 * Two sites keep it from the others until a person decides.
 */

import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, SYSTEM } from '../support/harness.js';
import { type RolloutApp, rolloutApp, SHOP } from './rollout-app.js';

const SITES = 8;
const HOUR = 60;
const EXTRA = 'extra/extra.php';

let app: RolloutApp;

beforeEach(async () => {
  app = await rolloutApp(SITES);
});

/** As the timetable does each minute. */
async function pass(minutes: number) {
  app.clock.move(minutes * 60_000);
  await app.service.store.quarantine.narrow(app.clock.now());
  await app.turn();
}
const versions = () => app.plugins.map(({ version }) => version).join(' ');
const breaks = (site: number, how: string, slug = SHOP, version = '2.0') => {
  app.site(site - 1).faults.breaks = { ...app.site(site - 1).faults.breaks, [`${slug}@${version}`]: how as 'fatal' };
};
/** The steps of all rollouts in the log, oldest first. */
async function steps(): Promise<string[]> {
  const { actions } = await app.call('list-actions', { per_page: 100, details: true });
  return actions
    .filter(({ context }: Answer) => context === 'rollout')
    .map(({ action }: Answer) => action)
    .reverse();
}
const scopes = async () =>
  (await app.call('list-quarantined-versions', {})).versions.map(({ slug, scope, fleet_until }: Answer) => [
    slug,
    scope,
    fleet_until !== null,
  ]);

/** A second plugin with an update on these sites. */
async function offerExtra(sites: readonly number[]) {
  const plugins = sites.map((site) => {
    const plugin = app.offer(app.site(site - 1), 1, '9.0');
    return Object.assign(plugin, { slug: EXTRA, name: 'Extra', version: '8.0' });
  });
  await app.call('sync-sites', {});
  return plugins;
}

const ONE = { waves: { canaries: 1, sizes: [3], soak_minutes: 30 } };

describe('a version that breaks the only canary', () => {
  it('by our own evidence, is tried on the others a day later, and the log says so', async () => {
    breaks(1, 'fatal');
    const { rollout_id: id } = await app.start(ONE);
    await app.turn();
    expect(await scopes()).toEqual([[SHOP, 'fleet', true]]);
    await pass(12 * HOUR);
    await pass(11 * HOUR);
    const rollout = await app.read(id);
    expect(rollout).toMatchObject({
      state: 'running',
      counts: { rolled_back: 1, untouched: 7 },
      halted_items: [{ slug: SHOP, version: '2.0', site_id: 1, until: expect.any(String) }],
    });
    expect(Date.parse(rollout.halted_items[0].until) - Date.parse(rollout.halted_items[0].at)).toBeLessThan(86_400_001);
    expect(versions()).toBe('1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0');
    await pass(2 * HOUR);
    await pass(1);
    expect(versions()).toBe('1.0 2.0 2.0 2.0 1.0 1.0 1.0 1.0');
    await pass(31);
    expect(versions()).toBe('1.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0');
    expect(await app.read(id)).toMatchObject({
      state: 'completed',
      counts: { rolled_back: 1, kept: 7 },
      halted_items: [],
    });
    const wave = ['wave-started', 'wave-ended'];
    expect(await steps()).toEqual([
      ...['started', 'wave-started', 'item-halted', 'wave-ended', 'wave-held', 'item-released', 'wave-released'],
      ...[...wave, ...wave, 'ended'],
    ]);
  });

  it('by the word of its guard, is tried on the others within a day', async () => {
    breaks(1, 'adds_administrator');
    const { rollout_id: id } = await app.start(ONE);
    await app.turn();
    expect(await scopes()).toEqual([[SHOP, 'site', false]]);
    await pass(31);
    expect(await app.read(id)).toMatchObject({ state: 'running', halted_items: [] });
    await pass(24 * HOUR);
    await pass(31);
    expect(versions()).toBe('1.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0');
    expect(await app.read(id)).toMatchObject({ state: 'completed', counts: { rolled_back: 1, kept: 7 } });
  });
});

it('of several canaries, one that breaks by the word of its guard leaves the version out at itself alone', async () => {
  breaks(2, 'adds_administrator');
  const { rollout_id: id } = await app.start({ waves: { canaries: 3, soak_minutes: 30 } });
  await app.turn();
  await pass(31);
  expect(versions()).toBe('2.0 1.0 2.0 2.0 2.0 2.0 2.0 2.0');
  expect(await app.read(id)).toMatchObject({ state: 'completed', counts: { rolled_back: 1, kept: 7 } });
});

it('what broke one site waits in a wave of its own, and the other updates do not', async () => {
  const extras = await offerExtra([1, 2, 3, 4, 5, 6, 7, 8]);
  breaks(1, 'fatal', EXTRA, '9.0');
  const { rollout_id: id } = await app.start(ONE);
  await app.turn();
  await pass(31);
  await pass(31);
  await pass(31);
  expect(versions()).toBe('2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0');
  expect(extras.map(({ version }) => version).join(' ')).toBe('8.0 8.0 8.0 8.0 8.0 8.0 8.0 8.0');
  const rollout = await app.read(id, { per_page: 50 });
  expect(rollout).toMatchObject({ state: 'running', counts: { kept: 8, rolled_back: 1, untouched: 7 } });
  expect(rollout.waves.map(({ wave, later_of, sites, updates }: Answer) => [wave, later_of, sites, updates])).toEqual([
    [1, null, 1, 2],
    [2, null, 3, 3],
    [3, null, 4, 4],
    [4, 2, 3, 3],
    [5, 3, 4, 4],
  ]);
  expect(rollout.next).toMatch(/^Wave 4 .* or until \S+ for what broke one site\.$/);
  await pass(24 * HOUR);
  await pass(31);
  await pass(1);
  expect(extras.map(({ version }) => version).join(' ')).toBe('8.0 9.0 9.0 9.0 9.0 9.0 9.0 9.0');
  expect(await app.read(id)).toMatchObject({ state: 'completed', counts: { kept: 15, rolled_back: 1 } });
});

it('a site whose turn had begun when another one broke gets the version later, too', async () => {
  breaks(1, 'fatal');
  await app.start({ waves: { canaries: 2, sizes: [], soak_minutes: 30 } });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  // Something else works on the second canary.
  const { locks, signal } = app.ctx({ actor: SYSTEM });
  const working = locks.exclusive(2, signal, () => released);
  const turn = app.turn();
  await expect.poll(scopes, { timeout: 20_000 }).toEqual([[SHOP, 'fleet', true]]);
  release();
  await Promise.all([working, turn]);
  expect(versions()).toBe('1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0');
  for (const minutes of [25 * HOUR, 31, 31, 31, 31]) await pass(minutes);
  expect(versions()).toBe('1.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0');
});

it('a second site confirms it: it goes to no further one, until a person lifts the quarantine', async () => {
  const extras = await offerExtra([1, 2, 3, 4, 5, 6, 7, 8]);
  breaks(1, 'fatal', EXTRA, '9.0');
  breaks(2, 'fatal', EXTRA, '9.0');
  const { rollout_id: id } = await app.start({ waves: { canaries: 1, sizes: [1], soak_minutes: 30, approve: true } });
  await app.turn();
  await pass(25 * HOUR);
  await app.safely('control-rollout', { rollout_id: id, action: 'approve_next_wave', confirm: true });
  await app.turn();
  expect(await scopes()).toEqual([[EXTRA, 'fleet', false]]);
  expect(await app.read(id)).toMatchObject({ halted_items: [{ slug: EXTRA, site_id: 1, until: null }] });
  await pass(100 * HOUR);
  expect(extras.map(({ version }) => version).join(' ')).toBe('8.0 8.0 8.0 8.0 8.0 8.0 8.0 8.0');
  expect(await app.read(id)).toMatchObject({ approval_wave: 3, halted_items: [{ slug: EXTRA, until: null }] });
  await app.call('lift-quarantine', { type: 'plugin', slug: EXTRA, version: '9.0' });
  await app.turn();
  expect(await app.read(id)).toMatchObject({ approval_wave: 3, halted_items: [] });
  await app.safely('control-rollout', { rollout_id: id, action: 'approve_next_wave', confirm: true });
  await app.turn();
  expect(extras.map(({ version }) => version).join(' ')).toBe('8.0 8.0 9.0 9.0 9.0 9.0 9.0 9.0');
});

it.each([
  ['its update fails', () => void Object.assign(app.site(0).faults, { failUpdates: true })],
  [
    'it takes back what it offered',
    async () => {
      Object.assign(app.plugins[0] ?? {}, { update: null });
      await app.call('sync-sites', { site_ids_or_domains: [1] });
    },
  ],
])('an only canary keeps a version from the others for a day at most: %s', async (_what, lie) => {
  const { plan_id, digest } = await app.plan(ONE);
  await lie();
  const { rollout_id: id } = await app.safely('start-rollout', { plan_id, digest, confirm: true });
  await app.turn();
  await pass(31);
  expect(await app.read(id)).toMatchObject({ state: 'running', waves: [{ state: 'soaking' }, {}, {}] });
  expect(versions()).toBe('1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0');
  await pass(24 * HOUR);
  await pass(31);
  expect(versions()).toBe('1.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0');
});

it('a person who stops the rollout while it waits stops it for good', async () => {
  breaks(1, 'fatal');
  const { rollout_id: id } = await app.start(ONE);
  await app.turn();
  await pass(31);
  const control = (action: string) => app.safely('control-rollout', { rollout_id: id, action, confirm: true });
  await control('pause');
  await pass(48 * HOUR);
  expect(await app.read(id)).toMatchObject({ state: 'paused', counts: { rolled_back: 1, untouched: 7 } });
  await control('abort');
  await pass(48 * HOUR);
  expect(await app.read(id)).toMatchObject({ state: 'aborted', counts: { rolled_back: 1, untouched: 7 } });
});

it('a site that is halted alone, where a person said that one halts all, halts the rollout', async () => {
  breaks(1, 'fatal');
  const { rollout_id: id } = await app.start({ waves: { ...ONE.waves, halt_sites: 1 } });
  await app.turn();
  await pass(48 * HOUR);
  expect(await app.read(id)).toMatchObject({ state: 'halted', reason: '1 site broke or went down; the limit is 1.' });
});
