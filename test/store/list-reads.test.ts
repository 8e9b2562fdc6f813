import { expect, it } from 'vitest';
import { benchVault } from '../../bench/lib/database.js';
import { seedFleet } from '../../bench/lib/seed.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { openDb } from '../../src/store/driver/open.js';
import { migrations } from '../../src/store/schema/index.js';
import { createStore } from '../../src/store/store.js';
import { needs } from '../support/needs.js';
import { startSqld } from '../support/sqld.js';

/** The reads of the long lists over a seeded fleet. */
async function listsOf(url: string) {
  const db = await openDb(url);
  await migrate(db, migrations);
  await seedFleet(db, { sites: 40 });
  const store = createStore(db, benchVault());
  const ids = [3, 1, 2, 40];
  const { revision, ...page } = await store.siteUpdates.page({ types: [], search: '' }, 2, 10);
  expect(await store.siteUpdates.revision()).toBe(revision);
  await db.run('UPDATE site SET suspended = 1 - suspended WHERE id = 1');
  expect(await store.siteUpdates.revision()).not.toBe(revision);
  const { inventoryLists, siteRecords } = store;
  const found = await Promise.all([
    inventoryLists.texts(ids, { plugins: true, themes: true, documents: true }),
    inventoryLists.offers(ids),
    siteRecords.shown(ids),
  ]);
  const offering = await db.one('SELECT count(DISTINCT site_id) AS n FROM site_update WHERE ignored = 0');
  await db.close();
  expect(page.total).toBe(offering?.n);
  return { page, found };
}

it('long lists read the same from memory and from a server', needs('sqld'), async () => {
  const sqld = await startSqld();
  const embedded = await listsOf(':memory:');
  expect(await listsOf(`http://${sqld.host}`)).toEqual(embedded);
  expect(JSON.parse(String(embedded.found[0].get(3)?.plugins))).toHaveLength(30);
  await sqld.stop();
});
