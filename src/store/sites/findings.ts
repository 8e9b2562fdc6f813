/** Findings of syncs: abandoned items, security checks, health, and changes made on the site. */

import type { Db, Row, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { idList } from './filter.js';

interface AbandonedRow extends Row {
  site_id: number;
  site_url: string;
  slug: string;
  name: string;
  version: string;
  last_updated: number;
}

export function createFindings(db: Db) {
  return {
    /** Items whose last release is at or before `before` (unix seconds), by site URL then slug. */
    abandoned(
      filter: { kind: number; before: number; site_id?: number | undefined; denied: readonly number[] },
      page: number,
      perPage: number,
    ): Promise<{ items: AbandonedRow[]; total: number }> {
      const parts = ['a.kind = ?', 'a.last_updated <= ?'];
      const args: Value[] = [filter.kind, filter.before];
      if (filter.site_id !== undefined) {
        parts.push('a.site_id = ?');
        args.push(filter.site_id);
      }
      if (filter.denied.length > 0) {
        parts.push('a.site_id NOT IN (SELECT value FROM json_each(?))');
        args.push(idList(filter.denied));
      }
      const where = parts.join(' AND ');
      const rows = sql(
        `SELECT a.site_id, s.url AS site_url, a.slug, a.name, a.version, a.last_updated FROM site_abandoned a JOIN site s ON s.id = a.site_id
         WHERE ${where} ORDER BY a.url_key, a.slug, a.site_id`,
        ...args,
      );
      const count = sql(`SELECT count(*) AS n FROM site_abandoned a WHERE ${where}`, ...args);
      return readPage<AbandonedRow>(db, rows, count, page, perPage);
    },

    /** How many of these sites have not been checked yet, and the time of the oldest check; null without any. */
    async abandonedLooks(filter: {
      site_id?: number | undefined;
      denied: readonly number[];
    }): Promise<{ unknown: number; oldest: number | null }> {
      const parts = [];
      const args: Value[] = [];
      if (filter.site_id !== undefined) {
        parts.push('site_id = ?');
        args.push(filter.site_id);
      }
      if (filter.denied.length > 0) {
        parts.push('site_id NOT IN (SELECT value FROM json_each(?))');
        args.push(idList(filter.denied));
      }
      const where = parts.length === 0 ? '1' : parts.join(' AND ');
      const row = await db.one(
        `SELECT (SELECT count(*) FROM site_detail WHERE abandoned_known_at IS NULL AND ${where}) AS unknown,
           (SELECT min(abandoned_known_at) FROM site_detail WHERE ${where}) AS oldest`,
        [...args, ...args],
      );
      return { unknown: Number(row?.unknown ?? 0), oldest: row?.oldest == null ? null : Number(row.oldest) };
    },

    /** Stored security checks of a site by key. */
    async security(siteId: number): Promise<{ check_id: string; value: string }[]> {
      const rows = await db.all('SELECT check_id, value FROM site_security WHERE site_id = ? ORDER BY check_id', [
        siteId,
      ]);
      return rows.map((row) => ({ check_id: String(row.check_id), value: String(row.value) }));
    },

    /** The result of the last certificate check, if there was one. */
    async certificate(
      siteId: number,
    ): Promise<{ good: number; valid_to: number | null; last_check: number } | undefined> {
      const row = await db.one('SELECT good, valid_to, last_check FROM site_certificate WHERE site_id = ?', [siteId]);
      return row === undefined
        ? undefined
        : {
            good: Number(row.good),
            valid_to: row.valid_to === null ? null : Number(row.valid_to),
            last_check: Number(row.last_check),
          };
    },

    /** Health counts of every site that reported some, without suspended ones. */
    async health(): Promise<
      {
        site_id: number;
        health_good: number | null;
        health_recommended: number | null;
        health_critical: number | null;
        disable_health_checking: number;
        health_threshold: number;
      }[]
    > {
      const rows = await db.all(
        `SELECT d.site_id, d.health_good, d.health_recommended, d.health_critical, d.disable_health_checking, d.health_threshold
         FROM site_detail d JOIN site s ON s.id = d.site_id WHERE d.health_good IS NOT NULL AND s.suspended = 0`,
      );
      const number = (value: unknown) => (value === null || value === undefined ? null : Number(value));
      return rows.map((row) => ({
        site_id: Number(row.site_id),
        health_good: number(row.health_good),
        health_recommended: number(row.health_recommended),
        health_critical: number(row.health_critical),
        disable_health_checking: Number(row.disable_health_checking),
        health_threshold: Number(row.health_threshold),
      }));
    },
  };
}
