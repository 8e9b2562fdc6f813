/** The change history of a site, page by page: changes made on the site itself, and through this service. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { among, fragment, join, offset } from '../driver/sql-fragments.js';

/** `wpadmin`: made on the site itself; `dashboard`: made through this service. */
export type ChangeSource = 'wpadmin' | 'dashboard';

export interface ChangeFilter {
  sources: readonly ChangeSource[];
  /** Empty = all. */
  actions: readonly string[];
  contexts: readonly string[];
  oldest_first: boolean;
}

export interface ChangeRow extends Row {
  source: ChangeSource;
  /** Of an entry of the action log its own id; of a change on the site itself one that no such entry has. */
  id: number;
  context: string;
  action: string;
  item: string;
  detail: string;
  summary: string;
  user_login: string;
  user_id: number;
  /** Unix seconds with fraction. */
  created: number;
  duration: number | null;
  via: string;
  operation: string;
  /** '' if it was done, otherwise why it was not. */
  code: string;
  old_value: string;
  new_value: string;
}

/** A change with what it was made to. */
export interface FoundChange extends ChangeRow {
  site_id: number;
  slug: string;
}

/** Added to the ids of what sites logged, so that lists of both sources, and of the action log, have one kind of id. */
export const ON_SITE_IDS = 1_000_000_000_000;

const TABLES: Record<ChangeSource, string> = {
  wpadmin: `SELECT 'wpadmin' AS source, t.id + ${ON_SITE_IDS} AS id, site_id, slug, context, action, item, detail, summary, user_login, user_id, created, duration,
      '' AS via, '' AS operation, '' AS code, old_value, new_value FROM site_change t`,
  dashboard: `SELECT 'dashboard' AS source, t.id, site_id, slug, context, action, name AS item, detail, '' AS summary, actor AS user_login,
      coalesce(actor_id, 0) AS user_id, at / 1000.0 AS created, NULL AS duration, via, operation, code,
      old_version AS old_value, new_version AS new_value FROM action_log t`,
};
/** The time column, for the index of the table. */
const WHEN: Record<ChangeSource, string> = { wpadmin: 'created', dashboard: 'at' };

export function createChangeList(db: Db) {
  return {
    list(
      siteId: number,
      filter: ChangeFilter,
      page: number,
      perPage: number,
    ): Promise<{ items: ChangeRow[]; total: number }> {
      const { text: where, args } = join([
        fragment('site_id = ?', siteId),
        among('action', filter.actions),
        among('context', filter.contexts),
      ]);
      const way = filter.oldest_first ? 'ASC' : 'DESC';
      const { sources } = filter;
      const last = Math.min(offset(page, perPage) + perPage, Number.MAX_SAFE_INTEGER);
      // Each source returns no more than this page can need; the results are then merged.
      const parts = sources.map(
        (source) =>
          `SELECT * FROM (${TABLES[source]} WHERE ${where} ORDER BY ${WHEN[source]} ${way}, t.id ${way} LIMIT ?)`,
      );
      const counts = sources.map((source) => `(SELECT count(*) FROM (${TABLES[source]} WHERE ${where}))`);
      const rows = sql(
        `${parts.join(' UNION ALL ')} ORDER BY created ${way}, id ${way}`,
        ...sources.flatMap(() => [...args, last]),
      );
      const count = sql(`SELECT ${counts.join(' + ')} AS n`, ...sources.flatMap(() => args));
      return readPage<ChangeRow>(db, rows, count, page, perPage);
    },

    /** A change by its id in the list. */
    find(id: number): Promise<FoundChange | undefined> {
      const source = id > ON_SITE_IDS ? 'wpadmin' : 'dashboard';
      return db.one<FoundChange>(`${TABLES[source]} WHERE t.id = ?`, [source === 'wpadmin' ? id - ON_SITE_IDS : id]);
    },
  };
}
