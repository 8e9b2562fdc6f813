/**
 * The planner's statistics: when they are collected, that plans use them, and that the search index is optimized with
 * them.
 */

import { expect, it } from 'vitest';
import { openWriter } from '../../bench/lib/database.js';
import { seedFleet } from '../../bench/lib/seed.js';
import type { Db } from '../../src/store/driver/db.js';
import { createStatistics } from '../../src/store/fleet/statistics.js';
import { createSiteRecords } from '../../src/store/sites/records.js';
import { closing } from '../support/cleanup.js';

/** Whether a list of connected sites in id order needs a sort: the status index has the addresses in order. */
async function sorts(db: Db): Promise<boolean> {
  let plan = '';
  const watched = {
    one: async (text: string, args: readonly never[]) => {
      const steps = await db.all(`EXPLAIN QUERY PLAN ${text}`, args);
      plan = steps.map(({ detail }) => detail).join('; ');
      return { items: '[]', total: 0 };
    },
  } as unknown as Db;
  const order = { by: 'id', descending: false } as const;
  await createSiteRecords(watched).list({ status: 'connected' }, order, { skip: 0 }, 20);
  return plan.includes('TEMP B-TREE');
}

/** Number of parts of the search index that a search has to read. */
async function searchParts(db: Db): Promise<number> {
  return Number((await db.one('SELECT count(DISTINCT segid) AS n FROM site_search_idx'))?.n);
}

it('are taken when a large fleet has doubled, and plans go by them', async () => {
  const db = closing(await openWriter(':memory:'));
  const statistics = createStatistics(db);
  await seedFleet(db, { sites: 700, plugins: 3 });
  expect(await sorts(db)).toBe(true);
  await db.run("UPDATE site SET search = search || ' renamed' WHERE id <= 10");
  expect(await searchParts(db)).toBeGreaterThan(1);
  expect(await statistics.refresh()).toBe(true);
  expect(await sorts(db)).toBe(false);
  expect(await searchParts(db)).toBe(1);
  expect(await statistics.refresh()).toBe(false);

  await db.run("INSERT INTO vulnerability (id, uid, digest, title) VALUES (1, 'a', '', 'A')");
  await db.run("INSERT INTO vulnerable_version (package_id, version, vulnerability_id) VALUES (0, '1.0', 1)");
  expect(await statistics.refresh()).toBe(true);
  expect(await statistics.refresh()).toBe(false);

  await db.run('DELETE FROM site WHERE id > 600');
  expect(await statistics.refresh()).toBe(false);
  await db.run('DELETE FROM site_extension WHERE site_id > 100');
  expect(await statistics.refresh()).toBe(true);
  expect(await statistics.refresh()).toBe(false);
});

it('are not taken of a small fleet', async () => {
  const db = closing(await openWriter(':memory:'));
  await seedFleet(db, { sites: 60, plugins: 3 });
  expect(await createStatistics(db).refresh()).toBe(false);
  expect(await sorts(db)).toBe(true);
});
