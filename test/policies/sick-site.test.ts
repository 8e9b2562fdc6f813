/** One site that is not updated, for whatever reason, keeps updates from the others for a day only; two let a person decide. */

import { describe, expect, it } from 'vitest';
import type { Faults, PageChange } from '../../src/demo/faults.js';
import { runPolicies } from '../../src/domain/policies/run.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { SYSTEM } from '../support/harness.js';
import { type FirstSite, firstSite, HOUR, OTHER, SHOP } from './first-site.js';

/** The index of the site that is sick. */
const SICK = 5;
const ONE = { canaries: 1 };

/** What Sitefleet asks for before an update has this parameter, and no visitor's request has: all else works. */
const unhealthy: PageChange = (answer, { path, query }) =>
  path === '' && query('sitefleet') !== '' ? { ...answer, status: 500 } : answer;
const WELL: Faults = {
  ...{ emptyFrame: undefined, offline: undefined, maintenance: undefined, renames: undefined, pages: undefined },
};
const WAYS: [string, Faults][] = [
  ['it is unhealthy for our looks', { pages: unhealthy }],
  ['it is offline', { offline: true }],
  ['it is in maintenance', { maintenance: true }],
  ['it answers with nothing', { emptyFrame: true }],
  ['the main file is renamed', { renames: { [SHOP]: 'shop/shop2.php', [OTHER]: 'other/other2.php' } }],
];

/** The hours around the policy's time, in which alone the site has these faults; then what is left of three days. */
async function hourOf(app: FirstSite, faults: Faults, index = SICK) {
  await app.until(0, 23);
  Object.assign(app.fleet.site(index).faults, WELL);
  await app.hours(2);
  Object.assign(app.fleet.site(index).faults, faults);
  await app.hours(2);
  Object.assign(app.fleet.site(index).faults, WELL);
  await app.hours(60);
}
const statesOf = async (app: FirstSite) => (await app.rollouts()).map(({ state }) => state);
const atVersion = (app: FirstSite, version: string) =>
  app
    .versions()
    .split(' ')
    .filter((one, index) => index !== SICK && one === version).length;

describe.each(WAYS)('if in the hour of the policy %s', (_what, faults) => {
  it('the others have their updates a day later, and the next time another site is first', async () => {
    const app = await firstSite(8, SICK, 6);
    await app.weekly(ONE);
    await hourOf(app, faults);
    expect(await statesOf(app)).toEqual(['completed', 'halted']);
    expect(atVersion(app, '2.0')).toBe(7);
    const { data } = (await app.own('GET /policies')).body;
    expect(data[0].last.detail).toMatch(/ Once more, as a single site /);
    // The next version.
    for (const site of app.fleet.sites)
      for (const plugin of site.state.plugins)
        if (plugin.slug.startsWith('shop/') || plugin.slug.startsWith('other/'))
          plugin.update = { version: '3.0', requiresPhp: '', requiresWp: '' };
    await app.call('sync-sites', {});
    await hourOf(app, faults);
    expect((await statesOf(app)).slice(0, -2)).not.toContain('halted');
    expect(atVersion(app, '3.0')).toBe(7);
  });
});

it('a fleet of three sites has one canary, and is not held up by it either', async () => {
  const app = await firstSite(3, 1, 2);
  await app.weekly();
  await hourOf(app, { offline: true }, 1);
  expect(await statesOf(app)).toEqual(['completed', 'halted']);
  // It is well by then.
  expect(app.versions()).toBe('2.0 2.0 2.0');
});

it('a site that is down after its update, where one such site halts all', async () => {
  const app = await firstSite(8, SICK, 6);
  await app.weekly({ ...ONE, halt_sites: 1 });
  await app.until(1, 1);
  await app.hours(1);
  app.faults.offline = true;
  await app.hours(2);
  app.faults.offline = undefined;
  expect(await app.rollouts()).toMatchObject([{ state: 'halted', reason: expect.stringContaining('went down') }]);
  await app.hours(30);
  expect(atVersion(app, '2.0')).toBe(7);
});

it('a site that says that it has the version already', async () => {
  const app = await firstSite(8, SICK, 6);
  await app.weekly(ONE);
  await app.until(1, 1);
  for (const plugin of app.fleet.site(SICK).state.plugins)
    if (plugin.slug === SHOP || plugin.slug === OTHER) Object.assign(plugin, { version: '2.0', update: null });
  await app.hours(2);
  expect(await app.rollouts()).toMatchObject([{ state: 'halted', counts: { failed: 2 } }]);
  await app.hours(30);
  expect(atVersion(app, '2.0')).toBe(7);
});

it('a site that fails beside one that is left as it is', async () => {
  const app = await firstSite(8, SICK, 6);
  await app.weekly();
  await app.until(0, 23);
  await app.hours(2);
  app.faults.renames = { [SHOP]: 'shop/shop2.php', [OTHER]: 'other/other2.php' };
  app.fleet.site(0).faults.pages = unhealthy;
  await app.hours(2);
  expect(await app.rollouts()).toMatchObject([{ state: 'halted', counts: { kept: 3, skipped: 1 } }]);
  await app.hours(60);
  expect(await statesOf(app)).toEqual(['completed', 'halted']);
  expect(atVersion(app, '1.0')).toBe(1);
});

it('two sick sites', async () => {
  const app = await firstSite(8, SICK, 6);
  await app.weekly({ canary_sites: [SICK + 1, SICK + 2] });
  app.fleet.site(SICK + 1).faults.pages = unhealthy;
  await hourOf(app, { pages: unhealthy });
  expect(await statesOf(app)).toEqual(['halted']);
});

/** A rollout whose first site has its turn, and has not begun. */
async function begun(): Promise<FirstSite> {
  const app = await firstSite(8, SICK, 6);
  await app.weekly(ONE);
  await app.until(1, 1);
  app.clock.move(HOUR);
  await runPolicies(app.ctx({ actor: SYSTEM }));
  await advanceRollouts(app.ctx({ actor: SYSTEM }));
  return app;
}

it('a job that a person cancelled', async () => {
  const app = await begun();
  const { jobs } = app.service.store;
  const job = (await jobs.list(10)).find(({ type }) => type === 'update');
  await app.call('cancel-job', { job_id: job?.id, confirm: true });
  await app.hours(60);
  expect(await statesOf(app)).toEqual(['halted']);
  expect(app.versions()).toBe('1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0');
});

it('an update that a person has ignored since it was planned', async () => {
  const app = await begun();
  await app.call('ignore-site-plugins', { site_id_or_domain: SICK + 1, action: 'add', slugs: [SHOP, OTHER] });
  await app.hours(60);
  expect(await statesOf(app)).toEqual(['halted']);
});

it('a site that a person has named as the first stays the first', async () => {
  const app = await firstSite(8, SICK, 6);
  await app.weekly({ canary_sites: [SICK + 1] });
  app.faults.pages = unhealthy;
  await app.until(1, 1);
  await app.hours(10 * 24);
  // Two weeks, each with another try a day later.
  expect(await statesOf(app)).toEqual(['halted', 'halted', 'halted', 'halted']);
  expect(atVersion(app, '1.0')).toBe(7);
});

it('a site that breaks after those that a person has named as the first, which have no update any more', async () => {
  const app = await firstSite(12, 6, 7);
  await app.weekly({ canary_sites: [4, 5] });
  app.fleet.site(0).faults.breaks = { [`${SHOP}@2.0`]: 'fatal' };
  await app.until(1, 1);
  await app.hours(72);
  expect(app.versions().split(' ')).toEqual(Array.from({ length: 12 }, (_, index) => (index === 0 ? '1.0' : '2.0')));
  expect((await app.own('GET /policies')).body.data[0].last.state).toBe('started');
  // The next version: it has its turn behind all others, and alone.
  for (const { state } of app.fleet.sites)
    for (const plugin of state.plugins)
      if (plugin.slug === SHOP) plugin.update = { version: '3.0', requiresPhp: '', requiresWp: '' };
  await app.call('sync-sites', {});
  const { plan_id, waves } = await app.call('plan-updates', { types: ['plugins'], waves: { sizes: [2] } });
  expect(waves.at(-1)).toMatchObject({ sites: 1 });
  const items = await app.service.store.rolloutPlans.items(plan_id);
  expect(items.filter(({ wave }) => wave === waves.length).map(({ site_id }) => site_id)).toEqual([1]);
});
