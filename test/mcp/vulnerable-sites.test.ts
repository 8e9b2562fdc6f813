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
