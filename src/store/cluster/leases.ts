/** Named leases: a right that one process may have at a time. It expires automatically when its holder dies. */

import type { Db } from '../driver/db.js';

/** Held by a process that serves: its owner is the address at which people reach it, which commands of other processes name. */
export const SERVED = 'served';

export function createLeases(db: Db) {
  return {
    /**
     * Acquires or renews a lease.
     * @param lapsed leases that end by then have expired
     * @returns its fence, which grows with every change of the owner; null when another process holds it
     */
    async acquire(name: string, owner: string, lapsed: number, until: number): Promise<number | null> {
      const [row] = await db.all(
        `INSERT INTO lease (name, owner, until, fence) VALUES (?, ?, ?, 1)
         ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until,
           fence = lease.fence + (lease.owner <> excluded.owner)
         WHERE lease.owner = excluded.owner OR lease.until <= ? RETURNING fence`,
        [name, owner, until, lapsed],
      );
      return row === undefined ? null : Number(row.fence);
    },

    /** Ends the lease, if it still belongs to `owner`. */
    async release(name: string, owner: string): Promise<void> {
      await db.run('UPDATE lease SET until = 0 WHERE name = ? AND owner = ?', [name, owner]);
    },

    /** Who holds the lease, null when no process does. */
    async owner(name: string, now: number): Promise<string | null> {
      const row = await db.one('SELECT owner FROM lease WHERE name = ? AND until > ?', [name, now]);
      return row === undefined ? null : String(row.owner);
    },
  };
}
