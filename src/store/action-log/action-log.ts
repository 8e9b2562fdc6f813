/**
 * The action log: who did what through this service, by which way in, with which operation, on which object, and with
 * what result.
 */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';

export interface LogOrigin {
  actor_type: string;
  actor_id: number | null;
  actor: string;
  via: string;
  operation: string;
  request_id: string;
}

export interface LogEntry extends LogOrigin {
  /** Null for entries that concern no single site. */
  site_id: number | null;
  context: string;
  action: string;
  slug: string;
  /** '' for a plugin or theme, whose name is in the inventory, and for a site. */
  name: string;
  detail: string;
  old_version: string;
  new_version: string;
  /** '' if it was done, otherwise why it was not. */
  code: string;
  /** Milliseconds. */
  at: number;
}

/** Omitted members are empty. */
export type NewLogEntry = Pick<LogEntry, 'site_id' | 'context' | 'action' | 'at'> & Partial<LogEntry>;

interface DoneRow
  extends Row,
    Pick<LogEntry, 'context' | 'action' | 'slug' | 'name' | 'detail' | 'old_version' | 'new_version' | 'actor' | 'at'> {
  id: number;
}

const COLUMNS = `at, actor_type, actor_id, actor, via, operation, request_id, site_id, context, action, slug, name, detail,
  old_version, new_version, code`;
/** Completed actions, which reports count. */
const DONE = `code = ''`;

export function createActionLog(db: Db) {
  return {
    /**
     * Stores entries. Names of plugins, themes and sites are read now, while they are known: from the site's inventory,
     * otherwise as most sites call them. Entries of a deleted site are left out.
     */
    async add(entries: readonly NewLogEntry[]): Promise<void> {
      await db.run(
        `INSERT INTO action_log (${COLUMNS})
         SELECT at, actor_type, actor_id, actor, via, operation, request_id, site_id, context, action, slug, coalesce(
             nullif(name, ''), CASE WHEN context = 'core' THEN 'WordPress' END,
             (SELECT p.name FROM site_extension e JOIN package p ON p.id = e.package_id
               WHERE e.site_id = w.site_id AND p.kind = w.kind AND p.slug = w.slug LIMIT 1),
             (SELECT p.name FROM package p WHERE p.kind = w.kind AND p.slug = w.slug
               ORDER BY (SELECT count(*) FROM site_extension e WHERE e.package_id = p.id) DESC, p.name LIMIT 1),
             (SELECT s.name FROM site s WHERE w.context = 'site' AND s.id = w.site_id), slug),
           detail, old_version, new_version, code
         FROM (SELECT value ->> 'at' AS at, coalesce(value ->> 'actor_type', '') AS actor_type, value ->> 'actor_id' AS actor_id,
             coalesce(value ->> 'actor', '') AS actor, coalesce(value ->> 'via', '') AS via, coalesce(value ->> 'operation', '') AS operation,
             coalesce(value ->> 'request_id', '') AS request_id, value ->> 'site_id' AS site_id, value ->> 'context' AS context,
             CASE value ->> 'context' WHEN 'plugin' THEN 0 WHEN 'theme' THEN 1 ELSE -1 END AS kind,
             value ->> 'action' AS action, coalesce(value ->> 'slug', '') AS slug, coalesce(value ->> 'name', '') AS name, coalesce(value ->> 'detail', '') AS detail,
             coalesce(value ->> 'old_version', '') AS old_version, coalesce(value ->> 'new_version', '') AS new_version, coalesce(value ->> 'code', '') AS code
           FROM json_each(?)) w
         WHERE site_id IS NULL OR EXISTS (SELECT 1 FROM site WHERE id = w.site_id)`,
        [JSON.stringify(entries)],
      );
    },

    /** Completed actions on a site, newest first; `to` is exclusive. */
    done(siteId: number, contexts: readonly string[], from: number, to: number, limit: number): Promise<DoneRow[]> {
      return db.all<DoneRow>(
        `SELECT id, context, action, slug, name, detail, old_version, new_version, actor, at FROM action_log
         WHERE site_id = ? AND at >= ? AND at < ? AND context IN (SELECT value FROM json_each(?)) AND ${DONE}
         ORDER BY at DESC, id DESC LIMIT ?`,
        [siteId, from, to, JSON.stringify(contexts), limit],
      );
    },

    /** How often each action was completed on a site; `to` is exclusive. */
    async doneCounts(siteId: number, contexts: readonly string[], from: number, to: number) {
      const rows = await db.all(
        `SELECT action, count(*) AS n FROM action_log
         WHERE site_id = ? AND at >= ? AND at < ? AND context IN (SELECT value FROM json_each(?)) AND ${DONE} GROUP BY action`,
        [siteId, from, to, JSON.stringify(contexts)],
      );
      return rows.map((row) => ({ action: String(row.action), n: Number(row.n) }));
    },

    /** Deletes entries from before this time, and what others changed on sites until then; returns how many. */
    async prune(before: number): Promise<number> {
      const gone = await db.batch([
        sql('DELETE FROM action_log WHERE at < ?', before),
        // By site, for which there is an index.
        sql(
          'DELETE FROM site_change WHERE id IN (SELECT c.id FROM site s CROSS JOIN site_change c ON c.site_id = s.id AND c.created < ?)',
          before / 1000,
        ),
      ]);
      return gone.reduce((total, { changes }) => total + changes, 0);
    },
  };
}
