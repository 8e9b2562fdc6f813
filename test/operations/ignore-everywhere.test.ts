/** Ignoring an update on every site: permanently, until a time, or for one version. */

import { beforeEach, describe, expect, it } from 'vitest';
import { timetable } from '../../src/app/schedule/timetable.js';
import { type CheckedApp, checkedApp, offers } from './checked-app.js';

const DAY = 86_400_000;

let app: CheckedApp;
let plugin: { slug: string; name: string };
beforeEach(async () => {
  app = await checkedApp({ sites: 2 });
  for (const site of app.fleet.sites) {
    const { plugins } = offers(site, { plugins: 1, core: true });
    plugin ??= plugins[0] as typeof plugin;
  }
  await app.connect(0);
});

const slugs = async () => {
  const { updates } = await app.call('list-updates', { per_page: 200 });
  return updates.map(({ site_id, slug }: { site_id: number; slug: string }) => `${site_id} ${slug}`);
};
/** Runs the scheduled task. */
const tick = () => {
  const ctx = app.ctx();
  return timetable.find(({ name }) => name === 'ignored-updates')?.run(ctx, {} as never);
};
const ignore = (input: object) =>
  app.call('ignore-update-everywhere', { action: 'ignore', type: 'plugin', slug: plugin.slug, ...input });

describe('ignore-update-everywhere', () => {
  it('is told by lists of updates: how many are left out, and where they are listed', async () => {
    const told = async () => [
      (await app.call('list-updates')).ignored,
      (await app.call('list-updates', { site_ids_or_domains: [1], slug: plugin.slug })).ignored,
      (await app.call('get-site-updates', { site_id_or_domain: 1 })).ignored,
      (await app.call('list-updates', { types: ['themes'] })).ignored,
    ];
    expect(await told()).toEqual([undefined, undefined, undefined, undefined]);
    await ignore({});
    const one = '1 update is left out as ignored: 1 by entries that list-ignored-updates-v1 lists.';
    expect(await told()).toEqual([one, one, one, undefined]);
    // Settings of sites are not entries.
    await app.db.run('UPDATE site_detail SET ignore_core = 1 WHERE site_id = 1');
    await app.call('ignore-site-plugins', { site_id_or_domain: 1, action: 'add', slugs: [plugin.slug] });
    expect((await told())[2]).toBe(
      '2 updates are left out as ignored: 1 by entries that list-ignored-updates-v1 lists, 1 by settings of their sites, on the page.',
    );
  });

  it('hides the update on every site until the time that was named, and then shows it again', async () => {
    const until = new Date(app.clock.now() + 30 * DAY).toISOString();
    expect(await ignore({ slug: plugin.name.toUpperCase(), until })).toEqual({
      success: true,
      action: 'ignore',
      type: 'plugin',
      slug: plugin.slug,
      version: null,
      until: until.replace(/\.\d{3}Z$/, 'Z'),
      offers_ignored: 1,
    });
    expect(await slugs()).toEqual(['1 platform']);
    await app.connect(1);
    expect(await slugs()).not.toContain(`2 ${plugin.slug}`);
    for (const per_site of [true, false]) {
      const { ignored } = await app.call('list-ignored-updates', { per_site });
      expect(ignored).not.toEqual([]);
      for (const row of ignored)
        expect(row).toMatchObject({ slug: plugin.slug, until: until.replace(/\.\d{3}Z$/, 'Z') });
    }
    app.clock.move(29 * DAY);
    expect(await tick()).toBe('0 offered again');
    expect(await slugs()).not.toContain(`1 ${plugin.slug}`);
    app.clock.move(DAY);
    expect(await tick()).toBe('1 offered again');
    expect(await slugs()).toEqual(expect.arrayContaining([`1 ${plugin.slug}`]));
    expect(await app.call('list-ignored-updates')).toMatchObject({ total: 0 });
  });

  it('hides one version only, so that the next one shows', async () => {
    await ignore({ version: '2.0' });
    expect(await slugs()).toEqual(['1 platform']);
    const installed = app.site(0).state.plugins.find(({ slug }) => slug === plugin.slug);
    if (installed?.update) installed.update.version = '2.1';
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    expect(await slugs()).toContain(`1 ${plugin.slug}`);
  });

  it('is taken back, and may be taken back twice', async () => {
    await ignore({ type: 'core', slug: 'WordPress' });
    expect(await slugs()).toEqual([`1 ${plugin.slug}`]);
    for (const offers_ignored of [0, 0])
      expect(
        await app.call('ignore-update-everywhere', { action: 'unignore', type: 'core', slug: 'platform' }),
      ).toMatchObject({ offers_ignored });
    expect(await slugs()).toHaveLength(2);
    await app.call('ignore-update-everywhere', { action: 'unignore', type: 'theme', slug: 'gone-long-ago' });
  });

  it('in place of an end the last word counts', async () => {
    await ignore({ until: new Date(app.clock.now() + DAY).toISOString() });
    await ignore({});
    app.clock.move(2 * DAY);
    expect(await tick()).toBe('0 offered again');
    expect(await slugs()).toEqual(['1 platform']);
  });

  it.each([
    [{ slug: 'no-such-plugin' }, 'slug'],
    [{ type: 'core', slug: 'akismet' }, 'slug'],
    [{ until: '2001-01-01' }, 'until'],
    [{ until: 'next month' }, 'until'],
    [{ action: 'unignore', until: '2999-01-01' }, 'until'],
  ])('refuses %j and changes nothing', async (input, field) => {
    const call = { action: 'ignore', type: 'plugin', slug: plugin.slug, ...input };
    expect(await app.fail('ignore-update-everywhere', call)).toMatchObject({ code: 'svc_invalid_input', field });
    expect(await slugs()).toHaveLength(2);
  });
});
