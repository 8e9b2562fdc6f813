/** Updates that failed and were not made up for since, by reason; and how many failed of each type. */

import type { Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';

/** A reason, with the newest update that failed for it. */
export interface FailedReason extends Row {
  /** How many updates failed for it, on how many sites, in how many runs. */
  n: number;
  sites: number;
  runs: number;
  code: string;
  message: string;
  at: number;
  run_id: string;
  site_id: number;
  site_name: string;
  url: string;
  item_name: string;
  old_version: string;
  new_version: string;
}

/** One type of update, with the newest that failed. */
export interface FailedType
  extends Row,
    Pick<FailedReason, 'n' | 'sites' | 'item_name' | 'old_version' | 'new_version' | 'message'> {
  type: number;
  url: string | null;
}

const FINISHED = 'coalesce(i.finished_at, r.started_at)';
/** From the runs that began since then: few, by an index, and of each the failed items, by another. */
const FAILED = `update_run r CROSS JOIN update_run_item i ON i.run_id = r.id AND i.state = 'failed'`;
/** Not: that it broke its site, which is told as such. */
const NO_HARM = `i.code <> 'svc_update_broke_site' AND NOT EXISTS (SELECT 1 FROM safe_change c WHERE c.id = i.change_id AND c.outcome = 'broken')`;
/** Neither tried again since, nor installed in another way, nor ignored: then it is no longer on offer. */
const OPEN = `EXISTS (SELECT 1 FROM site_update u WHERE u.site_id = i.site_id AND u.type = i.type AND u.slug = i.slug AND u.ignored = 0)
  AND NOT EXISTS (SELECT 1 FROM update_run_item l JOIN update_run t ON t.id = l.run_id
    WHERE l.site_id = i.site_id AND l.type = i.type AND l.slug = i.slug AND l.state IN ('kept', 'rolled_back', 'failed')
      AND (coalesce(l.finished_at, t.started_at), l.run_id) > (${FINISHED}, i.run_id))`;

/** Two statements: how many there are, and the first reasons, those of most updates first. Suspended sites are left out. */
export function openFailures(since: number, limit: number): [Statement, Statement] {
  const failed = `SELECT i.*, ${FINISHED} AS at, i.name AS item_name, s.name AS site_name, s.url
    FROM ${FAILED} JOIN site s ON s.id = i.site_id WHERE r.started_at >= ? AND s.suspended = 0 AND ${NO_HARM} AND ${OPEN}`;
  return [
    sql(`SELECT count(*) AS n FROM (${failed})`, since),
    // SQLite takes the other columns from the row of the maximum.
    sql(
      `SELECT count(*) AS n, count(DISTINCT site_id) AS sites, count(DISTINCT run_id) AS runs, code, message, max(at) AS at, run_id,
         site_id, site_name, url, item_name, old_version, new_version
       FROM (${failed}) GROUP BY code, message ORDER BY n DESC, at DESC LIMIT ?`,
      since,
      limit,
    ),
  ];
}

/** What failed since then, by type, made up for or not. */
export function failuresByType(since: number): Statement {
  return sql(
    `SELECT i.type, count(*) AS n, count(DISTINCT i.site_id) AS sites, max(${FINISHED}) AS newest, i.name AS item_name, i.old_version,
       i.new_version, i.message, s.url
     FROM ${FAILED} LEFT JOIN site s ON s.id = i.site_id WHERE r.started_at >= ? AND i.type < 4 AND ${NO_HARM} GROUP BY i.type`,
    since,
  );
}
