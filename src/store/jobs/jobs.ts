/** Durable jobs: how they are added, listed and corrected. Counters are derived from the rows, never incremented. */

import type { JobType, ToolJobType } from '../../../schemas/job.js';
import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { offset } from '../driver/sql-fragments.js';
import { type NewRun, newRun } from './new-run.js';
import { createJobQueue } from './queue.js';
import {
  columnsOf,
  FAILED,
  type JobItem,
  type JobRow,
  OPEN,
  REFUSED,
  type SiteOutcome,
  STARTED,
  SUCCEEDED,
  WAITING,
} from './rows.js';
import { TOOL_JOB_STATUS, TOOL_JOB_TYPE } from './tool-jobs.js';

export interface JobProgress extends JobRow {
  succeeded: number;
  failed: number;
  /** Sites under way of which something is known: how many, their items, and how many of these had their turn. */
  known_sites: number;
  items_done: number;
  items_planned: number;
  /** What is done of them, as a number of sites. */
  part: number;
}

/** A job in the list, which includes those of the tools. */
export interface ListedJob
  extends Row,
    Pick<
      JobProgress,
      'id' | 'origin' | 'status' | 'total' | 'created_at' | 'started_at' | 'completed_at' | 'succeeded' | 'failed'
    > {
  type: JobType | ToolJobType;
}

interface JobError extends Row {
  site_id: number;
  code: string;
  message: string;
}

interface NewJob extends Pick<JobRow, 'id' | 'type' | 'chunk' | 'delay_ms' | 'timeout_ms' | 'next_run_at'> {
  params: unknown;
  /** Who queued it; absent for the service itself. */
  origin?: unknown;
  /** The run of updates that it does or finishes, and the run itself if it begins with this job. */
  run_id?: string;
  run?: NewRun | undefined;
  sites: readonly number[];
  /** The sites were started already and may have been changed: the runner checks them first. */
  begun: boolean;
  /** What was done on begun sites before the job, by site. */
  before?: ReadonlyMap<number, readonly JobItem[]>;
  /** What was being done on begun sites when the call before the job ended, by site. */
  work?: ReadonlyMap<number, object>;
  /** Entries refused before queueing: they belong to the final state too. */
  refused: readonly { site_id: number; code: string; message: string }[];
}

/** A job, and the run of updates that it belongs to; '' = none. */
export type JobAtWork = Pick<JobRow, 'id' | 'run_id'>;

export interface JobItemRow extends Row {
  site_id: number;
  /** JSON. */
  facts: string;
}

export interface ItemCounts {
  done: number;
  failed: number;
  /** Sites on which at least one was done. */
  sites: number;
  /** Errors of sites as a whole: no item of theirs has failed. */
  whole: number;
}

export interface OutcomeCounts {
  done: number;
  undone: number;
  errors: number;
  /** Sites on which an item was done. */
  sites: number;
}

/** What a job has done: the first of each kind, and how many there are. */
interface JobOutcome {
  /** Ids of sites that succeeded. */
  sites: number[];
  done: JobItemRow[];
  /** Items that failed, or whose outcome is unknown. */
  undone: JobItemRow[];
  /** Errors of sites as a whole. */
  errors: JobError[];
  counts: OutcomeCounts;
  /** Done items by their type, where they have one. */
  types: Map<string, number>;
  cancelled: boolean;
}

/** Its error is of the site as a whole: no item of it has failed. */
const WHOLE = `s.state IN (${FAILED}, ${REFUSED}) AND s.code <> ''
  AND NOT EXISTS (SELECT 1 FROM job_item i WHERE i.job_id = s.job_id AND i.position = s.position AND i.done <> 1)`;
const UNDER_WAY = `FROM job_site s WHERE s.job_id = j.id AND s.state = ${STARTED} AND s.items_planned > 0`;
const PROGRESS = `SELECT j.*, (SELECT count(*) ${UNDER_WAY}) AS known_sites, (SELECT total(s.items_done) ${UNDER_WAY}) AS items_done,
  (SELECT total(s.items_planned) ${UNDER_WAY}) AS items_planned,
  (SELECT total(1.0 * s.items_done / s.items_planned) ${UNDER_WAY}) AS part, (SELECT count(*) FROM job_site s WHERE s.job_id = j.id AND s.state = ${SUCCEEDED}) AS succeeded,
  (SELECT count(*) FROM job_site s WHERE s.job_id = j.id AND s.state = ${FAILED}) AS failed FROM job j`;

export function createJobs(db: Db) {
  return {
    ...createJobQueue(db),

    async add(job: NewJob, now: number): Promise<void> {
      await db.batch([
        ...(job.run === undefined ? [] : [newRun(job.run)]),
        sql(
          `INSERT INTO job (id, type, params, origin, run_id, total, chunk, delay_ms, timeout_ms, created_at, next_run_at, begun)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          job.id,
          job.type,
          '',
          job.origin === undefined ? '' : JSON.stringify(job.origin),
          job.run_id ?? '',
          job.sites.length,
          job.chunk,
          job.delay_ms,
          job.timeout_ms,
          now,
          job.next_run_at,
          job.begun ? 1 : 0,
        ),
        sql(
          'INSERT INTO job_site (job_id, position, site_id, state, begun) SELECT ?, key, value ->> 0, ?, value ->> 1 FROM json_each(?)',
          job.id,
          job.begun ? STARTED : WAITING,
          JSON.stringify(job.sites.map((siteId) => [siteId, job.work?.get(siteId) ?? null])),
        ),
        sql(
          `INSERT INTO job_site (job_id, position, site_id, state, code, message, finished_at)
           SELECT ?, ? + key, value ->> 0, ${REFUSED}, value ->> 1, value ->> 2, ? FROM json_each(?)`,
          job.id,
          job.sites.length,
          now,
          JSON.stringify(job.refused.map((entry) => [entry.site_id, entry.code, entry.message])),
        ),
        sql(
          `INSERT INTO job_item (job_id, position, number, site_id, done, facts)
           SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?)`,
          job.id,
          JSON.stringify(
            job.sites.flatMap((siteId, position) =>
              (job.before?.get(siteId) ?? []).map((item, number) => [position, number, siteId, ...columnsOf(item)]),
            ),
          ),
        ),
        // Last: each row above reads the job for its foreign key, and would read a text of up to a megabyte with it.
        sql('UPDATE job SET params = ? WHERE id = ?', JSON.stringify(job.params), job.id),
      ]);
    },

    /** A job with its derived counters. */
    find(id: string): Promise<JobProgress | undefined> {
      return db.one<JobProgress>(`${PROGRESS} WHERE j.id = ?`, [id]);
    },

    /** Newest first, one page, with the number of open ones; includes jobs of the tools. */
    async page(
      open: boolean,
      page: number,
      perPage: number,
    ): Promise<{ items: ListedJob[]; total: number; running: number }> {
      const where = open ? 'WHERE j.completed_at IS NULL' : '';
      const times = 'j.total, j.origin, j.created_at, j.started_at, j.completed_at';
      const listed = `SELECT j.id, j.type, j.status, 0 AS tool, ${times} FROM job j ${where}
        UNION ALL SELECT j.id, ${TOOL_JOB_TYPE}, ${TOOL_JOB_STATUS}, 1, ${times} FROM tool_job j ${where}`;
      const count = (succeeded: number, ofTool: number) =>
        `CASE j.tool WHEN 1 THEN (SELECT count(*) FROM tool_job_site s WHERE s.job_id = j.id AND s.state = ${ofTool})
           ELSE (SELECT count(*) FROM job_site s WHERE s.job_id = j.id AND s.state = ${succeeded}) END`;
      const [items = [], counts = []] = await db.read([
        sql(
          `SELECT j.*, ${count(SUCCEEDED, 1)} AS succeeded, ${count(FAILED, 2)} AS failed
           FROM (${listed} ORDER BY created_at DESC, id LIMIT ? OFFSET ?) j ORDER BY j.created_at DESC, j.id`,
          perPage,
          offset(page, perPage),
        ),
        sql(`SELECT count(*) AS n, count(*) FILTER (WHERE completed_at IS NULL) AS running FROM (
               SELECT completed_at FROM job UNION ALL SELECT completed_at FROM tool_job)`),
      ]);
      const { n, running } = counts[0] as Row;
      return { items: items as ListedJob[], total: Number(open ? running : n), running: Number(running) };
    },

    errors(id: string): Promise<JobError[]> {
      return db.all<JobError>(
        `SELECT site_id, code, message FROM job_site WHERE job_id = ? AND state IN (${SUCCEEDED}, ${FAILED}, ${REFUSED}) AND code <> ''
         ORDER BY position`,
        [id],
      );
    },

    /** One page of what a job did, in the order of its sites, and the counts of all. */
    async items(id: string, page: number, perPage: number): Promise<{ items: JobItemRow[]; counts: ItemCounts }> {
      const [items = [], counts = []] = await db.read([
        sql(
          'SELECT site_id, facts FROM job_item WHERE job_id = ? ORDER BY position, number LIMIT ? OFFSET ?',
          id,
          perPage,
          offset(page, perPage),
        ),
        sql(
          `SELECT count(*) FILTER (WHERE done = 1) AS done, count(*) FILTER (WHERE done <> 1) AS failed,
             count(DISTINCT CASE done WHEN 1 THEN site_id END) AS sites,
             (SELECT count(*) FROM job_site s WHERE s.job_id = ? AND ${WHOLE}) AS whole
           FROM job_item WHERE job_id = ?`,
          id,
          id,
        ),
      ]);
      return { items: items as JobItemRow[], counts: counts[0] as unknown as ItemCounts };
    },

    /** When the last of a job's sites was finished; null = none is. */
    async lastFinishedAt(id: string): Promise<number | null> {
      const row = await db.one<{ at: number | null }>('SELECT max(finished_at) AS at FROM job_site WHERE job_id = ?', [
        id,
      ]);
      return row?.at ?? null;
    },

    /** What a job has done, in the order of its sites. @param limit of each list */
    async outcome(id: string, limit: number): Promise<JobOutcome> {
      const items = (which: string) =>
        sql(
          `SELECT site_id, facts FROM job_item WHERE job_id = ? AND done ${which} 1 ORDER BY position, number LIMIT ?`,
          id,
          limit,
        );
      const whole = `FROM job_site s WHERE s.job_id = ? AND ${WHOLE}`;
      const [sites = [], done = [], undone = [], errors = [], types = [], counts = []] = await db.read([
        sql(
          `SELECT site_id FROM job_site WHERE job_id = ? AND state = ${SUCCEEDED} ORDER BY position LIMIT ?`,
          id,
          limit,
        ),
        items('='),
        items('<>'),
        sql(`SELECT s.site_id, s.code, s.message ${whole} ORDER BY s.position LIMIT ?`, id, limit),
        sql(
          `SELECT facts ->> 'type' AS type, count(*) AS n FROM job_item WHERE job_id = ? AND done = 1 GROUP BY 1`,
          id,
        ),
        sql(
          `SELECT (SELECT count(*) FROM job_item WHERE job_id = j.id AND done = 1) AS done,
             (SELECT count(*) FROM job_item WHERE job_id = j.id AND done <> 1) AS undone,
             (SELECT count(DISTINCT site_id) FROM job_item WHERE job_id = j.id AND done = 1) AS sites,
             (SELECT count(*) ${whole}) AS errors,
             EXISTS (SELECT 1 FROM job_site WHERE job_id = j.id AND code = 'svc_cancelled') AS cancelled
           FROM job j WHERE j.id = ?`,
          id,
          id,
        ),
      ]);
      const { cancelled = 0, ...numbers } = counts[0] ?? {};
      return {
        sites: sites.map(({ site_id }) => Number(site_id)),
        done: done as JobItemRow[],
        undone: undone as JobItemRow[],
        errors: errors as JobError[],
        counts: { done: 0, undone: 0, errors: 0, sites: 0, ...numbers },
        types: new Map(types.map(({ type, n }) => [String(type), Number(n)])),
        cancelled: cancelled === 1,
      };
    },

    async wasCancelled(id: string): Promise<boolean> {
      const [code] = await db.all("SELECT code FROM job_site WHERE job_id = ? AND code = 'svc_cancelled' LIMIT 1", [
        id,
      ]);
      return code !== undefined;
    },

    /** What a job has done on one of its sites. */
    async itemsAt(id: string, position: number): Promise<JobItem[]> {
      const rows = await db.all('SELECT done, facts FROM job_item WHERE job_id = ? AND position = ? ORDER BY number', [
        id,
        position,
      ]);
      return rows.map(({ done, facts }) => ({
        done: done === OPEN ? null : done === 1,
        facts: JSON.parse(String(facts)) as JobItem['facts'],
      }));
    },

    /** Jobs of a type that had to leave items of a site open, with all items of the site in each. */
    async openSites(siteId: number, type: JobType): Promise<{ job_id: string; position: number; items: JobItem[] }[]> {
      const rows = await db.all(
        `SELECT DISTINCT i.job_id, i.position FROM job_item i JOIN job j ON j.id = i.job_id
         WHERE i.site_id = ? AND i.done = ${OPEN} AND j.type = ?`,
        [siteId, type],
      );
      return Promise.all(
        rows.map(async ({ job_id, position }) => ({
          job_id: String(job_id),
          position: Number(position),
          items: await this.itemsAt(String(job_id), Number(position)),
        })),
      );
    },

    /**
     * Replaces the outcome of a site that was incomplete when it was stored. A failed job completes with its first
     * success.
     */
    async correctSite(id: string, position: number, outcome: Omit<SiteOutcome, 'position'>): Promise<void> {
      await db.batch([
        ...(outcome.items ?? []).map((item, number) =>
          sql(
            'UPDATE job_item SET done = ?, facts = ? WHERE job_id = ? AND position = ? AND number = ?',
            ...columnsOf(item),
            id,
            position,
            number,
          ),
        ),
        sql(
          `UPDATE job_site SET state = ?, code = ?, message = ?
           WHERE job_id = ? AND position = ? AND state IN (${SUCCEEDED}, ${FAILED}) AND code <> 'svc_cancelled'`,
          outcome.failed ? FAILED : SUCCEEDED,
          outcome.code,
          outcome.message,
          id,
          position,
        ),
        sql(
          `UPDATE job SET status = 'completed' WHERE id = ? AND status = 'failed' AND timed_out = 0 AND completed_at IS NOT NULL
           AND EXISTS (SELECT 1 FROM job_site WHERE job_id = job.id AND state = ${SUCCEEDED})
           AND NOT EXISTS (SELECT 1 FROM job_site WHERE job_id = job.id AND code = 'svc_cancelled')`,
          id,
        ),
      ]);
    },

    /** Jobs that continue the same work on these sites for a call that ran out of time, by site. */
    async continuing(type: JobType, params: object, siteIds: readonly number[]): Promise<Map<number, JobAtWork>> {
      const rows = await db.all(
        `SELECT s.site_id, j.id, j.run_id FROM json_each(?) e JOIN job_site s ON s.site_id = e.value AND s.state = ${STARTED}
         JOIN job j ON j.id = s.job_id WHERE j.completed_at IS NULL AND j.begun = 1 AND j.type = ? AND j.params = ?`,
        [JSON.stringify(siteIds), type, JSON.stringify(params)],
      );
      return new Map(rows.map((row) => [Number(row.site_id), { id: String(row.id), run_id: String(row.run_id) }]));
    },

    /** Age of the oldest due job and the number of unfinished ones, for health and metrics. */
    async backlog(now: number): Promise<{ unfinished: number; oldest_ms: number }> {
      const row = await db.one('SELECT count(*) AS n, min(created_at) AS oldest FROM job WHERE completed_at IS NULL');
      const oldest = row?.oldest === null || row === undefined ? now : Number(row.oldest);
      return { unfinished: Number(row?.n ?? 0), oldest_ms: Math.max(0, now - oldest) };
    },

    list(limit: number): Promise<JobProgress[]> {
      return db.all<JobProgress>(`${PROGRESS} ORDER BY j.created_at DESC, j.id LIMIT ?`, [limit]);
    },
  };
}
