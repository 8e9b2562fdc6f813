/** The status of sites: since when, caused by what, and what the last visits found (operations §5.1, §5.12). */

import { type Db, type Row, type Statement, sql } from '../driver/db.js';
import { STARTED } from '../jobs/rows.js';
import { idList } from './filter.js';
import type { SiteRecord } from './rows.js';

/** Whether an update job is at work on the site of a row of `site`: then silence is part of the update. */
export const UPDATING = `EXISTS (SELECT 1 FROM job_site w JOIN job j ON j.id = w.job_id
  WHERE w.site_id = site.id AND w.state = ${STARTED} AND j.type = 'update' AND j.completed_at IS NULL)`;

/** A site whose suspension was set or lifted by a batch. */
export interface SuspensionChange {
  id: number;
  url: string;
  suspended: boolean;
}

/** The latest visits of a site's front page: by a check, and by its monitor. */
export type VisitFacts = Pick<
  SiteRecord,
  | 'reachable'
  | 'http_status'
  | 'checked_at'
  | 'monitor_status'
  | 'monitor_http_status'
  | 'monitor_msg'
  | 'monitor_checked_at'
>;

/** Facts about the status of a site, besides the status itself. */
export interface StatusFacts
  extends Row,
    VisitFacts,
    Pick<SiteRecord, 'id' | 'status' | 'suspended' | 'disconnected' | 'sync_error' | 'unreached' | 'suspended_with'> {
  status_since: number | null;
  /** The name of the client with which the site was suspended. */
  suspended_client: string | null;
}

/** Stores the time of every status change in the batch so far, null = unknown; triggers mark the sites. */
export function stampStatus(now: number | null): Statement {
  return sql('UPDATE site_detail SET status_since = ? WHERE status_since = 0', now);
}

export function createSiteStatus(db: Db) {
  return {
    /** Facts of any number of sites, in one round trip. */
    async facts(ids: readonly number[]): Promise<Map<number, StatusFacts>> {
      if (ids.length === 0) return new Map();
      const rows = await db.all<StatusFacts>(
        `SELECT s.id, s.status, s.suspended, s.disconnected, s.sync_error, s.unreached, s.suspended_with,
           d.reachable, d.http_status, d.checked_at, m.status AS monitor_status,
           m.last_http_code AS monitor_http_status, m.last_msg AS monitor_msg, m.last_check_at AS monitor_checked_at,
           c.name AS suspended_client, nullif(d.status_since, 0) AS status_since
         FROM site s JOIN site_detail d ON d.site_id = s.id LEFT JOIN monitor m ON m.site_id = s.id
           LEFT JOIN client c ON c.id = s.suspended_with
         WHERE s.id IN (SELECT value FROM json_each(?))`,
        [idList(ids)],
      );
      return new Map(rows.map((row) => [row.id, row]));
    },

    /**
     * Stores the result of a visit to the front page (operations §5.12). Without any answer the site counts as
     * disconnected until it answers again, whatever it is asked; but not while its own update runs.
     */
    async recordVisit(
      id: number,
      visit: { reachable: boolean | null; http_status: number; response_time_ms: number; at: number },
    ): Promise<void> {
      const unreached = visit.http_status === 0 ? 2 : visit.reachable === true ? 0 : 1;
      await db.batch([
        sql(
          'UPDATE site_detail SET reachable = ?, http_status = ?, response_time_ms = ?, checked_at = ? WHERE site_id = ?',
          visit.reachable,
          visit.http_status,
          visit.response_time_ms,
          visit.at,
          id,
        ),
        sql('UPDATE site SET unreached = ? WHERE id = ? AND unreached <> ?', unreached, id, unreached),
        sql(`UPDATE site SET unreached = 1 WHERE id = ? AND unreached = 2 AND ${UPDATING}`, id),
        stampStatus(visit.at),
      ]);
    },

    /** The child answered a signed call: clears the error of an earlier sync, unless the child is too old. */
    async answered(id: number, now: number): Promise<void> {
      await db.batch([
        sql('UPDATE site SET unreached = 1 WHERE id = ? AND unreached = 2', id),
        sql(
          `UPDATE site SET sync_error = '' WHERE id = ? AND sync_error <> ''
           AND NOT EXISTS (SELECT 1 FROM site_detail WHERE site_id = ? AND sync_error_code = 'svc_child_version_outdated')`,
          id,
          id,
        ),
        sql(
          `UPDATE site_detail SET sync_error_code = ''
           WHERE site_id = ? AND sync_error_code NOT IN ('', 'svc_child_version_outdated')`,
          id,
        ),
        stampStatus(now),
      ]);
    },
  };
}
