/** Pages of sites that safe updates look at, as they were found. */

import type { Db } from '../driver/db.js';

export function createSitePages(db: Db) {
  return {
    /** JSON; null = none were found since this time. */
    async find(siteId: number, since: number): Promise<string | null> {
      const row = await db.one('SELECT pages FROM site_pages WHERE site_id = ? AND found_at >= ?', [siteId, since]);
      return row === undefined ? null : String(row.pages);
    },

    async save(siteId: number, pages: string, now: number): Promise<void> {
      await db.run(
        `INSERT INTO site_pages (site_id, pages, found_at) VALUES (?, ?, ?)
         ON CONFLICT (site_id) DO UPDATE SET pages = excluded.pages, found_at = excluded.found_at`,
        [siteId, pages, now],
      );
    },

    /** They are found again next time. */
    async forget(siteId: number): Promise<void> {
      await db.run('DELETE FROM site_pages WHERE site_id = ?', [siteId]);
    },
  };
}
