/** One site that says that versions break it keeps them from the others for a day, not until the next time of a weekly policy. */

import { beforeEach, describe, expect, it } from 'vitest';
import { putGuard } from '../../src/demo/guard/state.js';
import { runPolicies } from '../../src/domain/policies/run.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { type RestApp, restApp } from '../rest/client.js';
import { ordinary, running } from '../safety/safety-app.js';
import { SYSTEM } from '../support/harness.js';
import { newKey } from '../support/logins.js';

const SITES = 8;
/** The index of the site that lies. */
const LIAR = 5;
const SHOP = 'shop/shop.php';
const OTHER = 'other/other.php';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let app: RestApp;
let token = '';

beforeEach(async () => {
  app = await restApp({
    sites: SITES,
    fleet: { plugins: 4 },
    config: { job_delay_ms: 0, direct_call_ms: DAY },
    jobs: false,
  });
  for (const [index, site] of app.fleet.sites.entries()) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    site.state.translations = [];
    site.state.wpUpdate = null;
    putGuard(site);
    const [shop, other] = ordinary(site);
    if (shop === undefined || other === undefined) throw new Error('a site without plugins');
    const told = { version: '1.0', active: true, premium: false };
    const update = { version: '2.0', requiresPhp: '', requiresWp: '' };
    Object.assign(shop, { ...told, slug: SHOP, name: 'Shop', update });
    // With an update more than the others have it is the first canary.
    if (index === LIAR || index === 6)
      Object.assign(other, { ...told, slug: OTHER, name: 'Other', update: { ...update } });
    await app.connect(index);
  }
  token = (await newKey(app.service.store.keys, { approves: true })).token;
  for (let id = 1; id <= SITES; id++) await app.call('get-site-guard', { site_id_or_domain: id });
});

function lies(how: 'fatal' | 'adds_administrator') {
  app.fleet.site(LIAR).faults.breaks = { [`${SHOP}@2.0`]: how, [`${OTHER}@2.0`]: 'fatal' };
}
const own = (call: string, body?: object) => app.rest(call, { token, body });
const versions = () =>
  app.fleet.sites.map(({ state }) => state.plugins.find(({ slug }) => slug === SHOP)?.version).join(' ');
const OTHERS = '2.0 2.0 2.0 2.0 2.0 1.0 2.0 2.0';

/** The hours one by one, as the timetable would go through them. */
async function hours(count: number) {
  for (let hour = 0; hour < count; hour++) {
    app.clock.move(HOUR);
    await app.service.store.quarantine.narrow(app.clock.now());
    await runPolicies(app.ctx({ actor: SYSTEM }));
    for (let turns = 0; turns < 3; turns++) {
      await advanceRollouts(app.ctx({ actor: SYSTEM }));
      await running(app, app.drain());
    }
  }
}
/** Up to the next full hour of this weekday. */
async function until(day: number, hour: number) {
  const now = new Date(app.clock.now());
  const days = (day - now.getUTCDay() + 7) % 7 || 7;
  const time = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + days, hour);
  app.clock.move(time - app.clock.now() - HOUR);
  await hours(1);
}
const weekly = (waves?: object) =>
  own('POST /policies', {
    ...{ name: 'weekly', schedule: { at: '02:00', days: ['mon'] }, approval: 'auto' },
    ...(waves !== undefined && { waves }),
  });

describe.each(['fatal', 'adds_administrator'] as const)('a site that says that each version breaks it (%s)', (how) => {
  it.each([
    ['the only canary', { canaries: 1 }],
    ['one of three canaries', undefined],
  ])('as %s', async (_what, waves) => {
    lies(how);
    await weekly(waves);
    await until(1, 1);
    expect(versions()).toBe('1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0');
    await hours(2);
    expect(app.fleet.site(LIAR).state.plugins.find(({ slug }) => slug === SHOP)?.version).toBe('1.0');
    // A day after that rollout had ended it acts once more, with another site first.
    await hours(32);
    expect(versions()).toBe(OTHERS);
    const { body } = await own('GET /rollouts');
    const states = body.data.map(({ state }: { state: string }) => state);
    expect(states[0]).toBe('completed');
    expect(states).toHaveLength(2);
    const { data } = (await own('GET /policies')).body;
    expect(data[0].last).toMatchObject({
      state: 'started',
      detail: expect.stringMatching(/ Once more, as a single site /),
    });
    // Its next time is the one of its schedule again.
    expect(new Date(data[0].next_at).getUTCDay()).toBe(1);
  });
});

it('keeps it from the others for a day under a daily policy, too', async () => {
  lies('fatal');
  await own('POST /policies', {
    ...{ name: 'daily', schedule: { at: '02:00' }, approval: 'auto', waves: { canaries: 1 } },
  });
  await until(1, 1);
  app.clock.move(HOUR);
  await runPolicies(app.ctx({ actor: SYSTEM }));
  // The canary breaks some minutes after the time, and so is free again some minutes after the next one.
  app.clock.move(600_000);
  for (let turns = 0; turns < 3; turns++) {
    await advanceRollouts(app.ctx({ actor: SYSTEM }));
    await running(app, app.drain());
  }
  expect(versions()).toBe('1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0');
  app.clock.move(3_000_000);
  // A day, and the pauses between waves; before the policy's time on Wednesday.
  await hours(34);
  expect(versions()).toBe(OTHERS);
});

it('a version that is bad on every site breaks one, a day later a second one, and then no other', async () => {
  for (const site of app.fleet.sites) site.faults.breaks = { [`${SHOP}@2.0`]: 'fatal' };
  await weekly({ canaries: 1 });
  await until(1, 1);
  const broken = async () => {
    const rows = await app.db.all(
      "SELECT DISTINCT site_id FROM update_run_item WHERE state IN ('failed', 'rolled_back')",
    );
    return rows.length;
  };
  await hours(3);
  expect(await broken()).toBe(1);
  await hours(30);
  expect(await broken()).toBe(2);
  // The next time of the policy, and a day after it.
  await hours(7 * 24);
  expect(await broken()).toBe(2);
  expect(versions()).toBe('1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0');
  const [held] = (await app.call('list-quarantined-versions', {})).versions;
  expect(held).toMatchObject({ slug: SHOP, scope: 'fleet', fleet_until: null });
});

it('a rollout that a person has ended is not followed by another one', async () => {
  app.fleet.site(LIAR).faults.breaks = { [`${OTHER}@2.0`]: 'fatal' };
  await weekly({ canaries: 1, soak_minutes: 600 });
  await until(1, 1);
  await hours(2);
  const [{ rollout_id, state }] = (await own('GET /rollouts')).body.data;
  expect(state).toBe('running');
  const { halted_items } = await app.call('get-rollout', { rollout_id });
  expect(halted_items).toMatchObject([{ slug: OTHER }]);
  await app.call('control-rollout', { rollout_id, action: 'abort', confirm: true });
  await hours(60);
  const { body } = await own('GET /rollouts');
  expect(body.data.map((each: { state: string }) => each.state)).toEqual(['aborted']);
});
