/** Activating or deactivating one plugin on many sites: which sites that affects, and that nothing else changes. */

import { beforeEach, describe, expect, it } from 'vitest';
import type { PluginState } from '../../src/demo/state.js';
import { type CheckedApp, checkedApp, codesOf } from './checked-app.js';

const SLUG = 'old-carousel/old-carousel.php';

let app: CheckedApp;
beforeEach(async () => {
  app = await checkedApp({ sites: 5, fleet: { plugins: 4 } });
  for (const [place, site] of app.fleet.sites.entries()) {
    const [first] = site.state.plugins as [PluginState];
    const like = { ...first, update: null, premium: false, mustUse: false, breaksOnActivation: false };
    site.state.plugins.push({ ...like, slug: 'carousel-pro/carousel-pro.php', name: 'Carousel Pro', active: true });
    // Active on sites 1, 2 and 4, inactive on 3, not installed on 5.
    if (place < 4) site.state.plugins.push({ ...like, slug: SLUG, name: 'Old Carousel', active: place !== 2 });
  }
  await app.connectAll(5);
});

const active = (slug = SLUG) =>
  app.fleet.sites.map((site) => site.state.plugins.find((plugin) => plugin.slug === slug)?.active ?? null);
const off = (input: object = {}) => app.call('switch-plugin', { plugin: SLUG, action: 'deactivate', ...input });

describe('switch-plugin', () => {
  it('means every connected site on which the plugin is in the other state, and asks no other', async () => {
    await app.call('suspend-site', { site_id_or_domain: 4 });
    const calls = app.fleet.sites.map((site) => site.calls.length);
    const preview = await off({ dry_run: true });
    expect(preview).toMatchObject({
      dry_run: true,
      plugin: { slug: SLUG, name: 'Old Carousel' },
      would_affect: { sites: 2 },
      would_switch: [{ id: 1 }, { id: 2 }],
      errors: [],
    });
    expect(app.fleet.sites.map((site) => site.calls.length)).toEqual(calls);
    const answer = await off({ plugin: ' old CAROUSEL ' });
    expect(answer).toMatchObject({ queued: false, switched: [{ id: 1 }, { id: 2 }], total_switched: 2, errors: [] });
    expect(active()).toEqual([false, false, false, true, null]);
    expect(active('carousel-pro/carousel-pro.php')).toEqual([true, true, true, true, true]);
    expect(app.fleet.sites.map((site) => site.calls.length).slice(2)).toEqual(calls.slice(2));
    // A second call has nothing to do, which is no error.
    expect(await off()).toMatchObject({ switched: [], total_switched: 0, errors: [] });
  });

  it('switches on where it is off', async () => {
    const answer = await app.call('switch-plugin', { plugin: 'old-carousel', action: 'activate' });
    expect(answer).toMatchObject({ switched: [{ id: 3 }], total_switched: 1, errors: [] });
    expect(active()).toEqual([true, true, true, true, null]);
  });

  it.each([SLUG, 'old-carousel', 'Old Carousel', 'altes karussell'])(
    'means one plugin by its slug, under whatever names sites report it: %s',
    async (plugin) => {
      const [first, renamed] = [0, 1].map((i) => app.site(i).state.plugins.find(({ slug }) => slug === SLUG)) as [
        PluginState,
        PluginState,
      ];
      first.name = renamed.name = 'Altes Karussell';
      // Named like the slug of the other, which is therefore not meant.
      app.site(4).state.plugins.push({ ...renamed, slug: 'other/other.php', name: SLUG });
      await app.call('sync-sites', { site_ids_or_domains: [1, 2, 5] });
      const preview = await off({ plugin, dry_run: true });
      expect(preview).toMatchObject({ plugin: { slug: SLUG }, would_switch: [{ id: 1 }, { id: 2 }, { id: 4 }] });
      expect(await off({ plugin })).toMatchObject({ total_switched: 3, errors: [] });
      expect(active()).toEqual([false, false, false, false, null]);
      expect(active('other/other.php')[4]).toBe(true);
      const back = await app.call('switch-plugin', { plugin, action: 'activate', site_ids_or_domains: [2] });
      expect(back).toMatchObject({ switched: [{ id: 2 }], errors: [] });
    },
  );

  it('means no plugin of other sites by a name that only one site gives it', async () => {
    const pro = app.site(4).state.plugins.find(({ slug }) => slug === 'carousel-pro/carousel-pro.php');
    Object.assign(pro ?? {}, { name: 'Slider' });
    await app.call('sync-sites', { site_ids_or_domains: [5] });
    const error = await app.fail('switch-plugin', { plugin: 'Slider', action: 'deactivate' });
    expect(error).toMatchObject({ code: 'svc_invalid_input', field: 'plugin' });
    expect(active('carousel-pro/carousel-pro.php')).toEqual([true, true, true, true, true]);
    // It means the plugin of a site that alone has it.
    app.site(4).state.plugins.push({ ...(pro as PluginState), slug: 'own/own.php', name: 'My own' });
    await app.call('sync-sites', { site_ids_or_domains: [5] });
    expect(await off({ plugin: 'my own' })).toMatchObject({ switched: [{ id: 5 }], errors: [] });
  });

  it('keeps to tags, clients and named sites, also where both are given', async () => {
    const { id: tag } = await app.call('add-tag', { name: 'shops' });
    await app.call('update-site', { site_id_or_domain: 2, tags: [tag] });
    const { id: client } = await app.call('add-client', { name: 'Ada', selected_sites: [1, 2] });
    expect((await off({ dry_run: true, tag_ids: [tag] })).would_switch).toMatchObject([{ id: 2 }]);
    expect((await off({ dry_run: true, client_ids: [client] })).would_switch).toMatchObject([{ id: 1 }, { id: 2 }]);
    expect((await off({ dry_run: true, site_ids_or_domains: [1, 4] })).would_switch).toMatchObject([
      { id: 1 },
      { id: 4 },
    ]);
    await off({ site_ids_or_domains: [1, 2], tag_ids: [tag] });
    expect(active()).toEqual([true, false, false, true, null]);
  });

  it('says of each named site what came of it', async () => {
    app.site(1).faults.falseSuccess = true;
    const answer = await off({ site_ids_or_domains: [1, 2, 5, 99] });
    expect(answer).toMatchObject({ switched: [{ id: 1 }], total_switched: 1, total_errors: 3 });
    expect(codesOf(answer).sort()).toEqual([
      'svc_deactivation_failed',
      'svc_deactivation_failed',
      'svc_site_not_found',
    ]);
    expect(answer.errors.map(({ site_id }: { site_id: number | null }) => site_id).sort()).toEqual([2, 5, null]);
  });

  it('takes no part of a name, no unknown one and none of several for a plugin, and then does nothing', async () => {
    const twin = {
      ...(app.site(0).state.plugins.at(-1) as PluginState),
      slug: 'other/other.php',
      name: 'Old Carousel',
    };
    for (const [plugin, message] of [
      ['carousel', 'no plugin in the fleet is called "carousel"'],
      ['no-such-plugin', 'no plugin in the fleet is called "no-such-plugin"'],
    ] as const) {
      const error = await app.fail('switch-plugin', { plugin, action: 'deactivate' });
      expect(error).toMatchObject({
        code: 'svc_invalid_input',
        field: 'plugin',
        message: expect.stringContaining(message),
      });
    }
    app.site(0).state.plugins.push(twin);
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const error = await app.fail('switch-plugin', { plugin: 'Old Carousel', action: 'deactivate' });
    expect(error.data.slugs).toEqual(expect.arrayContaining([SLUG, 'other/other.php']));
    for (const [code, more] of [
      ['svc_tag_not_found', { tag_ids: [99] }],
      ['svc_client_not_found', { client_ids: [99] }],
    ] as const)
      expect((await app.fail('switch-plugin', { plugin: SLUG, action: 'deactivate', ...more })).code).toBe(code);
    expect(active()).toEqual([true, true, false, true, null]);
  });

  it('goes on as a job where there are many sites', async () => {
    const small = await checkedApp({ sites: 2, config: { batch_threshold: 1 }, fleet: { plugins: 4 } });
    const [plugin] = small.site(0).state.plugins.filter(({ slug, mustUse }) => !mustUse && !slug.includes('mainwp'));
    for (const site of small.fleet.sites)
      site.state.plugins.push({ ...(plugin as PluginState), slug: SLUG, name: 'Old Carousel', active: true });
    await small.connectAll(2);
    const queued = await small.call('switch-plugin', { plugin: SLUG, action: 'deactivate' });
    expect(queued).toMatchObject({ queued: true, sites_queued: 2, plugin: { slug: SLUG } });
    expect(small.fleet.sites.map((site) => site.state.plugins.at(-1)?.active)).toEqual([true, true]);
  });
});
