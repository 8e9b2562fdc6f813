/** The known state of sites' guards. */

import type { Db, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { type QuarantineRow, quarantinedAmong, type VersionKey } from './quarantine.js';

export interface GuardRow extends Row {
  site_id: number;
  /** 1 = it answered; 2 = it did once, but not at the last check; 0 = none. */
  present: number;
  /** JSON of its greeting. */
  hello: string | null;
  answered_at: number | null;
  looked_at: number;
}

function expectedStatement(siteId: number, pluginFile: string): Statement {
  return sql(
    `SELECT EXISTS (SELECT 1 FROM site_guard WHERE site_id = ? AND present > 0) OR EXISTS (SELECT 1
       FROM site_extension e JOIN package p ON p.id = e.package_id WHERE e.site_id = ? AND e.kind = 0 AND p.slug = ?) AS present`,
    siteId,
    siteId,
    pluginFile,
  );
}

export function createGuards(db: Db) {
  return {
    find(siteId: number): Promise<GuardRow | undefined> {
      return db.one<GuardRow>(
        'SELECT site_id, present, hello, answered_at, looked_at FROM site_guard WHERE site_id = ?',
        [siteId],
      );
    },

    /** Whether a guard of this site has ever answered, or its inventory lists the plugin. */
    async expected(siteId: number, pluginFile: string): Promise<boolean> {
      const { sql, args } = expectedStatement(siteId, pluginFile);
      return (await db.one(sql, args))?.present === 1;
    },

    /**
     * What an update needs to know first, in one round trip: whether a guard is expected, and which versions are
     * quarantined.
     */
    async beforeUpdate(
      siteId: number,
      pluginFile: string,
      versions: readonly VersionKey[],
    ): Promise<{ expected: boolean; quarantined: QuarantineRow[] }> {
      const [expected = [], quarantined = []] = await db.read([
        expectedStatement(siteId, pluginFile),
        quarantinedAmong(siteId, versions),
      ]);
      return { expected: expected[0]?.present === 1, quarantined: quarantined as QuarantineRow[] };
    },

    /** Records that it answered. */
    async answered(siteId: number, hello: string, now: number): Promise<void> {
      await db.run(
        `INSERT INTO site_guard (site_id, present, hello, answered_at, looked_at) VALUES (?, 1, ?, ?, ?)
         ON CONFLICT (site_id) DO UPDATE SET present = 1, hello = excluded.hello, answered_at = excluded.answered_at,
           looked_at = excluded.looked_at`,
        [siteId, hello, now, now],
      );
    },

    /** Records that it did not. `gone`: it was removed; otherwise a guard that was present is still expected. */
    async silent(siteId: number, now: number, gone: boolean): Promise<void> {
      await db.run(
        `INSERT INTO site_guard (site_id, present, looked_at) VALUES (?, 0, ?)
         ON CONFLICT (site_id) DO UPDATE SET looked_at = excluded.looked_at, present = CASE WHEN ? OR present = 0 THEN 0 ELSE 2 END,
           hello = CASE WHEN ? THEN NULL ELSE hello END`,
        [siteId, now, gone, gone],
      );
    },
  };
}
