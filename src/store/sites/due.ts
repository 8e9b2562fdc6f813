/** Sites that are due for a scheduled task. */

import type { Db } from '../driver/db.js';

export function createDueSites(db: Db) {
  return {
    /** Sites whose last sync attempt was at `before` or earlier, longest ago first; without suspended ones and those disconnected by hand. */
    async forSync(before: number, limit: number): Promise<number[]> {
      const rows = await db.all(
        `SELECT s.id FROM site s JOIN site_detail d ON d.site_id = s.id
         WHERE s.suspended = 0 AND s.disconnected = 0 AND (d.last_attempt IS NULL OR d.last_attempt <= ?)
         ORDER BY d.last_attempt, s.id LIMIT ?`,
        [before, limit],
      );
      return rows.map((row) => Number(row.id));
    },

    /**
     * Takes connected sites whose abandoned items are to be looked up: those never known first, again after `retry`; the
     * others when the last look was at `before` or earlier. Taking is one statement: no other process takes the same.
     */
    async takeForAbandoned(now: number, before: number, retry: number, limit: number): Promise<number[]> {
      const rows = await db.all(
        `UPDATE site_detail SET abandoned_checked_at = ? WHERE site_id IN (
           SELECT s.id FROM site s JOIN site_detail d ON d.site_id = s.id
           WHERE s.status = 'connected' AND (d.abandoned_checked_at IS NULL OR d.abandoned_checked_at <= ?
             OR (d.abandoned_known_at IS NULL AND d.abandoned_checked_at <= ?))
           ORDER BY d.abandoned_checked_at, s.id LIMIT ?) RETURNING site_id`,
        [now, before, retry, limit],
      );
      return rows.map((row) => Number(row.site_id));
    },

    /** Records a look that succeeded. */
    async abandonedKnown(siteId: number, at: number): Promise<void> {
      await db.run('UPDATE site_detail SET abandoned_known_at = ? WHERE site_id = ?', [at, siteId]);
    },
  };
}
