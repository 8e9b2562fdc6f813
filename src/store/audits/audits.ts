/** Performance audits: the queue, the results, and the choices of single sites. */

import { fold, needle } from '../../../schemas/fold.js';
import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { among, except, fragment, join } from '../driver/sql-fragments.js';

export type AuditStrategy = 'desktop' | 'mobile';
export type AuditStatus = 'pending' | 'running' | 'completed' | 'failed';
export type AuditSchedule = 'none' | 'daily' | 'weekly' | 'monthly';

/** 0 to 100; null if it was not measured. */
interface AuditScores {
  performance: number | null;
  seo: number | null;
  accessibility: number | null;
  best_practices: number | null;
}

export interface AuditRow extends Row, AuditScores {
  id: number;
  site_id: number;
  strategy: AuditStrategy;
  status: AuditStatus;
  requested_at: number;
  started_at: number | null;
  finished_at: number | null;
  engine: string;
  response_code: number | null;
  /** JSON. */
  lab_data: string;
  others_data: string;
  error: string | null;
}

export interface AuditChoice {
  strategy: AuditStrategy | 'both' | null;
  schedule: AuditSchedule | null;
}

/** A claimed audit: the process that holds the claim writes its result. */
export interface ClaimedAudit extends Row {
  id: number;
  site_id: number;
  strategy: AuditStrategy;
  attempts: number;
  url: string;
  site_status: string;
}

interface AuditResult extends AuditScores {
  engine: string;
  response_code: number | null;
  lab_data: unknown;
  others_data: unknown;
}

export interface AuditSite extends Row {
  id: number;
  url: string;
  name: string;
  client_id: number | null;
  status: 'connected' | 'disconnected' | 'suspended';
}

interface ScorePoint extends Row, AuditScores {
  at: number;
  strategy: AuditStrategy;
}

const COLUMNS = `a.id, a.site_id, a.strategy, a.status, a.requested_at, a.started_at, a.finished_at, a.engine, a.response_code,
  a.performance, a.seo, a.accessibility, a.best_practices, a.lab_data, a.others_data, a.error`;

/** The newest audit of each site and strategy, and the newest one with a result. */
const NEWEST = `a.id IN (
  SELECT (SELECT max(x.id) FROM audit x WHERE x.site_id = s.value AND x.strategy = t.strategy)
    FROM json_each(?) s JOIN (SELECT 'desktop' AS strategy UNION ALL SELECT 'mobile') t
  UNION ALL
  SELECT (SELECT max(x.id) FROM audit x WHERE x.site_id = s.value AND x.strategy = t.strategy AND x.status = 'completed')
    FROM json_each(?) s JOIN (SELECT 'desktop' AS strategy UNION ALL SELECT 'mobile') t)`;

export function createAudits(db: Db) {
  return {
    /** Queues audits, at most one open one per site and strategy; returns the sites that one was queued for. */
    async request(wanted: readonly { site_id: number; strategy: AuditStrategy }[], now: number): Promise<Set<number>> {
      const rows = await db.all(
        `INSERT OR IGNORE INTO audit (site_id, strategy, requested_at)
         SELECT json_extract(w.value, '$.site_id'), json_extract(w.value, '$.strategy'), ? FROM json_each(?) w
         WHERE EXISTS (SELECT 1 FROM site WHERE id = json_extract(w.value, '$.site_id')) RETURNING site_id`,
        [now, JSON.stringify(wanted)],
      );
      return new Set(rows.map((row) => Number(row.site_id)));
    },

    /** Takes the oldest due audit, unless one is running anywhere. One whose holder died is taken over. */
    async claim(now: number, until: number, lapsed = now): Promise<ClaimedAudit | undefined> {
      const [, claimed] = await db.batch([
        sql(
          `UPDATE audit SET status = 'failed', finished_at = ?, lease_until = NULL, error = 'The service was stopped during the audit, three times.'
           WHERE status = 'running' AND lease_until <= ? AND attempts >= 3`,
          now,
          lapsed,
        ),
        sql(
          `UPDATE audit SET status = 'running', started_at = ?, attempts = attempts + 1, lease_until = ?
           WHERE id = (SELECT id FROM audit WHERE (status = 'pending' AND not_before <= ?) OR (status = 'running' AND lease_until <= ?)
                       ORDER BY id LIMIT 1)
             AND NOT EXISTS (SELECT 1 FROM audit WHERE status = 'running' AND lease_until > ?)
           RETURNING id, site_id, strategy, attempts,
             (SELECT url FROM site WHERE site.id = site_id) AS url, (SELECT status FROM site WHERE site.id = site_id) AS site_status`,
          now,
          until,
          now,
          lapsed,
          lapsed,
        ),
      ]);
      return claimed?.rows[0] as ClaimedAudit | undefined;
    },

    async complete(id: number, result: AuditResult, now: number): Promise<void> {
      await db.run(
        `UPDATE audit SET status = 'completed', finished_at = ?, lease_until = NULL, error = NULL, engine = ?, response_code = ?,
           performance = ?, seo = ?, accessibility = ?, best_practices = ?, lab_data = ?, others_data = ? WHERE id = ? AND status = 'running'`,
        [
          now,
          result.engine,
          result.response_code,
          result.performance,
          result.seo,
          result.accessibility,
          result.best_practices,
          JSON.stringify(result.lab_data),
          JSON.stringify(result.others_data),
          id,
        ],
      );
    },

    async fail(id: number, engine: string, error: string, now: number): Promise<void> {
      await db.run(
        "UPDATE audit SET status = 'failed', finished_at = ?, lease_until = NULL, engine = ?, error = ? WHERE id = ? AND status = 'running'",
        [now, engine, error, id],
      );
    },

    /** Puts an audit back into the queue; `counted` false does not count the attempt (the service was stopped). */
    async postpone(id: number, notBefore: number, error: string | null, counted: boolean): Promise<void> {
      await db.run(
        `UPDATE audit SET status = 'pending', started_at = NULL, lease_until = NULL, not_before = ?, error = ?, attempts = attempts - ?
         WHERE id = ? AND status = 'running'`,
        [notBefore, error, counted ? 0 : 1, id],
      );
    },

    /** Newest audits and newest results of some sites: at most four rows a site. */
    async newest(siteIds: readonly number[]): Promise<Map<number, AuditRow[]>> {
      const ids = JSON.stringify(siteIds);
      const rows = await db.all<AuditRow>(`SELECT ${COLUMNS} FROM audit a WHERE ${NEWEST} ORDER BY a.id DESC`, [
        ids,
        ids,
      ]);
      const found = new Map<number, AuditRow[]>(siteIds.map((id) => [id, []]));
      for (const row of rows) found.get(row.site_id)?.push(row);
      return found;
    },

    /** Sites that have audits, one page in URL order with the true total. */
    async sites(
      filter: {
        include?: readonly number[] | undefined;
        exclude?: readonly number[] | undefined;
        search?: string | undefined;
      },
      page: number,
      perPage: number,
    ): Promise<{ items: AuditSite[]; total: number }> {
      const text = needle(filter.search);
      const where = join([
        except('s.id', filter.exclude),
        among('s.id', filter.include),
        text === '' ? fragment('') : fragment(' AND (instr(s.search, ?) > 0 OR s.id = ?)', fold(text), text),
      ]);
      const from = `FROM site s WHERE EXISTS (SELECT 1 FROM audit a WHERE a.site_id = s.id)${where.text}`;
      const rows = sql(
        `SELECT s.id, s.url, s.name, s.client_id, s.status ${from} ORDER BY s.url_key, s.id`,
        ...where.args,
      );
      return readPage<AuditSite>(db, rows, sql(`SELECT count(*) AS n ${from}`, ...where.args), page, perPage);
    },

    /** Scores over time, newest first. `to` is exclusive. */
    scores(siteId: number, from: number, to: number, limit: number): Promise<ScorePoint[]> {
      return db.all<ScorePoint>(
        `SELECT finished_at AS at, strategy, performance, seo, accessibility, best_practices FROM audit
         WHERE site_id = ? AND status = 'completed' AND finished_at >= ? AND finished_at < ? ORDER BY finished_at DESC, id DESC LIMIT ?`,
        [siteId, from, to, limit],
      );
    },

    async choices(siteIds: readonly number[]): Promise<Map<number, AuditChoice>> {
      const rows = await db.all(
        'SELECT site_id, strategy, schedule FROM audit_choice WHERE site_id IN (SELECT value FROM json_each(?))',
        [JSON.stringify(siteIds)],
      );
      return new Map(
        rows.map((row) => [Number(row.site_id), { strategy: row.strategy, schedule: row.schedule } as AuditChoice]),
      );
    },

    async choose(siteId: number, choice: AuditChoice): Promise<void> {
      await db.run(
        `INSERT INTO audit_choice (site_id, strategy, schedule) VALUES (?, ?, ?)
         ON CONFLICT (site_id) DO UPDATE SET strategy = excluded.strategy, schedule = excluded.schedule`,
        [siteId, choice.strategy, choice.schedule],
      );
    },

    /** Connected sites whose schedule calls for an audit that has not been requested since; longest unaudited first. */
    async due(
      standard: AuditSchedule,
      since: Readonly<Record<Exclude<AuditSchedule, 'none'>, number>>,
      limit: number,
    ): Promise<{ site_id: number; strategy: AuditChoice['strategy'] }[]> {
      const rows = await db.all(
        `SELECT s.id AS site_id, c.strategy, (SELECT max(a.requested_at) FROM audit a WHERE a.site_id = s.id) AS last
         FROM site s LEFT JOIN audit_choice c ON c.site_id = s.id
         WHERE s.status = 'connected' AND ifnull(c.schedule, ?) <> 'none' AND (last IS NULL OR last <=
           CASE ifnull(c.schedule, ?) WHEN 'daily' THEN ? WHEN 'weekly' THEN ? ELSE ? END)
         ORDER BY last, s.id LIMIT ?`,
        [standard, standard, since.daily, since.weekly, since.monthly, limit],
      );
      return rows.map((row) => ({ site_id: Number(row.site_id), strategy: row.strategy as AuditChoice['strategy'] }));
    },

    /** Deletes ended audits from before an instant, except the newest of each site and strategy. */
    async prune(before: number): Promise<number> {
      const { changes } = await db.run(
        `DELETE FROM audit WHERE finished_at < ? AND EXISTS
           (SELECT 1 FROM audit x WHERE x.site_id = audit.site_id AND x.strategy = audit.strategy AND x.status = 'completed' AND x.id > audit.id)`,
        [before],
      );
      return changes;
    },
  };
}
