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

    /** Connected sites whose abandoned items were last checked at `before` or earlier. */
    async forAbandonedCheck(before: number, limit: number): Promise<number[]> {
      const rows = await db.all(
        `SELECT s.id FROM site s JOIN site_detail d ON d.site_id = s.id
         WHERE s.status = 'connected' AND (d.abandoned_checked_at IS NULL OR d.abandoned_checked_at <= ?)
         ORDER BY d.abandoned_checked_at, s.id LIMIT ?`,
        [before, limit],
      );
      return rows.map((row) => Number(row.id));
    },

    /** Records the time of a check, also of one that failed. */
    async abandonedChecked(siteIds: readonly number[], at: number): Promise<void> {
      await db.run(
        'UPDATE site_detail SET abandoned_checked_at = ? WHERE site_id IN (SELECT value FROM json_each(?))',
        [at, JSON.stringify(siteIds)],
      );
    },
  };
}
