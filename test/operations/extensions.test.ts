/**
 * Plugins and themes of a site: the stored inventory, and changes that only count once the site shows them (child
 * protocol §6.2, §6.3).
 */

import { beforeEach, describe, expect, it } from 'vitest';
import type { DemoSite } from '../../src/demo/fleet.js';
import { type CheckedApp, checkedApp, codesOf, offers, ordinary } from './checked-app.js';

const CHILD = 'mainwp-child/mainwp-child.php';
const OF = { site_id_or_domain: 1 };

let app: CheckedApp;
let site: DemoSite;
beforeEach(async () => {
  app = await checkedApp({ sites: 1, fleet: { plugins: 8 } });
  site = app.site(0);
  for (const plugin of ordinary(site)) {
    plugin.active = false;
    plugin.breaksOnActivation = false;
  }
  await app.connect(0);
});

const slugs = (count: number) =>
  ordinary(site)
    .slice(0, count)
    .map(({ slug }) => slug);
const asked = (name: string) => site.calls.filter((call) => call.function === name);
const state = (slug: string | undefined) => site.state.plugins.find((plugin) => plugin.slug === slug);

describe('get-site-plugins, get-site-themes', () => {
  it('show the inventory in the order of the site, filtered as asked', async () => {
    const all = await app.call('get-site-plugins', OF);
    expect(all).toMatchObject({ site_id: 1, site_url: site.url, total: 8 });
    expect(all.plugins.map((plugin: { slug: string }) => plugin.slug).sort()).toEqual(
      site.state.plugins.map(({ slug }) => slug).sort(),
    );
    const active = await app.call('get-site-plugins', { ...OF, status: 'active' });
    const inactive = await app.call('get-site-plugins', { ...OF, status: 'inactive' });
    expect(active.total + inactive.total).toBe(8);
    expect(active.plugins.every((plugin: { active: boolean }) => plugin.active)).toBe(true);
    offers(site, { plugins: 2 });
    await app.call('sync-sites');
    expect(await app.call('get-site-plugins', { ...OF, has_update: 'true', status: 'inactive' })).toMatchObject({
      total: 2,
      plugins: [{ version: '1.0', update_version: '2.0' }, {}],
    });
    for (const unfiltered of ['false', null])
      expect(await app.call('get-site-plugins', { ...OF, has_update: unfiltered })).toMatchObject({ total: 8 });
  });

  it('know one active theme, or none', async () => {
    const { themes, active_theme, total } = await app.call('get-site-themes', OF);
    expect(active_theme).toBe(site.state.activeTheme);
    expect(total).toBe(site.state.themes.length);
    expect(themes.filter((theme: { active: boolean }) => theme.active)).toMatchObject([{ slug: active_theme }]);
    const never = await app.row('https://never.example/');
    expect(await app.call('get-site-themes', { site_id_or_domain: never })).toMatchObject({
      active_theme: '',
      themes: [],
      total: 0,
    });
    expect(await app.call('get-site-plugins', { site_id_or_domain: never })).toMatchObject({ plugins: [], total: 0 });
  });

  it('answer for suspended and disconnected sites', async () => {
    await app.call('disconnect-site', OF);
    await app.call('suspend-site', OF);
    expect(await app.call('get-site-plugins', OF)).toMatchObject({ total: 8 });
    expect(await app.call('get-site-themes', OF)).toMatchObject({ active_theme: site.state.activeTheme });
  });
});

describe('activate and deactivate', () => {
  it('work in one call, in order, each slug once, and store what they changed', async () => {
    const [a = '', b = ''] = slugs(2);
    expect(await app.call('activate-site-plugins', { ...OF, slugs: [b, a, ` ${b} `] })).toEqual({
      site_id: 1,
      activated: [b, a],
      errors: [],
    });
    expect(asked('plugin_action').map(({ params }) => params.plugin)).toEqual([`${b}||${a}`]);
    expect(await app.call('get-site-plugins', { ...OF, status: 'inactive' })).toMatchObject({ total: 8 - 2 - 1 });
    expect(await app.call('activate-site-plugins', { ...OF, slugs: [a] })).toMatchObject({
      activated: [a],
      errors: [],
    });
    expect(await app.call('deactivate-site-plugins', { ...OF, slugs: [a, b] })).toEqual({
      site_id: 1,
      deactivated: [a, b],
      errors: [],
    });
    expect(state(a)?.active).toBe(false);
  });

  it('believe the inventory, not the word SUCCESS', async () => {
    const [a = '', b = ''] = slugs(2);
    const plugin = state(a);
    if (plugin !== undefined) plugin.breaksOnActivation = true;
    const answer = await app.call('activate-site-plugins', { ...OF, slugs: [a, b] });
    expect(answer).toMatchObject({
      activated: [b],
      errors: [{ slug: a, code: 'svc_activation_failed', message: expect.stringMatching(/inactive/) }],
    });
    site.faults.falseSuccess = true;
    expect(await app.call('deactivate-site-plugins', { ...OF, slugs: [b] })).toMatchObject({
      deactivated: [],
      errors: [{ slug: b, code: 'svc_deactivation_failed' }],
    });
    expect(await app.call('get-site-plugins', { ...OF, status: 'active' })).toMatchObject({ total: 2 });
  });

  it('never send a slug that is not installed, but look once whether it is', async () => {
    const [a = ''] = slugs(1);
    const answer = await app.call('activate-site-plugins', { ...OF, slugs: ['none/none.php', a.toUpperCase(), a] });
    expect(answer.activated).toEqual([a]);
    expect(codesOf(answer)).toEqual(['svc_activation_failed', 'svc_activation_failed']);
    expect(asked('plugin_action')).toHaveLength(1);
    expect(asked('stats').length).toBeGreaterThan(1);
    const [plugin] = ordinary(site);
    if (plugin === undefined) throw new Error('no plugin');
    site.state.plugins.push({ ...plugin, slug: 'new/new.php', name: 'New', active: false });
    expect(await app.call('activate-site-plugins', { ...OF, slugs: ['new/new.php'] })).toMatchObject({
      activated: ['new/new.php'],
    });
  });

  it('leave the child plugin alone', async () => {
    for (const [name, code] of [
      ['deactivate-site-plugins', 'svc_deactivation_failed'],
      ['delete-site-plugins', 'svc_deletion_failed'],
    ] as const)
      expect(
        codesOf(
          await app.call(name, { ...OF, slugs: [CHILD], ...(name.startsWith('delete') ? { confirm: true } : {}) }),
        ),
      ).toEqual([code]);
    expect(asked('plugin_action')).toEqual([]);
    expect(await app.call('activate-site-plugins', { ...OF, slugs: [CHILD] })).toMatchObject({ activated: [CHILD] });
  });

  it('give those behind a fatal error their turn, and say which one it was', async () => {
    const [a = '', b = '', c = ''] = slugs(3);
    site.faults.fatalOnActivation = [b];
    const answer = await app.call('activate-site-plugins', { ...OF, slugs: [a, b, c] });
    expect(answer.activated).toEqual([a, c]);
    expect(answer.errors).toMatchObject([
      { slug: b, code: 'svc_activation_failed', message: expect.stringMatching(/HTTP 500/) },
    ]);
    expect(asked('plugin_action').map(({ params }) => params.plugin)).toEqual([`${a}||${b}||${c}`, b, c]);
  });

  it('claim nothing when the site goes away before it was looked at', async () => {
    const [a = '', b = ''] = slugs(2);
    site.faults.falseSuccess = true;
    Object.defineProperty(site.faults, 'offline', {
      configurable: true,
      get: () => asked('plugin_action').length > 0,
    });
    const answer = await app.call('activate-site-plugins', { ...OF, slugs: [a, b] });
    expect(answer.activated).toEqual([]);
    const unverified = { code: 'svc_site_offline', message: expect.stringContaining('not known yet') };
    expect(answer.errors).toMatchObject([
      { slug: a, ...unverified },
      { slug: b, ...unverified },
    ]);
  });

  it('mark must-use plugins, and refuse to change them before any call', async () => {
    const [a = ''] = slugs(1);
    const [model] = ordinary(site);
    if (model === undefined) throw new Error('no plugin');
    site.state.plugins.push({ ...model, slug: 'guard.php', name: 'Guard', mustUse: true, active: true });
    await app.call('sync-sites');
    const { plugins } = await app.call('get-site-plugins', OF);
    expect(plugins.filter((each: { must_use?: true }) => each.must_use)).toMatchObject([{ slug: 'guard.php' }]);
    const requests = site.requests;
    for (const [name, code] of [
      ['activate-site-plugins', 'svc_activation_failed'],
      ['deactivate-site-plugins', 'svc_deactivation_failed'],
      ['delete-site-plugins', 'svc_deletion_failed'],
    ] as const) {
      const confirm = name.startsWith('delete') ? { confirm: true } : {};
      const { errors } = await app.call(name, { ...OF, slugs: ['guard.php'], ...confirm });
      expect(errors).toMatchObject([{ slug: 'guard.php', code, message: expect.stringContaining('must-use') }]);
    }
    const preview = await app.call('delete-site-plugins', { ...OF, slugs: ['guard.php'], dry_run: true });
    expect(preview).toMatchObject({ count: 0, errors: [{ message: expect.stringContaining('must-use') }] });
    expect(site.requests).toBe(requests);
    expect(await app.call('activate-site-plugins', { ...OF, slugs: ['guard.php', a] })).toMatchObject({
      activated: [a],
    });
  });

  it('name an unknown slug and the reason when the site cannot be looked at', async () => {
    const [a = ''] = slugs(1);
    site.faults = { offline: true };
    const offline = await app.call('activate-site-plugins', { ...OF, slugs: ['none/none.php', a] });
    expect(codesOf(offline)).toEqual(['svc_site_offline', 'svc_site_offline']);
    site.faults = { refused: true };
    const refused = await app.call('activate-site-plugins', { ...OF, slugs: ['none/none.php', a] });
    expect(codesOf(refused)).toEqual(['svc_activation_failed', 'svc_activation_failed']);
  });
});

describe('deleting', () => {
  it('previews what would be deleted and what is refused, with a warning where one is due, and sends nothing', async () => {
    const [a = '', b = ''] = slugs(2);
    await app.call('activate-site-plugins', { ...OF, slugs: [b] });
    const [before, requests] = [await app.content(), site.requests];
    const preview = await app.call('delete-site-plugins', {
      ...OF,
      slugs: [a, b, 'none/none.php', CHILD, a],
      dry_run: true,
    });
    expect(preview).toMatchObject({
      dry_run: true,
      site_id: 1,
      count: 2,
      would_affect: [{ slug: a }, { slug: b, active: true }],
      warnings: [expect.stringContaining(`${b} is active`), `Left as they are: none/none.php and ${CHILD}.`],
      errors: [
        { slug: 'none/none.php', message: expect.stringContaining('No plugin with this slug is installed') },
        { slug: CHILD, message: expect.stringContaining('child plugin') },
      ],
    });
    const parent = site.state.themes.find(({ slug }) => slug === site.state.activeTheme);
    expect(await app.call('delete-site-themes', { ...OF, slugs: [parent?.slug ?? ''], dry_run: true })).toMatchObject({
      would_affect: [],
      warnings: [`Left as they are: ${parent?.slug}.`],
      errors: [{ code: 'svc_deletion_failed', message: expect.stringContaining('active theme') }],
    });
    expect([await app.content(), site.requests]).toEqual([before, requests]);
  });

  it('removes plugins for good, active ones too', async () => {
    const [a = '', b = ''] = slugs(2);
    await app.call('activate-site-plugins', { ...OF, slugs: [b] });
    expect(
      await app.call('delete-site-plugins', { ...OF, slugs: [a, b, 'none/none.php'], confirm: true }),
    ).toMatchObject({
      site_id: 1,
      deleted: [a, b],
      errors: [{ slug: 'none/none.php', code: 'svc_deletion_failed' }],
    });
    expect(await app.call('get-site-plugins', OF)).toMatchObject({ total: 6 });
    expect(state(a)).toBeUndefined();
  });

  it('refuses the active theme and its parent, and deletes the others', async () => {
    const [parent, other] = site.state.themes;
    if (parent === undefined || other === undefined) throw new Error('too few themes');
    site.state.themes = [parent, other, { ...parent, slug: 'kid', name: 'Kid', parent: parent.slug }];
    site.state.activeTheme = 'kid';
    await app.call('sync-sites');
    const preview = await app.call('delete-site-themes', {
      ...OF,
      slugs: ['kid', parent.slug, other.slug],
      dry_run: true,
    });
    expect(preview).toMatchObject({
      would_affect: [{ slug: other.slug }],
      errors: [{ slug: 'kid' }, { slug: parent.slug }],
    });
    const answer = await app.call('delete-site-themes', {
      ...OF,
      slugs: ['kid', parent.slug, other.slug],
      confirm: true,
    });
    expect(answer).toMatchObject({ deleted: [other.slug], errors: [{ slug: 'kid' }, { slug: parent.slug }] });
    expect(codesOf(answer)).toEqual(['svc_deletion_failed', 'svc_deletion_failed']);
    expect(await app.call('get-site-themes', OF)).toMatchObject({ active_theme: 'kid', total: 2 });
  });
});

describe('activate-site-theme', () => {
  it('switches, and tells the theme before', async () => {
    const before = site.state.activeTheme;
    const next = site.state.themes.find(({ slug, parent }) => slug !== before && parent === '')?.slug;
    expect(await app.call('activate-site-theme', { ...OF, slug: next })).toEqual({
      site_id: 1,
      activated: next,
      previous_theme: before,
    });
    expect(await app.call('activate-site-theme', { ...OF, slug: next })).toEqual({
      site_id: 1,
      activated: next,
      previous_theme: next,
    });
    expect(await app.call('get-site-themes', OF)).toMatchObject({ active_theme: next });
  });

  it('never sends a theme that is not there: the site would go blank', async () => {
    const before = site.state.activeTheme;
    const error = await app.fail('activate-site-theme', { ...OF, slug: 'none' });
    expect(error).toMatchObject({ code: 'svc_activation_failed', status: 502, field: 'slug' });
    expect(asked('theme_action')).toEqual([]);
    expect(site.state.activeTheme).toBe(before);
  });
});

describe('two calls for one site', () => {
  it('wait for each other', async () => {
    site.faults.latencyMs = 20;
    const [a = '', b = ''] = slugs(2);
    const answers = await Promise.all([
      app.call('activate-site-plugins', { ...OF, slugs: [a, b] }),
      app.call('sync-sites', { site_ids_or_domains: [1] }),
      app.call('deactivate-site-plugins', { ...OF, slugs: [a, b] }),
    ]);
    expect(answers).toMatchObject([{ activated: [a, b] }, { total_synced: 1 }, { deactivated: [a, b] }]);
    expect(site.maxInFlight).toBe(1);
  });
});
