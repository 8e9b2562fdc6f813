/** A vulnerability on more sites than are named leads to the call that names them all. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { refreshVulnerabilities } from '../../src/domain/vulnerabilities/refresh.js';
import { plugin, supportApp } from '../operations/support-app.js';
import { tempFolder } from '../support/cleanup.js';
import { entry, feedText } from '../vulnerabilities/feed.js';

it('list-vulnerabilities names three sites, and how to get all', async () => {
  const feed = join(tempFolder('feed'), 'feed.json');
  const affected: [string, boolean, string, boolean][] = [['*', true, '*', true]];
  writeFileSync(feed, feedText([entry(1, { slug: 'shop', affected }), entry(2, { slug: 'rare', affected })]));
  const support = await supportApp({
    connected: 5,
    config: { vulnerability_feed: feed },
    prepare(app) {
      for (let at = 0; at < 5; at++) plugin(app, at, { slug: 'shop/shop.php', name: 'Shop', version: '1.0' });
      plugin(app, 0, { slug: 'rare/rare.php', name: 'Rare', version: '1.0' });
    },
  });
  await refreshVulnerabilities(support.app.ctx());
  const { vulnerabilities } = await support.tool('list-vulnerabilities');
  const of = (slug: string) => vulnerabilities.find((one: { slug: string }) => one.slug === slug);
  expect(of('shop/shop.php')).toMatchObject({ sites: 5, next: expect.stringMatching(/^All 5 sites: /) });
  expect(of('rare/rare.php')).toMatchObject({ sites: 1 });
  expect(of('rare/rare.php')).not.toHaveProperty('next');
  const { total } = await support.follow(of('shop/shop.php').next.replace('All 5 sites: ', ''));
  expect(total).toBe(5);
});

it('a vulnerability of WordPress itself leads to the sites that run it, and to no others', async () => {
  const feed = join(tempFolder('feed'), 'feed.json');
  const affected: [string, boolean, string, boolean][] = [['*', true, '*', true]];
  const core = (n: number, below: string) =>
    entry(n, { type: 'core', slug: 'wordpress', affected: [['*', true, below, false]], fixed: [below] });
  writeFileSync(feed, feedText([core(1, '6.4.3'), core(2, '6.5.2'), entry(3, { slug: 'shop', affected })]));
  const versions = ['6.4.1', '6.4.2', '6.4.2', '6.4.2', '6.5.1', '6.6', '6.6'];
  const support = await supportApp({
    connected: versions.length,
    config: { vulnerability_feed: feed },
    prepare(app) {
      for (const [at, version] of versions.entries()) {
        app.fleet.site(at).state.wpVersion = version;
        if (at > 3) plugin(app, at, { slug: 'shop/shop.php', name: 'Shop', version: '1.0' });
      }
    },
  });
  await refreshVulnerabilities(support.app.ctx());
  await support.app.call('add-tag', { name: 'Blue' });
  await support.app.call('tag-sites', { site_ids_or_domains: [1, 2, 3, 4, 7], add: ['Blue'] });
  const next = async (at: number, input = {}) => {
    const { vulnerabilities } = await support.tool('list-vulnerabilities', { slug: 'wordpress', ...input });
    const sorted = vulnerabilities.sort((a: { sites: number }, b: { sites: number }) => a.sites - b.sites);
    const [, count, call] = /^All (\d+) sites: (.*)$/.exec(sorted[at].next) ?? [];
    const found = await support.follow(String(call));
    expect(found.total).toBe(Number(count));
    return found.rows.map(([id]: [number]) => id).sort();
  };
  expect(await next(0)).toEqual([1, 2, 3, 4]);
  expect(await next(1)).toEqual([1, 2, 3, 4, 5]);
  expect(await next(1, { tag_ids: [1] })).toEqual([1, 2, 3, 4]);
  // A plugin beside it keeps its own meaning.
  const shops = await support.ask('search-fleet', { vulnerable: 'core', plugin: 'shop' });
  expect(shops.rows.map(([id]: [number]) => id)).toEqual([5]);
  await support.app.db.run("UPDATE site_detail SET wp_version = '' WHERE site_id = 6");
  expect(await support.ask('search-fleet', { vulnerable: 'core' })).toMatchObject({ total: 5, unknown: 1 });
});

it('without a feed it is not known which sites run a vulnerable WordPress', async () => {
  const support = await supportApp({ connected: 2 });
  const found = await support.ask('search-fleet', { vulnerable: 'core' });
  expect(found).toMatchObject({ total: 0, unknown: 2, note: expect.stringContaining('No vulnerability feed') });
});
