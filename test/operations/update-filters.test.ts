/** Filters of update lists and runs: they only ever narrow, and a name that matches nothing is refused. */

import { beforeEach, describe, expect, it } from 'vitest';
import { type CheckedApp, checkedApp, ordinary } from './checked-app.js';

let app: CheckedApp;
/** Two plugins that every site has, each with an update of a different level. */
let kept: { slug: string; name: string };
let other: { slug: string; name: string };

const stem = (slug: string) => slug.split('/')[0]?.replace(/\.php$/, '') ?? '';
const offer = (version: string) => ({ version, requiresPhp: '', requiresWp: '' });

beforeEach(async () => {
  app = await checkedApp({ sites: 3, config: { batch_threshold: 2 } });
  const sites = [0, 1, 2].map((i) => app.site(i));
  const everywhere = ordinary(sites[0] as ReturnType<CheckedApp['site']>).filter(({ slug }) =>
    sites.every(({ state }) => ordinary({ state } as never).some((plugin) => plugin.slug === slug)),
  );
  const [first, second] = everywhere;
  if (first === undefined || second === undefined) throw new Error('The sites have too little in common.');
  [kept, other] = [first, second];
  for (const { state } of sites) {
    state.wpVersion = '7.0';
    state.wpUpdate = '7.1';
    for (const theme of state.themes) theme.update = null;
    state.translations = [];
    for (const plugin of state.plugins) {
      plugin.update = null;
      if (plugin.slug === kept.slug) Object.assign(plugin, { version: '1.2.3', update: offer('2.0') });
      if (plugin.slug === other.slug) Object.assign(plugin, { version: '1.2.3', update: offer('1.2.4') });
    }
  }
  await app.connectAll(3);
  await app.call('add-tag', { name: 'staging' });
  await app.call('add-client', { name: 'Ada' });
  await app.call('update-site', { site_id_or_domain: 1, tags: [1], client_id: 1 });
  await app.call('update-site', { site_id_or_domain: 2, tags: [1] });
});

type Entry = { site_id: number; type: string; slug: string };
const keys = (entries: Entry[]) => entries.map(({ site_id, slug }) => `${site_id} ${slug}`).sort();
const times = (sites: number[], ...slugs: string[]) =>
  sites.flatMap((site) => slugs.map((slug) => `${site} ${slug}`)).sort();

describe('list-updates', () => {
  const listed = async (input: object) => {
    const answer = await app.call('list-updates', { ...input, per_page: 200 });
    expect(answer.total).toBe(answer.updates.length);
    expect(answer.summary.total).toBe(answer.total);
    return keys(answer.updates);
  };

  it('keeps to what each filter says, alone and together', async () => {
    expect(await listed({})).toEqual(times([1, 2, 3], kept.slug, other.slug, 'platform'));
    expect(await listed({ tag_ids: [1] })).toEqual(times([1, 2], kept.slug, other.slug, 'platform'));
    expect(await listed({ client_ids: [1] })).toEqual(times([1], kept.slug, other.slug, 'platform'));
    expect(await listed({ slug: kept.slug })).toEqual(times([1, 2, 3], kept.slug));
    expect(await listed({ slug: stem(kept.slug).toUpperCase() })).toEqual(times([1, 2, 3], kept.slug));
    expect(await listed({ slug: kept.name })).toEqual(times([1, 2, 3], kept.slug));
    expect(await listed({ exclude_slugs: [kept.name] })).toEqual(times([1, 2, 3], other.slug, 'platform'));
    expect(await listed({ exclude_slugs: [kept.slug, 'WordPress'] })).toEqual(times([1, 2, 3], other.slug));
    expect(await listed({ level: ['patch'] })).toEqual(times([1, 2, 3], other.slug));
    expect(await listed({ level: 'major' })).toEqual(times([1, 2, 3], kept.slug));
    expect(await listed({ level: ['minor'] })).toEqual(times([1, 2, 3], 'platform'));
    expect(await listed({ search: kept.name.toUpperCase() })).toContain(`1 ${kept.slug}`);
    expect(await listed({ search: 'zzzzz' })).toEqual([]);
    expect(await listed({ tag_ids: [1], exclude_slugs: [kept.slug], types: ['plugins'] })).toEqual(
      times([1, 2], other.slug),
    );
    expect(await listed({ site_ids_or_domains: [3, 2], tag_ids: [1], level: ['patch'] })).toEqual(
      times([2], other.slug),
    );
  });

  it('take no name that one site gives to what others call otherwise', async () => {
    const mine = app.site(2).state.plugins.find(({ slug }) => slug === other.slug);
    for (const name of [kept.name, stem(kept.slug)]) {
      Object.assign(mine ?? {}, { name });
      await app.call('sync-sites', { site_ids_or_domains: [3] });
      expect(await listed({ slug: name })).toEqual(times([1, 2, 3], kept.slug));
      expect(await listed({ exclude_slugs: [name], types: ['plugins'] })).toEqual(times([1, 2, 3], other.slug));
    }
    const answer = await app.call('run-updates', {
      exclude_slugs: [stem(kept.slug)],
      types: ['plugins'],
      site_ids_or_domains: [1, 2],
    });
    expect(keys(answer.updated)).toEqual(times([1, 2], other.slug));
  });

  it('pages in the order of the list, with counts by type', async () => {
    const input = { exclude_slugs: [kept.slug], per_page: 2 };
    const pages = [];
    for (const page of [1, 2, 3, 4]) pages.push(await app.call('list-updates', { ...input, page }));
    expect(pages.map(({ updates }) => updates.length)).toEqual([2, 2, 2, 0]);
    expect(keys(pages.flatMap(({ updates }) => updates))).toEqual(times([1, 2, 3], other.slug, 'platform'));
    for (const { summary } of pages) expect(summary).toMatchObject({ core: 3, plugins: 3, themes: 0, total: 6 });
    const named = await app.call('list-updates', { site_ids_or_domains: [3, 1, 2], slug: 'platform' });
    expect(named.updates.map(({ site_id }: Entry) => site_id)).toEqual([3, 1, 2]);
  });

  it('leaves out ignored updates', async () => {
    await app.call('ignore-site-plugins', { site_id_or_domain: 1, action: 'add', slugs: [kept.slug] });
    expect(await listed({ slug: kept.slug })).toEqual(times([2, 3], kept.slug));
  });
});

describe.each(['run-updates', 'update-all'])('%s', (name) => {
  const left = async () => keys((await app.call('list-updates', { per_page: 200 })).updates);

  it('updates a tag except one plugin', async () => {
    const preview = await app.call(name, { tag_ids: [1], exclude_slugs: [stem(kept.slug)], dry_run: true });
    expect(keys(preview.would_update)).toEqual(times([1, 2], other.slug, 'platform'));
    const answer = await app.call(name, { tag_ids: [1], exclude_slugs: [stem(kept.slug)] });
    expect(answer).toMatchObject({ queued: false, errors: [], summary: { total_updated: 4, sites_updated: 2 } });
    expect(await left()).toEqual(
      [...times([1, 2], kept.slug), ...times([3], kept.slug, other.slug, 'platform')].sort(),
    );
  });

  it('keeps to a level, a client and a search on the sites that are named', async () => {
    expect(
      await app.call(name, { site_ids_or_domains: [1, 3], client_ids: [1], level: ['patch'], search: other.name }),
    ).toMatchObject({ queued: false, errors: [], summary: { total_updated: 1, sites_updated: 1 } });
    expect(await left()).not.toContain(`1 ${other.slug}`);
    expect(await left()).toContain(`3 ${other.slug}`);
  });

  it('does nothing when the filters leave nothing', async () => {
    await app.call('update-site', { site_id_or_domain: 1, tags: [] });
    await app.call('update-site', { site_id_or_domain: 2, tags: [] });
    const before = await left();
    for (const input of [{ tag_ids: [1] }, { search: 'zzzzz' }, { slug: kept.slug, exclude_slugs: [kept.slug] }])
      expect(await app.call(name, input)).toMatchObject({
        queued: false,
        errors: [],
        summary: { total_updated: 0, sites_updated: 0 },
      });
    expect(await left()).toEqual(before);
  });

  it('keeps to the filters in a job, too', async () => {
    const { job_id, sites_queued } = await app.call(name, { exclude_slugs: [kept.slug], level: ['patch', 'major'] });
    expect(sites_queued).toBe(3);
    await app.drain();
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({ status: 'completed' });
    expect(await left()).toEqual(times([1, 2, 3], kept.slug, 'platform'));
  });

  it.each([
    [{ exclude_slugs: ['woocomerce'] }, 'svc_invalid_input', 'exclude_slugs'],
    [{ slug: 'no-such-plugin' }, 'svc_invalid_input', 'slug'],
    [{ tag_ids: [1, 99] }, 'svc_tag_not_found', 'tag_ids'],
    [{ client_ids: [99] }, 'svc_client_not_found', 'client_ids'],
    [{ exclude_slug: ['x'] }, 'ability_invalid_input', 'exclude_slug'],
    [{ level: ['tiny'] }, 'ability_invalid_input', 'level[0]'],
  ])('refuses %j: left out of account it would update more', async (input, code, field) => {
    const before = await app.content();
    expect(await app.fail(name, input)).toMatchObject({ code, field });
    expect(await app.content()).toBe(before);
  });
});
