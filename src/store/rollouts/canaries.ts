/** What is known of sites that makes them fit to be updated first: their last backup, and how many visits they have. */

import type { Reads } from '../driver/db.js';
import { IN } from '../driver/sql-fragments.js';
import { idList } from '../sites/filter.js';

export interface KnownBackup {
  site_id: number;
  url: string;
  /** Unix seconds. */
  last_backup: number;
}

export interface KnownVisits {
  site_id: number;
  url: string;
  /** An estimate of those that reached PHP, over so many whole days. */
  visits: number;
  days: number;
}

export function createCanaries(db: Reads) {
  return {
    /** Those of the sites whose last backup is known. */
    async backups(siteIds: readonly number[]): Promise<KnownBackup[]> {
      const rows = await db.all(
        `SELECT s.id AS site_id, s.url, d.last_backup FROM site s JOIN site_detail d ON d.site_id = s.id
         WHERE s.id ${IN} AND d.last_backup IS NOT NULL`,
        [idList(siteIds)],
      );
      return rows as unknown as KnownBackup[];
    },

    /** Those of the sites whose guard has counted visits, and said so at or after `since`. */
    async visits(siteIds: readonly number[], since: number): Promise<KnownVisits[]> {
      const rows = await db.all(
        `SELECT s.id AS site_id, s.url, g.hello ->> '$.visits.count' AS visits, g.hello ->> '$.visits.days' AS days
         FROM site s JOIN site_guard g ON g.site_id = s.id
         WHERE s.id ${IN} AND g.present = 1 AND g.answered_at >= ? AND g.hello ->> '$.visits.days' >= 1`,
        [idList(siteIds), since],
      );
      return rows as unknown as KnownVisits[];
    },
  };
}
