/** The processes that share work on this database. Each is a row of the lease table, which it renews while it lives. */

import type { Db } from '../driver/db.js';
import { sql } from '../driver/db.js';

/** Rows of dead processes are kept this long. */
const KEPT_MS = 3_600_000;
const LIVING = 'SELECT owner FROM lease WHERE name > ? AND name < ? AND until > ? ORDER BY name LIMIT 1000';

export function createMembers(db: Db) {
  return {
    /**
     * Records that a process is alive until then, in one round trip.
     * @param kind what the members share: limits towards child sites (`process`) or the monitors (`monitor`)
     * @returns the owners of all members that are alive, in order
     */
    async heartbeat(owner: string, now: number, until: number, kind = 'process'): Promise<string[]> {
      const [from, to] = [`${kind}:`, `${kind};`];
      const results = await db.batch([
        sql(
          `INSERT INTO lease (name, owner, until, fence) VALUES (?, ?, ?, 1)
           ON CONFLICT (name) DO UPDATE SET until = excluded.until`,
          `${from}${owner}`,
          owner,
          until,
        ),
        sql('DELETE FROM lease WHERE name > ? AND name < ? AND until < ?', from, to, now - KEPT_MS),
        sql(LIVING, from, to, now),
      ]);
      return (results[2]?.rows ?? []).map((row) => String(row.owner));
    },

    /** Owners of the members that are alive, in order. `kind` as in `heartbeat`. */
    async alive(now: number, kind = 'process'): Promise<string[]> {
      const rows = await db.all(LIVING, [`${kind}:`, `${kind};`, now]);
      return rows.map((row) => String(row.owner));
    },

    /** Removes a process that is ending, so that the others need not wait until its row expires. */
    async leave(owner: string, kind = 'process'): Promise<void> {
      await db.run('DELETE FROM lease WHERE name = ?', [`${kind}:${owner}`]);
    },
  };
}
