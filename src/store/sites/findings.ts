/** Findings of syncs: abandoned items, security checks, health, and changes made on the site. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { equal } from '../driver/sql-fragments.js';

interface AbandonedRow extends Row {
  site_id: number;
  site_url: string;
  slug: string;
  name: string;
  version: string;
  last_updated: number;
}

/** One site, or all. */
interface SiteChoice {
  site_id?: number | undefined;
}

export function createFindings(db: Db) {
  return {
    /** Items whose last release is at or before `before` (unix seconds), by site URL then slug. */
    abandoned(
      filter: SiteChoice & { kind: number; before: number },
      page: number,
      perPage: number,
    ): Promise<{ items: AbandonedRow[]; total: number }> {
      const sites = equal('a.site_id', filter.site_id);
      const where = `a.kind = ? AND a.last_updated <= ?${sites.text}`;
      const args = [filter.kind, filter.before, ...sites.args];
      const rows = sql(
        `SELECT a.site_id, s.url AS site_url, a.slug, a.name, a.version, a.last_updated FROM site_abandoned a JOIN site s ON s.id = a.site_id
         WHERE ${where} ORDER BY a.url_key, a.slug, a.site_id`,
        ...args,
      );
      const count = sql(`SELECT count(*) AS n FROM site_abandoned a WHERE ${where}`, ...args);
      return readPage<AbandonedRow>(db, rows, count, page, perPage);
    },

    /** How many of these sites have not been checked yet, and the time of the oldest check; null without any. */
    async abandonedLooks(filter: SiteChoice): Promise<{ unknown: number; oldest: number | null }> {
      const { text, args } = equal('site_id', filter.site_id);
      const row = await db.one(
        `SELECT (SELECT count(*) FROM site_detail WHERE abandoned_known_at IS NULL${text}) AS unknown,
           (SELECT min(abandoned_known_at) FROM site_detail WHERE 1${text}) AS oldest`,
        [...args, ...args],
      );
      return { unknown: Number(row?.unknown ?? 0), oldest: row?.oldest == null ? null : Number(row.oldest) };
    },

    /** Stored security checks of a site by key. */
    security(siteId: number): Promise<{ check_id: string; value: string }[]> {
      return db.all('SELECT check_id, value FROM site_security WHERE site_id = ? ORDER BY check_id', [siteId]);
    },

    /** The result of the last certificate check, if there was one. */
    certificate(siteId: number): Promise<{ good: number; valid_to: number | null; last_check: number } | undefined> {
      return db.one('SELECT good, valid_to, last_check FROM site_certificate WHERE site_id = ?', [siteId]);
    },

    /** Health counts of every site that reported some, without suspended ones. */
    health(): Promise<
      {
        site_id: number;
        health_good: number | null;
        health_recommended: number | null;
        health_critical: number | null;
        disable_health_checking: number;
        health_threshold: number;
      }[]
    > {
      return db.all(
        `SELECT d.site_id, d.health_good, d.health_recommended, d.health_critical, d.disable_health_checking, d.health_threshold
         FROM site_detail d JOIN site s ON s.id = d.site_id WHERE d.health_good IS NOT NULL AND s.suspended = 0`,
      );
    },
  };
}
