/** Sites that share something with a site in trouble, and how many of them are in trouble themselves. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { type Fragment, fragment } from '../driver/sql-fragments.js';

/** What sites share. */
export type Shared =
  /** Which version of a plugin (kind 0) or theme (1) is installed. */
  | { by: 'item'; kind: number; slug: string; version: string }
  | { by: 'core'; version: string }
  /** The address of the server. */
  | { by: 'ip'; ip: string }
  /** Why the last sync failed. */
  | { by: 'sync'; code: string }
  /** What the monitor got. */
  | { by: 'http'; status: number };

/** A condition on a site `s` with its detail `d` and its monitor `m`. */
function conditionOf(shared: Shared): Fragment {
  switch (shared.by) {
    case 'item':
      return fragment(
        `EXISTS (SELECT 1 FROM package p JOIN site_extension e ON e.package_id = p.id AND e.version = ?
           WHERE p.kind = ? AND p.slug = ? AND e.site_id = s.id)`,
        shared.version,
        shared.kind,
        shared.slug,
      );
    case 'core':
      return fragment('d.wp_version = ?', shared.version);
    case 'ip':
      return fragment('d.ip = ?', shared.ip);
    case 'sync':
      return fragment("s.sync_error <> '' AND d.sync_error_code = ?", shared.code);
    case 'http':
      return fragment('m.status = 0 AND m.last_http_code = ?', shared.status);
  }
}

export interface SharingSites {
  sites: number;
  red: number;
  /** Addresses of the first that are in trouble. */
  first: string[];
}

/** What a person sees as red: disconnected, down, or not reached by the newest look. */
const RED = `(s.status = 'disconnected' OR s.unreached > 0 OR (m.status = 0 AND coalesce(m.active, ?) = 1))`;

export function createSameTrouble(db: Db) {
  return {
    /**
     * The other sites that share each of these, in one snapshot; suspended ones are left out.
     * @param active the global switch, for monitors that follow it
     */
    async others(siteId: number, shared: readonly Shared[], active: number, limit: number): Promise<SharingSites[]> {
      if (shared.length === 0) return [];
      const rows = await db.read(
        shared.map(conditionOf).flatMap((condition) => {
          const from = `FROM site s JOIN site_detail d ON d.site_id = s.id LEFT JOIN monitor m ON m.site_id = s.id
            WHERE s.id <> ? AND s.suspended = 0 AND ${condition.text}`;
          const args = [siteId, ...condition.args];
          return [
            sql(`SELECT count(*) AS n, count(*) FILTER (WHERE ${RED}) AS red ${from}`, active, ...args),
            sql(`SELECT s.url ${from} AND ${RED} ORDER BY s.url_key, s.id LIMIT ?`, ...args, active, limit),
          ];
        }),
      );
      return shared.map((_, index) => {
        const [counted] = rows[2 * index] ?? [];
        const first: Row[] = rows[2 * index + 1] ?? [];
        return {
          sites: Number(counted?.n ?? 0),
          red: Number(counted?.red ?? 0),
          first: first.map(({ url }) => String(url)),
        };
      });
    },
  };
}
