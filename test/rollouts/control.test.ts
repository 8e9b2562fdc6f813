/** Rollouts as they are started, paused, resumed, aborted and approved, and what they skip because it has changed. */

import { beforeAll, describe, expect, it } from 'vitest';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { type Answer, SYSTEM } from '../support/harness.js';
import { type RolloutApp, rolloutApp, SHOP } from './rollout-app.js';

const SITES = 8;

let app: RolloutApp;

beforeAll(async () => {
  app = await rolloutApp(SITES);
});

/** Offers the next version everywhere: as a fleet that was never updated. */
async function offerAgain(version: string) {
  for (const plugin of app.plugins) plugin.update = { version, requiresPhp: '', requiresWp: '' };
  await app.call('sync-sites', {});
}
const states = ({ waves }: Answer) => waves.map(({ state }: { state: string }) => state);
const control = (rollout_id: string, action: string) =>
  app.safely('control-rollout', { rollout_id, action, confirm: true });
const refused = (rollout_id: string, action: string) =>
  app.fail('control-rollout', { rollout_id, action, confirm: true });
const WAVES = { canaries: 2, sizes: [3], soak_minutes: 30 };

describe('a start', () => {
  it('needs the confirmation, the digest that was shown, and a plan that has not lapsed', async () => {
    const { plan_id, digest } = await app.plan({ waves: WAVES });
    const start = { plan_id, digest, confirm: true };
    expect(await app.fail('start-rollout', { plan_id, digest })).toMatchObject({ code: 'svc_confirmation_required' });
    expect(await app.fail('start-rollout', { ...start, digest: 'x' })).toMatchObject({ code: 'svc_plan_changed' });
    expect(await app.fail('start-rollout', { ...start, plan_id: 'x' })).toMatchObject({ code: 'svc_plan_not_found' });
    expect(await app.call('start-rollout', { plan_id, digest, dry_run: true })).toMatchObject({
      dry_run: true,
      already_started: false,
      waves: 3,
      sites: SITES,
      updates: SITES,
    });
    const empty = await app.plan({ types: ['core'] });
    expect(await app.fail('start-rollout', { ...start, plan_id: empty.plan_id, digest: empty.digest })).toMatchObject({
      code: 'svc_no_updates',
    });
    app.clock.move(86_400_000);
    expect(await app.fail('start-rollout', start)).toMatchObject({ code: 'svc_plan_changed' });
    expect(await app.call('list-rollouts')).toMatchObject({ total: 0 });
    for (const plugin of app.plugins) expect(plugin.version).toBe('1.0');
  });

  it('of two at once gives both the same rollout', async () => {
    const { plan_id, digest } = await app.plan({ waves: WAVES });
    const start = () => app.call('start-rollout', { plan_id, digest, confirm: true });
    const answers = await app.running(Promise.all([start(), start()]));
    expect(answers.map(({ already_started }) => already_started).sort()).toEqual([false, true]);
    expect(new Set(answers.map(({ rollout_id }) => rollout_id)).size).toBe(1);
    expect(await app.call('list-rollouts')).toMatchObject({ total: 1 });
    await app.turn();
    expect(await start()).toMatchObject({ already_started: true, rollout_id: answers[0].rollout_id });
    await app.after(31);
    await app.after(31);
    expect(await app.read(answers[0].rollout_id)).toMatchObject({ state: 'completed', counts: { kept: SITES } });
    // The plan had one wave after the other, each update was sent once.
    for (const site of app.fleet.sites) expect(site.faults).toEqual({});
    for (const { version } of app.plugins) expect(version).toBe('2.0');
    expect(await app.cell('SELECT count(*) FROM update_run')).toBe(3);
  });
});

describe('a rollout', () => {
  it('goes wave by wave, pauses, resumes, and is aborted for good', async () => {
    await offerAgain('3.0');
    const { rollout_id: id } = await app.start({ waves: WAVES });
    await app.turn();
    let rollout = await app.read(id);
    expect(states(rollout)).toEqual(['soaking', 'waiting', 'waiting']);
    expect(rollout.counts).toEqual({ kept: 2, untouched: 6 });
    expect(rollout.next).toMatch(/^Wave 1 soaks until /);
    await app.after(29);
    expect(states(await app.read(id))).toEqual(['soaking', 'waiting', 'waiting']);
    expect(await control(id, 'pause')).toMatchObject({ state: 'paused', next: expect.stringContaining('paused') });
    await app.after(60);
    expect(states(await app.read(id))).toEqual(['soaking', 'waiting', 'waiting']);
    expect(await refused(id, 'pause')).toMatchObject({ code: 'svc_rest_conflict' });
    expect(await control(id, 'resume')).toMatchObject({ state: 'running' });
    await app.turn();
    rollout = await app.read(id);
    expect(states(rollout)).toEqual(['done', 'soaking', 'waiting']);
    expect(rollout.counts).toEqual({ kept: 5, untouched: 3 });
    expect(await control(id, 'abort')).toMatchObject({ state: 'aborted' });
    await app.after(60);
    expect(await app.read(id)).toMatchObject({ state: 'aborted', next: '', counts: { kept: 5, untouched: 3 } });
    for (const action of ['resume', 'pause', 'abort', 'approve_next_wave'])
      expect([action, (await refused(id, action)).code]).toEqual([action, 'svc_rest_conflict']);
    expect(await refused('rollout_x', 'pause')).toMatchObject({ code: 'svc_rollout_not_found' });
  });

  it('begins no wave on a server that is read-only', async () => {
    await offerAgain('3.1');
    const { rollout_id: id } = await app.start({ waves: WAVES });
    await app.turn();
    app.clock.move(31 * 60_000);
    const ctx = app.ctx({ actor: SYSTEM });
    expect(await advanceRollouts({ ...ctx, config: { ...ctx.config, read_only: true } })).toBe('read only');
    expect(states(await app.read(id))).toEqual(['soaking', 'waiting', 'waiting']);
    await app.turn();
    expect(states(await app.read(id))).toEqual(['done', 'soaking', 'waiting']);
    await control(id, 'abort');
  });

  it('gives sites back that had not begun when it was paused', async () => {
    await offerAgain('4.0');
    const { rollout_id: id } = await app.start({ waves: { ...WAVES, canaries: 4 } });
    // Its first wave is queued, and no site has begun.
    expect((await app.read(id)).counts).toEqual({ queued: 4, untouched: 4 });
    await control(id, 'pause');
    await app.turn();
    expect((await app.read(id)).counts).toEqual({ untouched: 8 });
    await control(id, 'resume');
    await app.turn();
    expect((await app.read(id)).counts).toEqual({ kept: 4, untouched: 4 });
    expect(await app.cell("SELECT count(*) FROM update_run_item WHERE new_version = '4.0'")).toBe(4);
    await control(id, 'abort');
  });

  it('waits for the approval of each next wave, if the plan says so', async () => {
    await offerAgain('5.0');
    const { rollout_id: id } = await app.start({ waves: { ...WAVES, approve: true } });
    expect(await refused(id, 'approve_next_wave')).toMatchObject({ code: 'svc_rest_conflict' });
    await app.turn();
    await app.after(300);
    expect(await app.read(id)).toMatchObject({
      next: 'Wave 2 is waiting for approval.',
      counts: { kept: 2, untouched: 6 },
    });
    await control(id, 'approve_next_wave');
    expect(await refused(id, 'approve_next_wave')).toMatchObject({ code: 'svc_rest_conflict' });
    await app.turn();
    await app.after(300);
    expect(await app.read(id)).toMatchObject({
      next: 'Wave 3 is waiting for approval.',
      counts: { kept: 5, untouched: 3 },
      waves: [{ approved_by: null }, { approved_by: 'admin' }, { approved_by: null }],
    });
    await control(id, 'approve_next_wave');
    await app.turn();
    expect(await app.read(id)).toMatchObject({ state: 'completed', counts: { kept: 8 } });
  });

  it('keeps an item from all other sites once it broke one, and goes on with the others', async () => {
    await offerAgain('5.2');
    const extras = app.fleet.sites.map((site) => app.offer(site, 1, '9.0'));
    for (const [index, plugin] of extras.entries()) {
      Object.assign(plugin, { slug: 'extra/extra.php', name: 'Extra', version: '8.0' });
      if (index < 2) app.site(index).faults.breaks = { 'extra/extra.php@9.0': 'fatal' };
    }
    await app.call('sync-sites', {});
    const { rollout_id: id } = await app.start({ waves: WAVES });
    await app.turn();
    expect(await app.read(id)).toMatchObject({
      state: 'running',
      counts: { kept: 2, rolled_back: 2, untouched: 12 },
      halted_items: [{ type: 'plugin', slug: 'extra/extra.php', version: '9.0' }],
    });
    await app.after(31);
    await app.after(31);
    const { items, state } = await app.read(id, { state: 'skipped', per_page: 50 });
    expect(state).toBe('completed');
    expect(items.map(({ site_id, slug, code }: Answer) => [site_id, slug, code])).toEqual(
      [3, 4, 5, 6, 7, 8].map((site) => [site, 'extra/extra.php', 'svc_rollout_halted']),
    );
    expect(app.plugins.map(({ version }) => version)).toEqual(Array(SITES).fill('5.2'));
    expect(extras.map(({ version }) => version)).toEqual(Array(SITES).fill('8.0'));
    for (const plugin of extras) plugin.update = null;
    for (const site of app.fleet.sites) site.faults.breaks = {};
  });

  it('halts when updates fail on too many sites of a wave', async () => {
    await offerAgain('5.3');
    const { rollout_id: id } = await app.start({ waves: { canaries: 4, sizes: [], halt_percent: 50 } });
    for (const site of app.fleet.sites.slice(0, 2)) site.faults.failUpdates = true;
    await app.turn();
    const rollout = await app.read(id);
    expect(rollout).toMatchObject({
      state: 'halted',
      reason: 'Updates failed on 2 of 4 sites of wave 1; the limit is 50 %.',
    });
    for (const site of app.fleet.sites) site.faults.failUpdates = false;
  });

  it('looks at the sites of a wave once it has soaked, and halts if too many are down', async () => {
    await offerAgain('5.5');
    const { rollout_id: id } = await app.start({ waves: { ...WAVES, halt_sites: 2 } });
    await app.turn();
    expect((await app.read(id)).counts).toEqual({ kept: 2, untouched: 6 });
    const canaries = await app.sites(id, 'kept');
    for (const site of canaries) app.site(site - 1).faults.offline = true;
    await app.after(31);
    expect(await app.read(id)).toMatchObject({
      state: 'halted',
      reason: '2 sites broke or went down; the limit is 2.',
      counts: { kept: 2, untouched: 6 },
    });
    for (const site of canaries) app.site(site - 1).faults.offline = false;
    await app.call('check-sites', { site_ids_or_domains: canaries });
  });

  it('skips what has changed since the plan, and says what', async () => {
    await offerAgain('6.0');
    const { rollout_id: id } = await app.start({ waves: { canaries: 1, sizes: [7], soak_minutes: 1 } });
    await app.turn();
    const third = app.plugins[2];
    if (third?.update == null) throw new Error('no offer');
    third.update.version = '6.1';
    await app.call('sync-sites', { site_ids_or_domains: [3] });
    await app.call('suspend-site', { site_id_or_domain: 4 });
    await app.call('disconnect-site', { site_id_or_domain: 5 });
    await app.call('ignore-site-plugins', { site_id_or_domain: 6, action: 'add', slugs: [SHOP] });
    await app.call('delete-site', { site_id_or_domain: 7, confirm: true });
    await app.safely('update-site-plugins', { site_id_or_domain: 8, slugs: [SHOP] });
    await app.after(2);
    const { items, state, counts } = await app.read(id, { per_page: 50 });
    const told = items.map(({ site_id, state, code = '' }: Answer) => [site_id, state, code]);
    expect(told).toEqual([
      [1, 'kept', ''],
      [2, 'kept', ''],
      [3, 'skipped', 'svc_offer_changed'],
      [4, 'skipped', 'svc_site_suspended'],
      [5, 'skipped', 'svc_site_offline'],
      [6, 'skipped', 'svc_update_ignored'],
      [7, 'skipped', 'svc_site_not_found'],
      [8, 'skipped', 'svc_offer_changed'],
    ]);
    expect(items[2].message).toContain('now it would be 5.3 to 6.1');
    expect({ state, counts }).toEqual({ state: 'completed', counts: { kept: 2, skipped: 6 } });
    expect(app.plugins.slice(0, 6).map(({ version }) => version)).toEqual(['6.0', '6.0', '5.3', '5.3', '5.2', '5.2']);
  });
});

it('a rollout whose look at the first wave is cancelled looks again before it goes on', async () => {
  const app = await rolloutApp(3);
  const { rollout_id } = await app.start({ waves: { canaries: 1, soak_minutes: 60, halt_sites: 1 } });
  await app.turn();
  app.clock.move(61 * 60_000);
  await advanceRollouts(app.ctx({ actor: SYSTEM }));
  const [wave] = await app.db.all('SELECT check_job FROM rollout_wave WHERE wave = 1');
  await app.call('cancel-job', { job_id: String(wave?.check_job), confirm: true });
  const [canary] = await app.sites(rollout_id, 'kept');
  app.fleet.site(Number(canary) - 1).faults = { offline: true };
  await app.turn();
  expect(await app.read(rollout_id)).toMatchObject({ state: 'halted' });
  expect(app.plugins.filter(({ version }) => version === '2.0')).toHaveLength(1);
});

it.each([
  [
    'the job of its first wave is cancelled',
    async (app: RolloutApp) => {
      const [run] = await app.db.all('SELECT id FROM update_run');
      await app.call('cancel-job', { run_id: String(run?.id), confirm: true });
    },
  ],
  [
    'its first site ignores the update',
    async (app: RolloutApp, canary: number) => {
      await app.call('ignore-site-plugins', { site_id_or_domain: canary, action: 'add', slugs: [SHOP] });
    },
  ],
  [
    'its first site is suspended',
    async (app: RolloutApp, canary: number) => {
      await app.call('suspend-site', { site_id_or_domain: canary });
    },
  ],
])('a rollout halts where nothing was tried: %s', async (_how, stop) => {
  const app = await rolloutApp(3);
  const { rollout_id } = await app.start({ waves: { canaries: 1, soak_minutes: 60 } });
  const { items } = await app.read(rollout_id, { per_page: 50 });
  await stop(app, items.find(({ wave }: { wave: number }) => wave === 1).site_id);
  await app.turn();
  await app.after(61);
  await app.after(61);
  expect(await app.read(rollout_id)).toMatchObject({
    state: 'halted',
    reason: 'None of the updates of the first wave was made, so nothing is known about them.',
  });
  expect(app.plugins.map(({ version }) => version)).toEqual(['1.0', '1.0', '1.0']);
});
