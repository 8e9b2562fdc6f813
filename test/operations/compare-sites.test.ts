/** What differs between sites: over MCP and HTTP, against the state of simulated sites. */

import { beforeAll, describe, expect, it } from 'vitest';
import { plugin, type SupportApp, supportApp } from './support-app.js';

interface Row {
  area: string;
  what: string;
  slug?: string;
  difference: string;
  values: (string | null)[];
}

let support: SupportApp;
const compare = (input: Record<string, unknown>) => support.ask('compare-sites', { per_page: 50, ...input });
const rowsOf = (answer: { rows: Row[] }, area: string) => answer.rows.filter((row) => row.area === area);
const rowOf = (answer: { rows: Row[] }, what: string) => answer.rows.find((row) => row.what === what);
const countOf = (counts: { area: string; count: number }[], area: string) =>
  counts.find((one) => one.area === area)?.count ?? 0;

/** All rows of plugins of these sites, by slug, as the simulated sites have them. */
function expectedPlugins(places: readonly number[]): Map<string, { difference: string; values: string[] }> {
  const sites = places.map((place) => support.app.fleet.site(place).state.plugins);
  const slugs = new Set(sites.flatMap((plugins) => plugins.map(({ slug }) => slug)));
  return new Map(
    [...slugs].map((slug) => {
      const found = sites.map((plugins) => plugins.find((one) => one.slug === slug));
      const versions = new Set(found.map((one) => one?.version));
      const active = new Set(found.map((one) => one === undefined || one.active || one.mustUse));
      const difference = found.includes(undefined)
        ? 'missing'
        : versions.size > 1
          ? 'version'
          : active.size > 1
            ? 'active'
            : 'none';
      const values = found.map((one) =>
        one === undefined ? 'not installed' : `${one.version}${one.active || one.mustUse ? '' : ', off'}`,
      );
      return [slug, { difference, values }];
    }),
  );
}

beforeAll(async () => {
  support = await supportApp({
    connected: 4,
    prepare(app) {
      for (const place of [0, 1]) {
        plugin(app, place, { slug: 'forms/forms.php', name: 'Forms', version: '3.1', active: place === 0 });
        plugin(app, place, { slug: 'shop/shop.php', name: 'Shop', version: place === 0 ? '1.0' : '2.0' });
        plugin(app, place, { slug: 'same/same.php', name: 'Same', version: '7.7' });
      }
      plugin(app, 0, { slug: 'only/only.php', name: 'Only here', version: '1.1' });
      const [first, second] = [app.fleet.site(0).state, app.fleet.site(1).state];
      first.phpVersion = '8.1.2';
      second.phpVersion = '8.3.9';
      second.wpVersion = first.wpVersion;
      const [admin] = second.users;
      if (admin !== undefined) second.users.push({ ...admin, id: 77, login: 'mallory', role: 'administrator' });
    },
  });
  await support.app.call('add-tag', { name: 'Staging' });
  await support.app.call('update-site', { site_id_or_domain: 1, tags: [1], ssl_verify: false });
});

describe('compare-sites', () => {
  it('lists what differs and counts what is the same', async () => {
    const { url } = support.app.fleet.site(1);
    const answer = await compare({ site_ids_or_domains: [1, url] });
    expect(answer.sites.map(({ id }: { id: number }) => id)).toEqual([1, 2]);
    expect(rowOf(answer, 'PHP')).toEqual({
      area: 'version',
      what: 'PHP',
      difference: 'value',
      values: ['8.1.2', '8.3.9'],
    });
    expect(rowOf(answer, 'WordPress')).toBeUndefined();
    expect(rowOf(answer, 'tags')).toMatchObject({ area: 'site', values: ['Staging', 'none'] });
    expect(rowOf(answer, 'certificate is checked')).toMatchObject({ area: 'setting', values: ['no', 'yes'] });
    expect(rowOf(answer, 'Forms')).toMatchObject({ difference: 'active', values: ['3.1', '3.1, off'] });
    expect(rowOf(answer, 'Shop')).toMatchObject({
      difference: 'version',
      slug: 'shop/shop.php',
      values: ['1.0', '2.0'],
    });
    expect(rowOf(answer, 'Only here')).toMatchObject({ difference: 'missing', values: ['1.1', 'not installed'] });
    const expected = [...expectedPlugins([0, 1])];
    const different = expected.filter(([, { difference }]) => difference !== 'none');
    expect(
      new Map(rowsOf(answer, 'plugin').map(({ slug, difference, values }) => [slug, { difference, values }])),
    ).toEqual(new Map(different));
    expect(countOf(answer.different, 'plugin')).toBe(different.length);
    expect(countOf(answer.same, 'plugin')).toBe(expected.length - different.length);
    expect(answer.total).toBe(answer.different.reduce((sum: number, { count }: { count: number }) => sum + count, 0));
  });

  it('lists what is the same where asked, page by page', async () => {
    const all = await compare({ site_ids_or_domains: [1, 2, 3], same: true });
    expect(all.total).toBeGreaterThan(all.rows.length - 1);
    const count = (counts: { count: number }[]) => counts.reduce((sum, one) => sum + one.count, 0);
    expect(all.total).toBe(count(all.different) + count(all.same));
    const rows: Row[] = [];
    for (let page = 1; page <= Math.ceil(all.total / 10); page++)
      rows.push(...(await compare({ site_ids_or_domains: [1, 2, 3], same: true, page, per_page: 10 })).rows);
    expect(rows).toHaveLength(all.total);
    expect(rows.slice(0, all.rows.length)).toEqual(all.rows);
    const found = new Map(
      rowsOf({ rows }, 'plugin').map(({ slug, difference, values }) => [slug, { difference, values }]),
    );
    expect(found).toEqual(expectedPlugins([0, 1, 2]));
  });

  it('asks for administrators only if told to, and says which site did not name them', async () => {
    const { app } = support;
    const requests = app.fleet.stats().requests;
    await compare({ site_ids_or_domains: [1, 2] });
    expect(app.fleet.stats().requests).toBe(requests);
    app.fleet.site(2).faults.offline = true;
    const answer = await compare({ site_ids_or_domains: [1, 2, 3], administrators: true });
    app.fleet.site(2).faults.offline = false;
    expect(rowOf(answer, 'mallory')).toEqual({
      area: 'administrator',
      what: 'mallory',
      difference: 'missing',
      values: ['no', 'yes', null],
    });
    expect(answer.errors).toMatchObject([{ site_id: 3, code: 'svc_site_offline' }]);
  });

  it('does not take for different, or for missing, what is not known of a site', async () => {
    const { lastId } = await support.app.db.run(
      "INSERT INTO site (url, url_key, name, search, created_at) VALUES ('https://new.example/', 'new.example/', 'New', 'new', 1)",
    );
    await support.app.db.run('INSERT INTO site_detail (site_id) VALUES (?)', [lastId]);
    const answer = await compare({ site_ids_or_domains: [1, 'new.example'] });
    expect(answer.sites[1]).toMatchObject({ id: lastId, last_sync: null });
    expect([...rowsOf(answer, 'version'), ...rowsOf(answer, 'plugin')]).toEqual([]);
  });

  it.each([
    [{ site_ids_or_domains: [1] }, 'ability_invalid_input', 'site_ids_or_domains'],
    [{ site_ids_or_domains: [1, 2, 3, 4, 5, 6] }, 'ability_invalid_input', 'site_ids_or_domains'],
    [{ site_ids_or_domains: [1, '1'] }, 'svc_invalid_input', 'site_ids_or_domains[1]'],
    [{ site_ids_or_domains: [1, 'nowhere.example'] }, 'svc_site_not_found', 'site_ids_or_domains[1]'],
    [{ site_ids_or_domains: [1, 2], users: true }, 'ability_invalid_input', 'users'],
  ])('refuses %j', async (input, code, field) => {
    const { body } = await support.post('compare-sites', input);
    expect([body.code, body.data.field]).toEqual([code, field]);
  });

  it('names an item by its whole slug, which other operations take', async () => {
    const slug = `${'a-long-name-of-a-plugin-'.repeat(4)}/plugin.php`;
    plugin(support.app, 0, { slug, name: 'Long' });
    await support.app.call('sync-sites', { site_ids_or_domains: [1] });
    const found = await compare({ site_ids_or_domains: [1, 2] });
    expect(rowOf(found, 'Long')?.slug).toBe(slug);
  });

  it('stays below 5,000 tokens with hundreds of plugins of long names', async () => {
    const { app } = support;
    const numbers = JSON.stringify(Array.from({ length: 400 }, (_, index) => index));
    const long = '外掛'.repeat(60);
    await app.db.run(
      `INSERT INTO package (id, kind, slug, name) SELECT 5000 + value, 0, value || ?1, value || ?1 FROM json_each(?2)`,
      [long, numbers],
    );
    await app.db.run(
      `INSERT INTO site_extension (site_id, kind, package_id, position, version, active)
       SELECT s.value, 0, 5000 + n.value, 1, s.value || ?1, s.value % 2 FROM json_each(?2) n, json_each('[1,2,3,4]') s`,
      [long, numbers],
    );
    const answer = await support.tool('compare-sites', { site_ids_or_domains: [1, 2, 3, 4] });
    expect(answer.rows.length).toBeGreaterThan(10);
    expect(answer.truncated).toContain(`${answer.rows.length} of ${answer.total} rows are shown`);
    expect(answer.total).toBeGreaterThan(400);
  });
});
