/** The history of changes that the service itself made on sites. */

import type { Db, Row } from '../driver/db.js';

export type HistoryContext = 'plugin' | 'theme' | 'core' | 'translation';

export interface HistoryEntry {
  site_id: number;
  context: HistoryContext;
  action: string;
  slug: string;
  old_version: string;
  new_version: string;
  /** Milliseconds. */
  at: number;
}

interface HistoryRow extends Row {
  id: number;
  context: HistoryContext;
  action: string;
  slug: string;
  name: string;
  old_version: string;
  new_version: string;
  at: number;
}

export function createHistory(db: Db) {
  return {
    /** Stores entries with their names, which are read now while they are known: from the site's inventory, else from any site's. */
    async add(entries: readonly HistoryEntry[]): Promise<void> {
      await db.run(
        `INSERT INTO site_history (site_id, context, action, slug, name, old_version, new_version, at)
         SELECT site_id, context, action, slug, coalesce(
             CASE WHEN context = 'core' THEN 'WordPress' END,
             (SELECT p.name FROM site_extension e JOIN package p ON p.id = e.package_id
               WHERE e.site_id = w.site_id AND p.kind = w.kind AND p.slug = w.slug LIMIT 1),
             (SELECT max(p.name) FROM package p WHERE p.kind = w.kind AND p.slug = w.slug), slug),
           old_version, new_version, at
         FROM (SELECT json_extract(value, '$.site_id') AS site_id, json_extract(value, '$.context') AS context,
             CASE json_extract(value, '$.context') WHEN 'plugin' THEN 0 WHEN 'theme' THEN 1 ELSE -1 END AS kind,
             json_extract(value, '$.action') AS action, json_extract(value, '$.slug') AS slug,
             json_extract(value, '$.old_version') AS old_version, json_extract(value, '$.new_version') AS new_version,
             json_extract(value, '$.at') AS at FROM json_each(?)) w
         WHERE EXISTS (SELECT 1 FROM site WHERE id = w.site_id)`,
        [JSON.stringify(entries)],
      );
    },

    /** Newest first; `to` is exclusive. */
    list(
      siteId: number,
      contexts: readonly HistoryContext[],
      from: number,
      to: number,
      limit: number,
    ): Promise<HistoryRow[]> {
      return db.all<HistoryRow>(
        `SELECT id, context, action, slug, name, old_version, new_version, at FROM site_history
         WHERE site_id = ? AND at >= ? AND at < ? AND context IN (SELECT value FROM json_each(?)) ORDER BY at DESC, id DESC LIMIT ?`,
        [siteId, from, to, JSON.stringify(contexts), limit],
      );
    },

    /** Newest first, all contexts, one page. */
    recent(siteId: number, limit: number): Promise<HistoryRow[]> {
      return db.all<HistoryRow>(
        'SELECT id, context, action, slug, name, old_version, new_version, at FROM site_history WHERE site_id = ? ORDER BY at DESC, id DESC LIMIT ?',
        [siteId, limit],
      );
    },

    async prune(before: number): Promise<number> {
      const { changes } = await db.run('DELETE FROM site_history WHERE at < ?', [before]);
      return changes;
    },
  };
}
