/** Plans of updates: what is in them, what is left out and why, their waves, their digest, and what they cost to read. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { PluginState } from '../../src/demo/state.js';
import { tokens } from '../support/tokens.js';
import { type RolloutApp, rolloutApp, SHOP } from './rollout-app.js';

const DAY_MS = 86_400_000;
const SITES = 8;

let app: RolloutApp;

beforeAll(async () => {
  app = await rolloutApp(SITES, { guards: false });
  for (const name of ['first', 'nobody']) await app.call('add-tag', { name });
  await app.call('update-site', { site_id_or_domain: 3, tags: [1] });
  await app.call('suspend-site', { site_id_or_domain: 8 });
});

const sitesOf = ({ waves }: { waves: { sites: number }[] }) => waves.map(({ sites }) => sites);

describe('a plan', () => {
  it('has what the filters match, in waves, and says what is left out and why', async () => {
    const plan = await app.plan({ waves: { canaries: 2, sizes: [3] }, per_page: 50 });
    expect(plan).toMatchObject({ sites: 7, updates: 7, total: 7, protection: { guard: 0, reinstall: 7, none: 0 } });
    expect(sitesOf(plan)).toEqual([2, 3, 2]);
    expect(plan.by_item).toEqual([{ type: 'plugin', slug: SHOP, new_version: '2.0', sites: 7, age_days: 0 }]);
    expect(plan.left_out).toEqual([{ reason: 'site_suspended', updates: 1, sites: 1, site_ids: [8] }]);
    expect(plan.risks).toEqual([
      { risk: 'major', updates: 7, sites: 7 },
      { risk: 'no_guard', updates: 7, sites: 7 },
    ]);
    expect(plan.items[0]).toEqual({
      wave: 1,
      site_id: 1,
      type: 'plugin',
      slug: SHOP,
      old_version: '1.0',
      new_version: '2.0',
      level: 'major',
      protection: 'reinstall',
      risks: ['major', 'no_guard'],
    });
    expect(plan.summary).toContain('7 updates on 7 sites, first on 2 sites, then on 3 and 2, 60 minutes apart.');
    expect(plan.summary).toContain('Nothing was changed.');
  });

  it.each([
    [{ canaries: 1, sizes: [1, 2], soak_minutes: 0 }, 'then on 1, 2 and 3, without a pause.'],
    [{ canaries: 6, soak_minutes: 1 }, 'then on 1, 1 minute apart.'],
  ])('says in which waves: %j', async (waves, words) => {
    expect((await app.plan({ waves })).summary).toContain(words);
  });

  it('calls WordPress by its name', async () => {
    const site = app.fleet.site(0);
    site.state.wpUpdate = '99.0';
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    expect((await app.plan({ types: ['core'] })).summary).toContain('Most: WordPress 99.0 (1).');
    site.state.wpUpdate = null;
    await app.call('sync-sites', { site_ids_or_domains: [1] });
  });

  it('has the same digest and id for the same fleet, and another once anything differs', async () => {
    const plan = await app.plan({ waves: { canaries: 1 } });
    app.clock.move(60_000);
    expect(await app.plan({ waves: { canaries: 1 }, page: 2 })).toMatchObject({
      digest: plan.digest,
      plan_id: plan.plan_id,
    });
    const others = [
      { waves: { canaries: 2 } },
      { waves: { canaries: 1, soak_minutes: 1 } },
      { waves: { canaries: 1, halt_sites: 1 } },
      { waves: { canaries: 1 }, window: { from: '01:00', to: '02:00' } },
      { waves: { canaries: 1 }, site_ids_or_domains: [1, 2] },
    ];
    const digests = await Promise.all(others.map(async (input) => (await app.plan(input)).digest));
    expect(new Set([plan.digest, ...digests]).size).toBe(others.length + 1);
    const plugin = app.plugins[0];
    if (plugin?.update == null) throw new Error('no offer');
    plugin.update.version = '2.1';
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    expect((await app.plan({ waves: { canaries: 1 } })).digest).not.toBe(plan.digest);
  });

  it('counts the age of a version from when a second site has named it: one may name what is not out yet', async () => {
    const own = await rolloutApp(4);
    const [first, ...others] = own.plugins;
    const offer = async (plugin: PluginState | undefined, ids: number[]) => {
      if (plugin?.update == null) throw new Error('no offer');
      plugin.update.version = '7.0';
      await own.call('sync-sites', { site_ids_or_domains: ids });
    };
    await offer(first, [1]);
    own.clock.move(10 * DAY_MS);
    for (const [at, plugin] of others.entries()) await offer(plugin, [at + 2]);
    const young = await own.plan({ minimum_age_days: 7, slugs: [SHOP] });
    expect(young.left_out).toEqual([{ reason: 'too_young', updates: 3, sites: 3, site_ids: [2, 3, 4] }]);
    expect(young.items.map(({ site_id }: { site_id: number }) => site_id)).toEqual([1]);
    own.clock.move(7 * DAY_MS);
    expect((await own.plan({ minimum_age_days: 7, slugs: [SHOP] })).sites).toBe(4);
  });

  it('leaves out versions that are too young, whose age is not known, and that are ignored or quarantined', async () => {
    app.clock.move(10 * DAY_MS);
    const plugin = app.plugins[1];
    if (plugin?.update == null) throw new Error('no offer');
    plugin.update.version = '3.0';
    await app.call('sync-sites', { site_ids_or_domains: [2] });
    await app.db.run("DELETE FROM offered_version WHERE version = '2.1'");
    await app.call('ignore-site-plugins', { site_id_or_domain: 3, action: 'add', slugs: [SHOP] });
    const { store } = app.service;
    const held = { type: 1, slug: SHOP, version: '2.0', name: 'Shop', site_id: 4, site_url: '', change_id: 'x' };
    await store.quarantine.add(
      { ...held, evidence: '["It broke."]', created_at: 1 },
      { seen: false, fleet_until: null },
    );
    const plan = await app.plan({ minimum_age_days: 7, per_page: 50 });
    const left = new Map(plan.left_out.map(({ reason, site_ids }: never) => [reason, site_ids]));
    expect(left).toEqual(
      new Map([
        ['site_suspended', [8]],
        ['too_young', [2]],
        ['age_unknown', [1]],
        ['ignored', [3]],
        ['version_quarantined', [4]],
      ]),
    );
    expect(plan.items.map(({ site_id }: { site_id: number }) => site_id)).toEqual([5, 6, 7]);
    expect(plan.risks).toContainEqual({ risk: 'quarantined_elsewhere', updates: 3, sites: 3 });
    expect((await app.plan({ only_vulnerable: true })).left_out).toContainEqual(
      expect.objectContaining({ reason: 'no_known_fix', updates: 5 }),
    );
    // Released, it is a risk that is known: in the plan, in a preview of its start, and in one of a run of updates.
    await app.call('lift-quarantine', { type: 'plugin', slug: SHOP, version: '2.0' });
    const again = await app.plan({ minimum_age_days: 7, per_page: 50 });
    expect(again.risks).toContainEqual({ risk: 'quarantined_before', updates: 4, sites: 4 });
    expect(again.risks.map(({ risk }: { risk: string }) => risk)).not.toContain('quarantined_elsewhere');
    const known = `plugin ${SHOP} 2.0 was quarantined before, after trouble on 1 site: It broke. Lifted by`;
    expect(again.summary).toContain(known);
    expect(again.summary).toContain(` on ${new Date(app.clock.now()).toISOString().slice(0, 10)}.`);
    const { plan_id, digest } = again;
    const start = await app.call('start-rollout', { plan_id, digest, dry_run: true });
    expect(start.summary).toContain(known);
    const { would_affect } = await app.call('run-updates', { dry_run: true, types: ['plugins'] });
    expect(would_affect.known_risks).toEqual([expect.stringContaining(known)]);
    const { would_affect: others } = await app.call('run-updates', { dry_run: true, types: ['themes'] });
    expect(others).not.toHaveProperty('known_risks');
    await app.call('ignore-site-plugins', { site_id_or_domain: 3, action: 'remove', slugs: [SHOP] });
  });

  it('takes the canaries that are named or tagged, and refuses those that have no update', async () => {
    const first = async (waves: object) => {
      const { items } = await app.plan({ waves, per_page: 50 });
      return items.flatMap(({ wave, site_id }: never) => (wave === 1 ? [site_id] : []));
    };
    expect(await first({ canary_tag_ids: [1] })).toEqual([3]);
    expect(await first({ canary_sites: [6, 7] })).toEqual([6, 7]);
    expect(await first({ canary_sites: [5, 6, 7], canaries: 1 })).toEqual([5]);
    for (const waves of [{ canary_tag_ids: [2] }, { canary_sites: [8] }, { canary_sites: ['none.example'] }])
      expect(await app.fail('plan-updates', { waves })).toMatchObject({ code: 'svc_invalid_input' });
    expect(await app.fail('plan-updates', { waves: { canary_tag_ids: [9] } })).toMatchObject({
      code: 'svc_tag_not_found',
    });
    expect(await app.fail('plan-updates', { waves: { canaryes: 1 } })).toMatchObject({ code: 'ability_invalid_input' });
    expect(await app.fail('plan-updates', { window: { from: '01:00', to: '01:00' } })).toMatchObject({
      code: 'svc_invalid_input',
    });
  });

  it('costs less than 1,500 tokens', async () => {
    expect(tokens(await app.plan({}))).toBeLessThan(1_500);
  });

  it('leaves out what needs a newer PHP or WordPress, and a rollout refuses it that began to need it since', async () => {
    const only = { site_ids_or_domains: [6, 7], waves: { canaries: 2, soak_minutes: 0 }, per_page: 50 };
    const update = app.plugins[5]?.update;
    if (update == null) throw new Error('no offer');
    update.requiresPhp = '9.9';
    const before = await app.plan(only);
    await app.call('sync-sites', { site_ids_or_domains: [6] });
    const plan = await app.plan(only);
    expect(plan.items.map(({ site_id }: { site_id: number }) => site_id)).toEqual([7]);
    expect(plan.left_out).toEqual([{ reason: 'requirement_missing', updates: 1, sites: 1, site_ids: [6] }]);
    expect(plan.summary).toContain('Left out: 1 update beyond the PHP or WordPress of the site.');
    const { rollout_id } = await app.call('start-rollout', {
      ...{ plan_id: before.plan_id, digest: before.digest, confirm: true },
    });
    await app.turn();
    await app.after(1);
    const { items } = await app.read(rollout_id, { per_page: 50 });
    expect(items.map(({ site_id, state, code }: never) => [site_id, state, code])).toEqual(
      expect.arrayContaining([
        [6, 'skipped', 'svc_requirement_missing'],
        [7, 'kept', undefined],
      ]),
    );
    update.requiresPhp = '';
    await app.call('sync-sites', { site_ids_or_domains: [6, 7] });
  });
});
