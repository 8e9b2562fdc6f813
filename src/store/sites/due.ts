/** Sites that are due for a scheduled task. */

import type { Db } from '../driver/db.js';

export function createDueSites(db: Db) {
  return {
    /**
     * Sites whose last sync attempt was at `before` or earlier, oldest first; without suspended and manually
     * disconnected ones. `part`: only one of that many equal parts of the sites.
     */
    async forSync(
      before: number,
      limit: number,
      part: { index: number; of: number } = { index: 0, of: 1 },
    ): Promise<number[]> {
      // By the index, which ends the search at the first that is not due: two ranges, because one that was never tried
      // has no time.
      const due = (range: string) =>
        `SELECT d.site_id, d.last_attempt FROM site_detail d INDEXED BY site_detail_by_attempt CROSS JOIN site s ON s.id = d.site_id
         WHERE d.last_attempt ${range} AND d.site_id % ?2 = ?1 AND s.suspended = 0 AND s.disconnected = 0
         ORDER BY d.last_attempt, d.site_id LIMIT ?3`;
      const rows = await db.all(
        `SELECT site_id FROM (SELECT * FROM (${due('IS NULL')}) UNION ALL SELECT * FROM (${due('<= ?4')}))
         ORDER BY last_attempt, site_id LIMIT ?3`,
        [part.index, part.of, limit, before],
      );
      return rows.map((row) => Number(row.site_id));
    },

    /**
     * Takes connected sites whose abandoned items are due for a check: those never checked first, again after `retry`;
     * the others if the last check was at `before` or earlier. No other process takes the same ones: each is taken only
     * while it is due.
     */
    async takeForAbandoned(now: number, before: number, retry: number, limit: number): Promise<number[]> {
      const isDue =
        '(abandoned_checked_at IS NULL OR abandoned_checked_at <= ? OR (abandoned_known_at IS NULL AND abandoned_checked_at <= ?))';
      // Searched separately: writers wait for each other, and this reads every site.
      const found = await db.all(
        `SELECT s.id FROM site s JOIN site_detail d ON d.site_id = s.id WHERE s.status = 'connected' AND ${isDue}
         ORDER BY d.abandoned_checked_at, s.id LIMIT ?`,
        [before, retry, limit],
      );
      if (found.length === 0) return [];
      const rows = await db.all(
        `UPDATE site_detail SET abandoned_checked_at = ? WHERE site_id IN (SELECT value FROM json_each(?)) AND ${isDue} RETURNING site_id`,
        [now, JSON.stringify(found.map(({ id }) => id)), before, retry],
      );
      return rows.map((row) => Number(row.site_id));
    },

    /** Records a successful check. */
    async abandonedKnown(siteId: number, at: number): Promise<void> {
      await db.run('UPDATE site_detail SET abandoned_known_at = ? WHERE site_id = ?', [at, siteId]);
    },
  };
}
