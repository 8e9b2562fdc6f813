/** Applying updates: an update only counts once the site shows it (operations §8.4; child protocol §6.8). */

import { beforeEach, describe, expect, it } from 'vitest';
import type { DemoSite } from '../../src/demo/fleet.js';
import {
  appWithUpdates,
  type CheckedApp,
  codesOf,
  itemsOf,
  offeredPlugins,
  offers,
  type UpdateItem,
} from './checked-app.js';

const OF = { site_id_or_domain: 1 };

let app: CheckedApp;
let site: DemoSite;
beforeEach(async () => {
  app = await appWithUpdates();
  site = app.site(0);
});

const asked = (which: DemoSite, name: string) => which.calls.filter((call) => call.function === name).length;
const plugins = () => offeredPlugins(site);

describe('applying', () => {
  it('update-all applies everything on every site and counts it', async () => {
    const answer = await app.call('update-all');
    expect(answer).toMatchObject({
      queued: false,
      updated: { core: 3, plugins: 6, themes: 3, translations: 3 },
      errors: [],
      summary: { total_updated: 15, total_errors: 0, sites_updated: 3 },
    });
    expect(await app.call('list-updates')).toMatchObject({ total: 0 });
    expect(await app.call('sync-sites')).toMatchObject({ total_synced: 3 });
    expect(await app.call('list-updates')).toMatchObject({ total: 0 });
    expect(await app.call('get-site', OF)).toMatchObject({ wp_version: '7.1' });
    expect(await app.call('update-all')).toMatchObject({ summary: { total_updated: 0, total_errors: 0 } });
  });

  it('run-updates keeps to the types and slugs, one call per type', async () => {
    const [a = ''] = plugins();
    const answer = await app.call('run-updates', {
      site_ids_or_domains: [1, 2],
      types: ['plugins', 'themes'],
      specific_items: [a, 'platform'],
    });
    expect(new Set(answer.updated.map(({ slug }: UpdateItem) => slug))).toEqual(new Set([a]));
    expect(answer.updated[0]).toEqual({
      site_id: 1,
      site_url: site.url,
      site_name: expect.any(String),
      type: 'plugin',
      slug: a,
      name: expect.any(String),
      old_version: '1.0',
      new_version: '2.0',
      change_id: expect.stringMatching(/^change_/),
      can_roll_back: false,
      cannot_roll_back_because: 'No guard kept a copy of 1.0.',
    });
    expect(site.state.wpVersion).toBe('7.0');
    await app.call('run-updates', { site_ids_or_domains: [3], types: ['plugins'] });
    expect(asked(app.site(2), 'upgradeplugintheme')).toBe(1);
    expect(await app.call('run-updates', { site_ids_or_domains: [3], types: ['plugins'] })).toMatchObject({
      updated: [],
      errors: [],
      summary: { sites_updated: 0 },
    });
  });

  it('leaves suspended sites out of "all", and reports disconnected ones', async () => {
    await app.call('suspend-site', { site_id_or_domain: 1 });
    await app.call('disconnect-site', { site_id_or_domain: 2 });
    for (const name of ['run-updates', 'update-all']) {
      const answer = await app.call(name);
      expect(itemsOf(answer.errors)).toEqual(['2 site ']);
      expect(codesOf(answer)).toEqual(['svc_site_offline']);
    }
    expect(asked(site, 'upgrade') + asked(app.site(1), 'upgrade')).toBe(0);
    expect(
      codesOf(await app.call('run-updates', { site_ids_or_domains: [1], types: ['core'], specific_items: ['none'] })),
    ).toEqual(['svc_no_updates', 'svc_site_suspended']);
  });

  it('believes versions, not the word success', async () => {
    site.faults.falseSuccess = true;
    const answer = await app.call('update-all', { site_ids_or_domains: [1] });
    expect(answer).toMatchObject({
      updated: { core: 0, plugins: 0, themes: 0, translations: 0 },
      summary: { total_updated: 0, total_errors: 5, sites_updated: 0 },
    });
    expect(codesOf(answer)).toEqual(Array(5).fill('svc_update_failed'));
    for (const name of ['update-site-core', 'update-site-translations'])
      expect((await app.fail(name, OF)).code).toBe('svc_update_failed');
    expect(await app.call('list-updates', { site_ids_or_domains: [1] })).toMatchObject({ total: 5 });
  });

  it('goes on after a failing type, with the reason of the site', async () => {
    const [a = '', b = ''] = plugins();
    site.faults.failUpdates = ['core', a];
    const answer = await app.call('run-updates', { site_ids_or_domains: [1] });
    expect(itemsOf(answer.errors)).toEqual(['1 core platform', `1 plugin ${a}`]);
    for (const { message } of answer.errors) expect(message).not.toMatch(/[<>&]/);
    expect(itemsOf(answer.updated)).toEqual(expect.arrayContaining([`1 plugin ${b}`]));
    expect(answer.summary).toEqual({ total_updated: 3, total_errors: 2, sites_updated: 1 });
  });

  it('tells when WordPress restored the old version', async () => {
    const [a = ''] = plugins();
    site.faults = { failUpdates: true, rollback: true };
    const { errors } = await app.call('update-site-plugins', { ...OF, slugs: [a] });
    expect(errors).toMatchObject([
      {
        site_id: 1,
        type: 'plugin',
        slug: a,
        code: 'svc_update_failed',
        message: expect.stringMatching(/restored the old version/),
      },
    ]);
  });

  it('looks before it calls a cut connection a failure', async () => {
    site.faults.dieMidUpdate = true;
    const answer = await app.call('update-site-plugins', OF);
    expect(answer).toMatchObject({ total_updated: 2, errors: [] });
    expect(await app.call('update-site-core', OF)).toMatchObject({ updated: true, new_version: '7.1' });
    expect(asked(site, 'upgradeplugintheme')).toBe(1);
  });

  it('does not take credit for what was updated elsewhere', async () => {
    const [a = '', b = ''] = plugins();
    const plugin = site.state.plugins.find(({ slug }) => slug === a);
    Object.assign(plugin ?? {}, { version: '2.0', update: null });
    Object.assign(site.state, { wpVersion: '7.1', wpUpdate: null });
    const answer = await app.call('update-site-plugins', OF);
    expect(answer).toMatchObject({
      updated: [{ slug: b }],
      errors: [{ slug: a, code: 'svc_no_updates', message: expect.stringMatching(/2\.0/) }],
    });
    expect(await app.call('update-site-core', OF)).toMatchObject({
      updated: false,
      old_version: '7.1',
      new_version: '7.1',
    });
    expect(await app.call('list-updates', { site_ids_or_domains: [1], types: ['core', 'plugins'] })).toMatchObject({
      total: 0,
    });
  });

  it('does not believe in a plugin that was removed meanwhile', async () => {
    const [a = ''] = plugins();
    site.state.plugins = site.state.plugins.filter(({ slug }) => slug !== a);
    const { updated, errors } = await app.call('update-site-plugins', { ...OF, slugs: [a] });
    expect(updated).toEqual([]);
    expect(errors).toMatchObject([
      { slug: a, code: 'svc_update_failed', message: expect.stringMatching(/no longer installed/) },
    ]);
  });

  it.each([
    ['NORESPONSE', /no update/],
    ['LOCALIZATION', /language/],
    ['LOCKED', /./],
  ] as const)('tells why core was not updated: %s', async (coreAnswer, message) => {
    site.faults.coreAnswer = coreAnswer;
    const error = await app.fail('update-site-core', OF);
    expect(error).toMatchObject({ code: 'svc_update_failed', status: 502, data: { site_id: 1 } });
    expect(error.message).toMatch(message);
  });

  it('has nothing to do on a site that is up to date', async () => {
    offers(site, {});
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const calls = site.calls.length;
    expect(await app.call('update-site-core', OF)).toEqual({
      site_id: 1,
      site_url: site.url,
      updated: false,
      old_version: '7.0',
      new_version: '7.0',
    });
    expect(await app.call('update-site-plugins', OF)).toMatchObject({ updated: [], errors: [], total_updated: 0 });
    expect(await app.call('update-site-themes', { ...OF, slugs: ['x', 'x'] })).toMatchObject({
      errors: [{ slug: 'x', code: 'svc_no_updates' }],
    });
    expect(await app.call('update-site-translations', OF)).toEqual({
      site_id: 1,
      site_url: site.url,
      updated: false,
      translations_updated: 0,
    });
    expect(site.calls.length).toBe(calls);
  });

  it('updates themes and translations of one site', async () => {
    expect(await app.call('update-site-themes', OF)).toMatchObject({
      updated: [{ old_version: '1.0', new_version: '2.0' }],
      total_updated: 1,
    });
    expect(await app.call('update-site-translations', OF)).toEqual({
      run_id: expect.stringMatching(/^run_/),
      site_id: 1,
      site_url: site.url,
      updated: true,
      translations_updated: 1,
      checked: [expect.stringContaining('1 site: /')],
      not_checked: expect.any(Array),
    });
    site.state.translations = ['one', 'two'].map((slug) => ({
      type: 'plugin' as const,
      slug,
      language: 'de_DE',
      version: '5.0',
      name: slug,
    }));
    site.faults.failUpdates = ['two'];
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    expect(await app.call('update-site-translations', OF)).toMatchObject({
      updated: true,
      translations_updated: 1,
      errors: [{ type: 'translation', slug: 'two', code: 'svc_update_failed' }],
    });
  });

  it('tells its progress', async () => {
    const seen: number[] = [];
    await app.call('update-all', {}, { progress: ({ done, total }) => seen.push(done / total) });
    expect(seen.at(-1)).toBe(1);
  });
});
