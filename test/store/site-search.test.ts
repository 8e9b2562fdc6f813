/** A search takes one of four paths through storage; the results must not show which. */

import { beforeAll, describe, expect, it } from 'vitest';
import { benchVault, openWriter } from '../../bench/lib/database.js';
import { seedFleet } from '../../bench/lib/seed.js';
import type { Db } from '../../src/store/driver/db.js';
import { createSites } from '../../src/store/sites/sites.js';
import { closing } from '../support/cleanup.js';

let db: Db;
let sites: { id: number; search: string; url_key: string }[];

beforeAll(async () => {
  db = closing(await openWriter(':memory:'));
  await seedFleet(db, { sites: 700, plugins: 2 });
  await db.run(
    `UPDATE site SET name = '100%_sure "x"', search = '100%_sure "x"' || char(31) || lower(url) WHERE id = 5`,
  );
  sites = (await db.all('SELECT id, search, url_key FROM site ORDER BY url_key, id')) as typeof sites;
});

describe('a search', () => {
  it.each([
    ['nobody', 'no-such-site'],
    ['one site', '-699.'],
    ['few', 'ham-1'],
    ['many', 'bakery'],
    ['all', 'example'],
    ['many by a long word', '.example'],
    ['few by a long word', 'tonvitmouth'],
    ['one site by a long word', 'harbour-bakery-paldalham-1.'],
    ['two characters', 'ba'],
    ['signs of LIKE', '100%_su'],
    ['a quotation mark', '"x"'],
    ['signs of LIKE that must not match everything', '%%%'],
    ['capitals', 'BaKeRy'],
  ])('that finds %s has the same pages and total as a look at every name', async (_what, search) => {
    const wanted = sites.filter((site) => site.search.includes(search.toLowerCase())).map(({ id }) => id);
    if (search !== 'no-such-site' && search !== '%%%') expect(wanted.length).toBeGreaterThan(0);
    const store = createSites(db, benchVault());
    for (const perPage of [7, 100]) {
      const pages = Math.ceil(wanted.length / perPage) + 1;
      const found: number[] = [];
      for (let page = 1; page <= pages; page++) {
        const { items, total } = await store.list({ search }, page, perPage);
        expect(total).toBe(wanted.length);
        found.push(...items.map(({ id }) => id));
      }
      expect(found).toEqual(wanted);
    }
  });

  it('narrowed by a status or excluded sites counts only what is left', async () => {
    const store = createSites(db, benchVault());
    const all = await store.list({ search: 'bakery' }, 1, 100);
    const [first] = all.items;
    const hidden = await store.list({ search: 'bakery', exclude: [first?.id ?? 0] }, 1, 100);
    expect(hidden.total).toBe(all.total - 1);
    expect(hidden.items.map(({ id }) => id)).not.toContain(first?.id);
    const suspended = await store.list({ search: 'bakery', status: 'suspended' }, 1, 100);
    expect(suspended.items.every(({ status }) => status === 'suspended')).toBe(true);
    expect(suspended.total).toBe(suspended.items.length);
  });
});

describe('early pages of updates', () => {
  it('follow on each other without gap or double, on both sides of the change of ways', async () => {
    const { createUpdates } = await import('../../src/store/updates/updates.js');
    const updates = createUpdates(db);
    const wanted = await db.all(
      'SELECT site_id, type, slug FROM site_update WHERE ignored = 0 ORDER BY url_key, site_id, type, position',
    );
    const found: unknown[] = [];
    for (let page = 1; page * 25 <= 400; page++) {
      const { items } = await updates.page({ types: [] }, page, 25);
      found.push(...items.map(({ site_id, type, slug }) => ({ site_id, type, slug })));
    }
    expect(found.length).toBeGreaterThan(150);
    expect(found).toEqual(wanted.slice(0, found.length));
  });
});
