/** Which sites are due for a sync or an abandoned-items check: the right ones, found without reading all the others. */

import { beforeAll, expect, it } from 'vitest';
import { openWriter } from '../../bench/lib/database.js';
import { seedFleet } from '../../bench/lib/seed.js';
import type { Db } from '../../src/store/driver/db.js';
import { createDueSites } from '../../src/store/sites/due.js';
import { closing } from '../support/cleanup.js';

const NOW = Date.UTC(2026, 5, 1);
const HOUR = 3_600_000;
let db: Db;

beforeAll(async () => {
  db = closing(await openWriter(':memory:'));
  await seedFleet(db, { sites: 40, plugins: 0 });
  // 1 to 9 were never tried; the higher the id, the longer ago the last try of the others. Every tenth may not be
  // called.
  await db.run('UPDATE site_detail SET last_attempt = CASE WHEN site_id < 10 THEN NULL ELSE ? - site_id * ? END', [
    NOW,
    HOUR,
  ]);
  await db.run('UPDATE site SET suspended = (id % 10 = 0), disconnected = (id % 10 = 5)');
});

/** The expected ids, by a plain implementation of the rules. */
function expected(before: number, limit: number, { index, of } = { index: 0, of: 1 }): number[] {
  const sites = Array.from({ length: 40 }, (_, at) => at + 1).map((id) => ({
    id,
    tried: id < 10 ? null : NOW - id * HOUR,
  }));
  return sites
    .filter(({ id, tried }) => id % 10 !== 0 && id % 10 !== 5 && id % of === index && (tried ?? 0) <= before)
    .sort((a, b) => (a.tried ?? 0) - (b.tried ?? 0) || a.id - b.id)
    .slice(0, limit)
    .map(({ id }) => id);
}

it.each([
  [NOW - 20 * HOUR, 100],
  [NOW - 20 * HOUR, 12],
  [NOW - 20 * HOUR, 3],
  [NOW - 1_000 * HOUR, 100],
  [NOW, 100],
])('those not tried since %i, %i at most, come in order', async (before, limit) => {
  const found = await createDueSites(db).forSync(before, limit);
  expect(found).toEqual(expected(before, limit));
  expect(found.length).toBeGreaterThan(0);
});

it('parts of the sites make up all of them', async () => {
  const parts = [0, 1, 2].map((index) => ({ index, of: 3 }));
  const found = await Promise.all(parts.map((part) => createDueSites(db).forSync(NOW, 100, part)));
  expect(found).toEqual(parts.map((part) => expected(NOW, 100, part)));
  expect(found.flat().sort((a, b) => a - b)).toEqual(expected(NOW, 100).sort((a, b) => a - b));
});

it('the search ends at the first that is not due', async () => {
  const plans: string[] = [];
  const watched = {
    all: async (text: string, args: readonly never[]) => {
      const steps = await db.all(`EXPLAIN QUERY PLAN ${text}`, args);
      plans.push(steps.map(({ detail }) => detail).join('; '));
      return [];
    },
  } as unknown as Db;
  await createDueSites(watched).forSync(NOW, 20);
  expect(plans).toHaveLength(1);
  expect(plans[0]).toMatch(/site_detail_by_attempt \(last_attempt=\?\).*site_detail_by_attempt \(last_attempt<\?\)/);
  expect(plans[0]).not.toMatch(/SCAN (s|d|site)\b/);
});

it('a site whose abandoned items are due is taken once, even by several processes', async () => {
  const take = (limit: number) => createDueSites(db).takeForAbandoned(NOW, NOW - 48 * HOUR, NOW - HOUR, limit);
  await db.run("UPDATE site SET suspended = 0, disconnected = 0, sync_error = ''");
  await db.run('UPDATE site_detail SET abandoned_checked_at = ?1, abandoned_known_at = ?1', [NOW]);
  const set = (checked: number | null, known: number | null, id: number) =>
    db.run('UPDATE site_detail SET abandoned_checked_at = ?, abandoned_known_at = ? WHERE site_id = ?', [
      checked,
      known,
      id,
    ]);
  await set(null, null, 1);
  await set(NOW - 49 * HOUR, NOW - 49 * HOUR, 2);
  await set(NOW - 2 * HOUR, null, 3);
  await set(NOW - HOUR / 2, null, 4);
  await set(NOW - 47 * HOUR, NOW - 47 * HOUR, 5);
  const [one, two] = await Promise.all([take(10), take(10)]);
  expect([...one, ...two].sort()).toEqual([1, 2, 3]);
  expect(await take(10)).toEqual([]);
});
