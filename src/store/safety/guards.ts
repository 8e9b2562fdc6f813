/** What is known of the guards of sites. */

import type { Db, Row } from '../driver/db.js';

export interface GuardRow extends Row {
  site_id: number;
  /** 1 = it answered, or is expected to. */
  present: number;
  /** JSON of its greeting. */
  hello: string | null;
  answered_at: number | null;
  looked_at: number;
}

export function createGuards(db: Db) {
  return {
    find(siteId: number): Promise<GuardRow | undefined> {
      return db.one<GuardRow>(
        'SELECT site_id, present, hello, answered_at, looked_at FROM site_guard WHERE site_id = ?',
        [siteId],
      );
    },

    /** Sites whose guard answered once, or whose inventory lists the plugin: of these ids. */
    async expected(siteId: number, pluginFile: string): Promise<boolean> {
      const row = await db.one(
        `SELECT coalesce((SELECT present FROM site_guard WHERE site_id = ?1),
           EXISTS (SELECT 1 FROM site_extension e JOIN package p ON p.id = e.package_id
             WHERE e.site_id = ?1 AND e.kind = 0 AND p.slug = ?2)) AS present`,
        [siteId, pluginFile],
      );
      return row?.present === 1;
    },

    /** It answered. */
    async answered(siteId: number, hello: string, now: number): Promise<void> {
      await db.run(
        `INSERT INTO site_guard (site_id, present, hello, answered_at, looked_at) VALUES (?, 1, ?, ?, ?)
         ON CONFLICT (site_id) DO UPDATE SET present = 1, hello = excluded.hello, answered_at = excluded.answered_at,
           looked_at = excluded.looked_at`,
        [siteId, hello, now, now],
      );
    },

    /** It did not. `gone`: it was removed; otherwise one that was there is still expected. */
    async silent(siteId: number, now: number, gone: boolean): Promise<void> {
      await db.run(
        `INSERT INTO site_guard (site_id, present, looked_at) VALUES (?, 0, ?)
         ON CONFLICT (site_id) DO UPDATE SET looked_at = excluded.looked_at, present = CASE WHEN ? THEN 0 ELSE present END,
           hello = CASE WHEN ? THEN NULL ELSE hello END`,
        [siteId, now, gone, gone],
      );
    },
  };
}
