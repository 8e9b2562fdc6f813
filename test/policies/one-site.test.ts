/** One site that says that versions break it keeps them from the others for a day, not until the next time of a weekly policy. */

import { beforeEach, describe, expect, it } from 'vitest';
import { runPolicies } from '../../src/domain/policies/run.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { running } from '../safety/safety-app.js';
import { SYSTEM } from '../support/harness.js';
import { type FirstSite, firstSite, HOUR, OTHER, SHOP } from './first-site.js';

/** The index of the site that lies. */
const LIAR = 5;

let app: FirstSite;
let own: FirstSite['own'];
let hours: FirstSite['hours'];
let until: FirstSite['until'];
let weekly: FirstSite['weekly'];
let versions: FirstSite['versions'];

beforeEach(async () => {
  app = await firstSite(8, LIAR, 6);
  ({ own, hours, until, weekly, versions } = app);
});

function lies(how: 'fatal' | 'adds_administrator') {
  app.faults.breaks = { [`${SHOP}@2.0`]: how, [`${OTHER}@2.0`]: 'fatal' };
}
const OTHERS = '2.0 2.0 2.0 2.0 2.0 1.0 2.0 2.0';

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
