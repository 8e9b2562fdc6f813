/** The parts of a site's REST record in other tables: tags, client, ignore lists, recent content. */

import type { Db, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { jsonRows } from '../driver/json-rows.js';
import { countOf } from '../driver/lists.js';
import {
  countStatement,
  idList,
  type PageStart,
  type PlacedSite,
  pageStatement,
  placedRows,
  sitePredicate,
} from './filter.js';
import { RECORD_COLUMNS, RECORD_TABLES, type SiteFilter, type SiteRecord } from './sites.js';

export type SiteTag = {
  id: number;
  name: string;
  color: string | null;
};

/** Columns of a site shown by its REST record. */
const SHOWN = [
  ...(['id', 'url', 'name', 'status', 'client_id', 'suspended', 'sync_error', 'unreached', 'sync_error_code'] as const),
  ...(['admin_username', 'notes', 'ssl_verify', 'ip', 'is_staging', 'language'] as const),
  ...(['child_version', 'wp_version', 'php_version', 'mysql_version', 'memory_limit', 'database_size'] as const),
  ...(['timezone', 'health_good', 'health_recommended', 'health_critical', 'last_post', 'last_sync'] as const),
  ...(['backup_plugin', 'last_backup', 'backup_looked_at'] as const),
  ...(['reachable', 'http_status', 'checked_at', 'monitor_status', 'monitor_http_status'] as const),
  ...(['monitor_msg', 'monitor_checked_at', 'ignore_core', 'ignore_plugins', 'ignore_themes', 'ssl_version'] as const),
  ...(['force_use_ipv4', 'automatic_update', 'backup_before_upgrade', 'disable_health_checking'] as const),
  ...(['health_threshold', 'monitoring_emails'] as const),
];
export type ShownSite = Pick<SiteRecord, (typeof SHOWN)[number]>;
const shownRows = jsonRows<ShownSite>(SHOWN);

export type IgnoredEntry = {
  type: number;
  slug: string;
  name: string;
  /** `*` = every version. */
  version: string;
};

export type SitePart = 'tags' | 'client' | 'ignored';

/** The parts of one site. */
export interface SiteParts {
  tags: SiteTag[];
  client_name: string | null;
  ignored: IgnoredEntry[];
}

type OfSite<T> = T & { site_id: number };
const tagRows = jsonRows<OfSite<SiteTag>>(['site_id', 'id', 'name', 'color']);
const clientRows = jsonRows<OfSite<{ name: string }>>(['site_id', 'name']);
const ignoredRows = jsonRows<OfSite<IgnoredEntry>>(['site_id', 'type', 'slug', 'name', 'version']);

/** Columns in the order of an index if there is one: naming a column twice would make SQLite sort all sites. */
const ORDERS = {
  name: ['s.name COLLATE NOCASE', 's.url_key', 's.id'],
  url: ['s.url_key', 's.id'],
  id: ['s.id'],
  // A site that was never synced comes before all others.
  last_sync: ['(SELECT ifnull(d.last_sync, -1) FROM site_detail d WHERE d.site_id = s.id)', 's.url_key', 's.id'],
} as const;
export type SiteOrder = keyof typeof ORDERS;

export interface SiteListFilter extends SiteFilter {
  /** Also matches sites with available updates, besides those of `status`. */
  or_with_updates?: boolean | undefined;
}

/** `status` and `or_with_updates` are alternatives; everything else narrows. */
function listPredicate(filter: SiteListFilter): { where: string; args: Value[] } {
  const { or_with_updates, status, ...rest } = filter;
  if (or_with_updates !== true) return sitePredicate(filter);
  const narrowed = sitePredicate(rest);
  const statuses = status === undefined ? [] : typeof status === 'string' ? [status] : status;
  return {
    where: `${narrowed.where} AND (s.status IN (SELECT value FROM json_each(?))
      OR EXISTS (SELECT 1 FROM site_update u WHERE u.site_id = s.id AND u.ignored = 0))`,
    args: [...narrowed.args, JSON.stringify(statuses)],
  };
}

/** Counts the sites of a list, from the stored counters if it has no filter besides the status. */
function countedBy(filter: SiteListFilter): Statement {
  if (filter.or_with_updates !== true) return countStatement(filter);
  const { where, args } = listPredicate(filter);
  return sql(`SELECT count(*) AS n FROM site s WHERE ${where}`, ...args);
}

export function createSiteRecords(db: Db) {
  return {
    /** One page with the true total, in one snapshot. */
    async list(
      filter: SiteListFilter,
      order: { by: SiteOrder; descending: boolean },
      start: PageStart,
      perPage: number,
    ): Promise<{ items: PlacedSite[]; total: number }> {
      const matching = listPredicate(filter);
      const sorting = { columns: ORDERS[order.by], descending: order.descending };
      return placedRows.page(db, pageStatement(matching, sorting, start, perPage), countedBy(filter));
    },

    count(filter: SiteListFilter): Promise<number> {
      const { sql: text, args } = countedBy(filter);
      return countOf(db, text, args);
    },

    /** Sites deleted in the meantime are missing. */
    async shown(ids: readonly number[]): Promise<Map<number, ShownSite>> {
      const rows = await shownRows.all(
        db,
        sql(
          `SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES} WHERE s.id IN (SELECT value FROM json_each(?))`,
          idList(ids),
        ),
      );
      return new Map(rows.map((row) => [row.id, row]));
    },

    /** Parts of any number of sites in one round trip. Unwanted parts are empty. */
    async parts(ids: readonly number[], wanted: readonly SitePart[]): Promise<Map<number, SiteParts>> {
      const list = idList(ids);
      const sites = (part: SitePart) => (wanted.includes(part) ? list : '[]');
      const found = await db.read([
        tagRows.statement(
          sql(
            `SELECT st.site_id, t.id, t.name, t.color FROM site_tag st JOIN tag t ON t.id = st.tag_id
             WHERE st.site_id IN (SELECT value FROM json_each(?)) ORDER BY t.name_key, t.id`,
            sites('tags'),
          ),
        ),
        clientRows.statement(
          sql(
            `SELECT s.id AS site_id, c.name FROM site s JOIN client c ON c.id = s.client_id
             WHERE s.id IN (SELECT value FROM json_each(?))`,
            sites('client'),
          ),
        ),
        ignoredRows.statement(
          sql(
            `SELECT site_id, type, slug, name, version FROM ignored_update
             WHERE site_id IN (SELECT value FROM json_each(?)) ORDER BY type, slug, version`,
            sites('ignored'),
          ),
        ),
      ]);
      const parts = new Map<number, SiteParts>(ids.map((id) => [id, { tags: [], client_name: null, ignored: [] }]));
      for (const { site_id, ...tag } of tagRows.parse(found[0])) parts.get(site_id)?.tags.push(tag);
      for (const { site_id, name } of clientRows.parse(found[1])) {
        const part = parts.get(site_id);
        if (part !== undefined) part.client_name = name;
      }
      for (const { site_id, ...entry } of ignoredRows.parse(found[2])) parts.get(site_id)?.ignored.push(entry);
      return parts;
    },
  };
}
