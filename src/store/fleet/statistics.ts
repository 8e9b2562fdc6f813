/**
 * Statistics for SQLite's query planner: how many rows the tables have and how they are distributed over an index.
 * Without them the planner assumes large tables and equally good indexes. A libSQL server does not accept such a
 * statement from a client. The search index is merged at the same time.
 */

import type { Db } from '../driver/db.js';

/** Below this number, any plan is fast. */
const FEWEST_SITES = 500;
/** Counts that have not doubled or halved since leave the plans unchanged. */
const GROWN = 2;
/** Rows examined in each index. */
const ROWS_PER_INDEX = 1_000;

/** Tables that grow with the fleet, or with the vulnerabilities known for it. */
const TABLES = ['site', 'site_extension', 'site_update', 'vulnerable_version'] as const;

export function createStatistics(db: Db) {
  return {
    /**
     * Collects statistics if there are none, or if a table has outgrown them; that takes some 40 ms at 10,000 sites.
     * Connections open elsewhere use the older ones until they are opened again.
     * @returns whether it did
     */
    async refresh(): Promise<boolean> {
      if (db.kind !== 'embedded') return false;
      const counted = await db.one(
        `SELECT ${TABLES.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(', ')}`,
      );
      if (counted === undefined || Number(counted.site) < FEWEST_SITES) return false;
      const known = await knownCounts(db);
      const grown = TABLES.some((table) => {
        const [now, then] = [Number(counted[table]), known.get(table) ?? 0];
        return now > then * GROWN || now * GROWN < then;
      });
      if (!grown) return false;
      await db.all(`PRAGMA analysis_limit = ${ROWS_PER_INDEX}`);
      await db.run('ANALYZE');
      // Every write of a name adds to the search index; a search reads everything that has not been merged yet.
      await db.run("INSERT INTO site_search (site_search) VALUES ('optimize')");
      return true;
    },
  };
}

/** Approximate rows of each table when the statistics were collected. */
async function knownCounts(db: Db): Promise<Map<unknown, number>> {
  if ((await db.one("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'")) === undefined) return new Map();
  const rows = await db.all('SELECT tbl, max(CAST(stat AS INTEGER)) AS rows FROM sqlite_stat1 GROUP BY tbl');
  return new Map(rows.map((row) => [row.tbl, Number(row.rows)]));
}
