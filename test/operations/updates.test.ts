/** Available updates, and ignoring them (operations §5.5, §5.6, §8.4). */

import { beforeEach, describe, expect, it } from 'vitest';
import type { DemoSite } from '../../src/demo/fleet.js';
import { appWithUpdates, type CheckedApp, itemsOf, offeredPlugins, type UpdateItem } from './checked-app.js';

const OF = { site_id_or_domain: 1 };

let app: CheckedApp;
let site: DemoSite;
beforeEach(async () => {
  app = await appWithUpdates();
  site = app.site(0);
});

const plugins = () => offeredPlugins(site);

describe('run-updates with named items', () => {
  it('tells those that are on offer nowhere, also in a preview', async () => {
    const [slug = ''] = plugins();
    const specific_items = ['nope/nope.php', slug, 'http://nope'];
    const missing = (site_id: number, site_url: string) =>
      ['nope/nope.php', 'http://nope'].map((item) =>
        expect.objectContaining({ site_id, site_url, slug: item, code: 'svc_no_updates' }),
      );
    const byName = (a: UpdateItem, b: UpdateItem) => b.slug.localeCompare(a.slug, 'en');
    const preview = await app.call('run-updates', { site_ids_or_domains: [1, 2], specific_items, dry_run: true });
    expect(preview.errors.sort(byName)).toEqual(missing(0, ''));
    const one = await app.call('run-updates', { site_ids_or_domains: [1], specific_items });
    expect(one).toMatchObject({ updated: [{ slug }], summary: { total_updated: 1, total_errors: 2 } });
    expect(one.errors.sort(byName)).toEqual(missing(1, site.url));
    // Available on only one of the sites: the other one is not an error.
    const some = await app.call('run-updates', { site_ids_or_domains: [1, 2], specific_items: [slug] });
    expect(some.errors.filter((error: UpdateItem) => error.site_id === 0)).toEqual([]);
    await app.call('ignore-site-plugins', { site_id_or_domain: 3, slugs: [slug], action: 'add' });
    const hidden = await app.call('run-updates', {
      site_ids_or_domains: [3],
      types: ['plugins'],
      specific_items: [slug],
    });
    expect(hidden).toMatchObject({
      updated: [],
      errors: [{ site_id: 3, type: 'plugin', slug, code: 'svc_no_updates' }],
    });
  });
});

describe('list-updates, get-site-updates', () => {
  it('list core, plugins, themes, translations, site by site', async () => {
    const { updates, summary, total, errors } = await app.call('list-updates', { per_page: 200 });
    expect([total, errors]).toEqual([15, []]);
    expect(summary).toEqual({ core: 3, plugins: 6, themes: 3, translations: 3, total: 15 });
    expect(updates.slice(0, 5).map(({ type }: UpdateItem) => type)).toEqual([
      'core',
      'plugin',
      'plugin',
      'theme',
      'translation',
    ]);
    expect(updates.map(({ site_id }: UpdateItem) => site_id)).toEqual([1, 2, 3].flatMap((id) => [id, id, id, id, id]));
    expect(updates[0]).toEqual({
      site_id: 1,
      site_url: site.url,
      site_name: expect.any(String),
      site_status: 'connected',
      type: 'core',
      slug: 'platform',
      name: 'WordPress',
      current_version: '7.0',
      new_version: '7.1',
    });
  });

  it('page through the same order from both ends', async () => {
    const { updates } = await app.call('list-updates', { per_page: 200 });
    for (const size of [1, 4, 7]) {
      const pages: UpdateItem[] = [];
      for (let page = 1; page <= Math.ceil(15 / size) + 1; page++) {
        const answer = await app.call('list-updates', { page, per_page: size });
        expect(answer).toMatchObject({ total: 15, summary: { total: 15 }, page, per_page: size });
        pages.push(...answer.updates);
      }
      expect(pages).toEqual(updates);
    }
  });

  it('filter by types and sites, in the order the sites are given', async () => {
    const some = await app.call('list-updates', {
      site_ids_or_domains: [3, 'nowhere.example', 1, 3],
      types: ['themes', 'core'],
    });
    expect(some.updates.map(({ site_id, type }: UpdateItem) => [site_id, type])).toEqual([
      [3, 'core'],
      [3, 'theme'],
      [1, 'core'],
      [1, 'theme'],
    ]);
    expect(some.summary).toEqual({ core: 2, plugins: 0, themes: 2, translations: 0, total: 4 });
    expect(some.errors).toMatchObject([
      { site_id: 0, site_url: 'nowhere.example', type: 'site', slug: '', code: 'svc_site_not_found' },
    ]);
    // The type names used in answers are accepted, too.
    expect(await app.call('list-updates', { types: ['theme', 'plugin', 'plugins'] })).toEqual(
      await app.call('list-updates', { types: ['plugins', 'themes'] }),
    );
    expect(await app.call('list-updates', { types: ['plugins'], page: 2, per_page: 4 })).toMatchObject({
      total: 6,
      updates: [{ site_id: 3 }, { site_id: 3 }],
    });
    expect(await app.call('list-updates', { site_ids_or_domains: ['nowhere.example'] })).toMatchObject({
      updates: [],
      total: 0,
    });
  });

  it('show suspended and disconnected sites', async () => {
    await app.call('suspend-site', { site_id_or_domain: 1 });
    await app.call('disconnect-site', { site_id_or_domain: 2 });
    expect(await app.call('list-updates')).toMatchObject({ total: 15 });
  });

  it('tell of one site what they tell of all', async () => {
    const { updates } = await app.call('list-updates', { site_ids_or_domains: [2] });
    const one = await app.call('get-site-updates', { site_id_or_domain: 2, types: [] });
    expect(one).toEqual({
      site_id: 2,
      site_url: app.site(1).url,
      site_name: expect.any(String),
      updates: updates.map(
        ({
          site_id: _,
          site_url: __,
          site_name: ___,
          site_status: ____,
          ...entry
        }: UpdateItem & Record<string, unknown>) => entry,
      ),
      summary: { core: 1, plugins: 2, themes: 1, translations: 1, total: 5 },
    });
    expect(await app.call('get-site-updates', { site_id_or_domain: 2, types: ['core'] })).toMatchObject({
      updates: [{ type: 'core' }],
      summary: { total: 1 },
    });
  });
});

describe('ignoring', () => {
  it('hides at once from lists, counts and runs, and restores', async () => {
    const [a = '', b = ''] = plugins();
    expect(
      await app.call('ignore-site-plugins', { ...OF, action: 'add', slugs: [a, ` ${a}`, 'none/none.php'] }),
    ).toEqual({
      success: true,
      site_id: 1,
      action: 'add',
      plugins_ignored: [a, 'none/none.php'].sort(),
    });
    const theme = site.state.themes[0]?.slug;
    expect(await app.call('set-ignored-updates', { ...OF, action: 'ignore', type: 'theme', slug: theme })).toEqual({
      success: true,
      action: 'ignore',
      site_id: 1,
      type: 'theme',
      slug: theme,
    });
    expect(await app.call('ignore-site-core', { ...OF, action: 'add' })).toMatchObject({ core_ignored: true });
    const [core] = (await app.call('list-ignored-updates')).ignored;
    expect(core).toMatchObject({ type: 'core', slug: 'platform', name: 'WordPress' });
    expect(await app.call('list-updates')).toMatchObject({
      summary: { core: 2, plugins: 5, themes: 2, translations: 3, total: 12 },
    });
    expect(await app.call('get-site-updates', OF)).toMatchObject({ updates: [{ slug: b }, { type: 'translation' }] });
    const ran = await app.call('run-updates', { site_ids_or_domains: [1], types: ['core', 'plugins', 'themes'] });
    expect(itemsOf(ran.updated)).toEqual([`1 plugin ${b}`]);
    expect(await app.call('update-site-plugins', { ...OF, slugs: [a] })).toMatchObject({
      updated: [],
      errors: [{ slug: a, code: 'svc_no_updates' }],
    });
    expect(site.state.wpVersion).toBe('7.0');

    expect(
      await app.call('ignore-site-plugins', { ...OF, action: 'remove', slugs: [a, 'never/was.php'] }),
    ).toMatchObject({ plugins_ignored: ['none/none.php'] });
    expect(await app.call('ignore-site-themes', { ...OF, action: 'remove', slugs: [theme] })).toMatchObject({
      themes_ignored: [],
    });
    expect(
      await app.call('set-ignored-updates', { ...OF, action: 'unignore', type: 'core', slug: 'platform' }),
    ).toMatchObject({ success: true });
    expect(await app.call('list-updates')).toMatchObject({ summary: { core: 3, plugins: 5, themes: 3, total: 14 } });
  });

  it('tells what is ignored all the same after an unignore', async () => {
    const [a = ''] = plugins();
    await app.call('ignore-update-everywhere', { action: 'ignore', type: 'core', slug: 'platform' });
    await app.call('ignore-update-everywhere', { action: 'ignore', type: 'plugin', slug: a });
    const core = await app.call('ignore-site-core', { ...OF, action: 'remove' });
    expect(core).toMatchObject({ core_ignored: true, notice: expect.stringContaining('on every site') });
    for (const answer of [
      await app.call('ignore-site-plugins', { ...OF, action: 'remove', slugs: [a] }),
      await app.call('set-ignored-updates', { ...OF, action: 'unignore', type: 'plugin', slug: a }),
    ])
      expect(answer.notice).toContain(a);
    expect(await app.call('ignore-site-plugins', { ...OF, action: 'add', slugs: [a] })).not.toHaveProperty('notice');
  });

  it('outlives a sync', async () => {
    const [a = ''] = plugins();
    await app.call('ignore-site-plugins', { ...OF, action: 'add', slugs: [a] });
    const offer = site.state.plugins.find(({ slug }) => slug === a)?.update;
    if (offer) offer.version = '3.0';
    await app.call('sync-sites');
    expect(await app.call('list-updates')).toMatchObject({ total: 14 });
  });

  it('is listed per site, by URL, then core, plugins, themes', async () => {
    await app.call('ignore-site-themes', { site_id_or_domain: 2, action: 'add', slugs: ['zeta', 'alpha'] });
    await app.call('ignore-site-plugins', { site_id_or_domain: 2, action: 'add', slugs: ['b/b.php'] });
    await app.call('ignore-site-core', { site_id_or_domain: 2, action: 'add' });
    await app.db.run(
      "INSERT INTO ignored_everywhere (type, slug, version, name) VALUES (1, 'all/all.php', '2.0', 'All'), (1, 'all/all.php', '2.1', 'All')",
    );
    const list = await app.call('list-ignored-updates');
    expect(itemsOf(list.ignored)).toEqual([
      '1 plugin all/all.php',
      '2 core platform',
      '2 plugin all/all.php',
      '2 plugin b/b.php',
      '2 theme alpha',
      '2 theme zeta',
      '3 plugin all/all.php',
    ]);
    expect(list.total).toBe(7);
    expect(list.ignored[0]).toMatchObject({ site_url: site.url, name: 'All', ignored_version: '2.0, 2.1' });
    expect(list.ignored[1]).toMatchObject({ ignored_version: 'all_versions' });
    expect(await app.call('list-ignored-updates', { page: 2, per_page: 3 })).toMatchObject({
      ignored: list.ignored.slice(3, 6),
      total: 7,
    });
    // Once for all sites where that is asked for, with the number of those that have no entry of their own for it.
    await app.call('ignore-site-plugins', { site_id_or_domain: 2, action: 'add', slugs: ['all/all.php'] });
    const once = await app.call('list-ignored-updates', { per_site: false });
    expect(itemsOf(once.ignored)).toEqual([
      '0 plugin all/all.php',
      '2 core platform',
      '2 plugin all/all.php',
      '2 plugin b/b.php',
      '2 theme alpha',
      '2 theme zeta',
    ]);
    expect(once.total).toBe(6);
    expect(once.ignored[0]).toMatchObject({ name: 'All', ignored_version: '2.0, 2.1', sites: 2 });
    expect(once.ignored[1]).not.toHaveProperty('sites');
  });

  it('does not hold for core when its update is asked for by name', async () => {
    await app.call('ignore-site-core', { ...OF, action: 'add' });
    expect(await app.call('update-site-core', OF)).toMatchObject({
      updated: true,
      old_version: '7.0',
      new_version: '7.1',
    });
  });
});
