/** Durable jobs: a row per job, a row per site. Counters are derived from the rows, never incremented. */

import type { JobType, ToolJobType } from '../../../schemas/job.js';
import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { offset } from '../driver/sql-fragments.js';
import { TOOL_JOB_STATUS, TOOL_JOB_TYPE } from './tool-jobs.js';

type JobStatus = 'queued' | 'processing' | 'completed' | 'failed';

export interface JobRow extends Row {
  id: string;
  type: JobType;
  params: string;
  /** Who queued it, JSON; '' for the service itself. */
  origin: string;
  status: JobStatus;
  total: number;
  chunk: number;
  delay_ms: number;
  timeout_ms: number;
  created_at: number;
  started_at: number | null;
  completed_at: number | null;
  next_run_at: number;
  timed_out: number;
  owner: string | null;
  lease_until: number | null;
  fence: number;
}

export interface JobProgress extends JobRow {
  succeeded: number;
  failed: number;
}

/** A job in the list, which includes those of the tools. */
export interface ListedJob
  extends Pick<JobProgress, 'id' | 'origin' | 'status' | 'total' | 'created_at' | 'started_at' | 'completed_at'>,
    Row {
  type: JobType | ToolJobType;
  succeeded: number;
  failed: number;
}

interface JobError extends Row {
  site_id: number;
  code: string;
  message: string;
}

interface NewJob {
  id: string;
  type: JobType;
  params: unknown;
  /** Who queued it; absent for the service itself. */
  origin?: unknown;
  sites: readonly number[];
  /** The sites were started already and may have been changed: the runner checks them first. */
  begun: boolean;
  /** What was done on begun sites before the job, by site. */
  before?: ReadonlyMap<number, readonly JobItem[]>;
  /** Entries refused before queueing: they belong to the final state too. */
  refused: readonly { site_id: number; code: string; message: string }[];
  chunk: number;
  delay_ms: number;
  timeout_ms: number;
  next_run_at: number;
}

/** One thing that a job did, or failed to do, on a site. */
export interface JobItem {
  /** Null = it was sent, and its outcome is still unknown. */
  done: boolean | null;
  facts: Readonly<Record<string, unknown>>;
}

interface SiteOutcome {
  position: number;
  /** '' = no error. */
  code: string;
  message: string;
  /** False: the site succeeded despite `code`. If omitted, `code` decides. */
  failed?: boolean;
  /** All items of the site, including those of earlier turns. */
  items?: readonly JobItem[];
  /** The site has more to do: only its items are stored. */
  unfinished?: boolean;
}

/** A site of a chunk that begins. */
export interface ChunkSite {
  position: number;
  site_id: number;
  /** Started under an earlier lease: its work may have been done. */
  resumed: boolean;
}

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
}

/** States of a job's site row. */
const WAITING = 0;
const STARTED = 1;
const SUCCEEDED = 2;
const FAILED = 3;
const REFUSED = 4;

/** `done` of an item whose outcome is still unknown. */
const OPEN = 2;

/** `done` and `facts` as they are stored. */
function columnsOf({ done, facts }: JobItem): [number, string] {
  return [done === null ? OPEN : done ? 1 : 0, JSON.stringify(facts)];
}

export function createJobs(db: Db) {
  return {
    async add(job: NewJob, now: number): Promise<void> {
      await db.batch([
        sql(
          'INSERT INTO job (id, type, params, origin, total, chunk, delay_ms, timeout_ms, created_at, next_run_at, begun) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
          job.id,
          job.type,
          '',
          job.origin === undefined ? '' : JSON.stringify(job.origin),
          job.sites.length,
          job.chunk,
          job.delay_ms,
          job.timeout_ms,
          now,
          job.next_run_at,
          job.begun ? 1 : 0,
        ),
        sql(
          'INSERT INTO job_site (job_id, position, site_id, state) SELECT ?, key, value, ? FROM json_each(?)',
          job.id,
          job.begun ? STARTED : WAITING,
          JSON.stringify(job.sites),
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
      return db.one<JobProgress>(
        `SELECT j.*, (SELECT count(*) FROM job_site s WHERE s.job_id = j.id AND s.state = ${SUCCEEDED}) AS succeeded,
          (SELECT count(*) FROM job_site s WHERE s.job_id = j.id AND s.state = ${FAILED}) AS failed FROM job j WHERE j.id = ?`,
        [id],
      );
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
             count(DISTINCT CASE done WHEN 1 THEN site_id END) AS sites FROM job_item WHERE job_id = ?`,
          id,
        ),
      ]);
      return { items: items as JobItemRow[], counts: counts[0] as unknown as ItemCounts };
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
    async continuing(type: JobType, params: object, siteIds: readonly number[]): Promise<Map<number, string>> {
      const rows = await db.all(
        `SELECT s.site_id, j.id FROM json_each(?) e JOIN job_site s ON s.site_id = e.value AND s.state = ${STARTED}
         JOIN job j ON j.id = s.job_id WHERE j.completed_at IS NULL AND j.begun = 1 AND j.type = ? AND j.params = ?`,
        [JSON.stringify(siteIds), type, JSON.stringify(params)],
      );
      return new Map(rows.map((row) => [Number(row.site_id), String(row.id)]));
    },

    /**
     * Takes the next due job for one chunk, or returns undefined. One statement: two processes never get the same one. The
     * fence grows, so that an earlier holder can no longer write to it. Leases that end by `lapsed` have expired.
     */
    async claim(owner: string, now: number, leaseMs: number, lapsed = now): Promise<JobRow | undefined> {
      const [job] = await db.all<JobRow>(
        `UPDATE job SET owner = ?, lease_until = ?, fence = fence + 1, status = 'processing', started_at = ifnull(started_at, ?)
         WHERE completed_at IS NULL AND id = (
           SELECT id FROM job WHERE completed_at IS NULL AND next_run_at <= ? AND (lease_until IS NULL OR lease_until <= ?)
           ORDER BY next_run_at, id LIMIT 1
         ) RETURNING *`,
        [owner, now + leaseMs, now, now, lapsed],
      );
      return job;
    },

    /** The next chunk's sites after `last`, marked as started; none if the lease was lost. */
    async startChunk(job: JobRow, last = -1): Promise<ChunkSite[]> {
      const rows = await db.all(
        `SELECT position, site_id, state FROM job_site WHERE job_id = ? AND position > ? AND state IN (${WAITING}, ${STARTED})
         ORDER BY position LIMIT ?`,
        [job.id, last, job.chunk],
      );
      const started = await db.all(
        `UPDATE job_site SET state = ${STARTED} WHERE job_id = ? AND position IN (SELECT value FROM json_each(?))
         AND state IN (${WAITING}, ${STARTED}) AND EXISTS (SELECT 1 FROM job WHERE id = ? AND fence = ? AND completed_at IS NULL)
         RETURNING position`,
        [job.id, JSON.stringify(rows.map((row) => row.position)), job.id, job.fence],
      );
      if (started.length < rows.length) return [];
      return rows.map((row) => ({
        position: Number(row.position),
        site_id: Number(row.site_id),
        resumed: row.state === STARTED,
      }));
    },

    /** Saves one site's outcome; false when the lease was lost meanwhile and nothing was written. */
    async finishSite(job: JobRow, outcome: SiteOutcome, now: number): Promise<boolean> {
      const held = `EXISTS (SELECT 1 FROM job WHERE id = ? AND fence = ? AND completed_at IS NULL)`;
      const mine = `job_id = ? AND position = ? AND state = ${STARTED} AND ${held}`;
      const which = [job.id, outcome.position, job.id, job.fence];
      const items = (outcome.items ?? []).map(columnsOf);
      const results = await db.batch([
        sql(
          `DELETE FROM job_item WHERE job_id = ? AND position = ? AND EXISTS (SELECT 1 FROM job_site WHERE ${mine})`,
          job.id,
          outcome.position,
          ...which,
        ),
        sql(
          `INSERT INTO job_item (job_id, position, number, site_id, done, facts)
           SELECT s.job_id, s.position, j.key, s.site_id, j.value ->> 0, j.value ->> 1
           FROM (SELECT * FROM job_site WHERE ${mine}) s CROSS JOIN json_each(?) j`,
          ...which,
          JSON.stringify(items),
        ),
        sql(
          `UPDATE job_site SET state = ?, code = ?, message = ?, finished_at = ? WHERE ${mine}`,
          outcome.unfinished === true ? STARTED : (outcome.failed ?? outcome.code !== '') ? FAILED : SUCCEEDED,
          outcome.code,
          outcome.message,
          now,
          ...which,
        ),
      ]);
      return results.at(-1)?.changes === 1;
    },

    /** Extends the lease; false when it was lost. */
    async heartbeat(job: JobRow, until: number): Promise<boolean> {
      const result = await db.run(
        'UPDATE job SET lease_until = ? WHERE id = ? AND fence = ? AND completed_at IS NULL',
        [until, job.id, job.fence],
      );
      return result.changes === 1;
    },

    /**
     * Releases the job after a chunk: completed if no site is left (failed if none succeeded), otherwise due again at
     * `next_run_at`. Returns the status, or undefined if the lease was lost.
     */
    async release(job: JobRow, now: number, nextRunAt: number): Promise<JobStatus | undefined> {
      const [row] = await db.all(
        `UPDATE job SET owner = NULL, lease_until = NULL, next_run_at = ?,
           completed_at = CASE WHEN left_over.n = 0 THEN ? END,
           status = CASE WHEN left_over.n > 0 THEN 'processing' WHEN left_over.ok > 0 OR total = 0 THEN 'completed' ELSE 'failed' END
         FROM (SELECT count(*) FILTER (WHERE state IN (${WAITING}, ${STARTED})) AS n, count(*) FILTER (WHERE state = ${SUCCEEDED}) AS ok
               FROM job_site WHERE job_id = ?) AS left_over
         WHERE id = ? AND fence = ? AND completed_at IS NULL RETURNING status`,
        [nextRunAt, now, job.id, job.id, job.fence],
      );
      return row?.status as JobStatus | undefined;
    },

    /** Who holds a job now. */
    async owners(): Promise<string[]> {
      const rows = await db.all('SELECT DISTINCT owner FROM job WHERE completed_at IS NULL AND owner IS NOT NULL');
      return rows.map((row) => String(row.owner));
    },

    /** Releases the jobs of owners that are gone; returns how many. */
    async dropLeases(owners: readonly string[]): Promise<number> {
      const result = await db.run(
        `UPDATE job SET owner = NULL, lease_until = NULL, fence = fence + 1
         WHERE completed_at IS NULL AND owner IN (SELECT value FROM json_each(?))`,
        [JSON.stringify(owners)],
      );
      return result.changes;
    },

    /** Fails jobs past their time limit, including running ones; returns their ids. */
    async reap(now: number): Promise<string[]> {
      const rows = await db.all(
        `UPDATE job SET status = 'failed', timed_out = 1, completed_at = ?, owner = NULL, lease_until = NULL, fence = fence + 1
         WHERE completed_at IS NULL AND started_at IS NOT NULL AND started_at + timeout_ms <= ? RETURNING id`,
        [now, now],
      );
      return rows.map((row) => String(row.id));
    },

    /**
     * Ends a job at once. A process that works on it loses its lease, and with it its calls. False if it has ended
     * already, or does not exist.
     */
    async cancel(id: string, message: string, now: number): Promise<boolean> {
      const open = `EXISTS (SELECT 1 FROM job WHERE id = ? AND completed_at IS NULL)`;
      const results = await db.batch([
        sql(
          `UPDATE job_site SET state = ${FAILED}, code = 'svc_cancelled', message = ?, finished_at = ?
           WHERE job_id = ? AND state IN (${WAITING}, ${STARTED}) AND ${open}`,
          message,
          now,
          id,
          id,
        ),
        sql(
          `UPDATE job SET status = 'failed', completed_at = ?, owner = NULL, lease_until = NULL, fence = fence + 1
           WHERE id = ? AND completed_at IS NULL`,
          now,
          id,
        ),
      ]);
      return results.at(-1)?.changes === 1;
    },

    /** Deletes jobs that ended before `before`; returns how many. */
    async expire(before: number): Promise<number> {
      return (await db.run('DELETE FROM job WHERE completed_at IS NOT NULL AND completed_at < ?', [before])).changes;
    },

    /** Age of the oldest due job and the number of unfinished ones, for health and metrics. */
    async backlog(now: number): Promise<{ unfinished: number; oldest_ms: number }> {
      const row = await db.one('SELECT count(*) AS n, min(created_at) AS oldest FROM job WHERE completed_at IS NULL');
      const oldest = row?.oldest === null || row === undefined ? now : Number(row.oldest);
      return { unfinished: Number(row?.n ?? 0), oldest_ms: Math.max(0, now - oldest) };
    },

    list(limit: number): Promise<JobProgress[]> {
      return db.all<JobProgress>(
        `SELECT j.*, (SELECT count(*) FROM job_site s WHERE s.job_id = j.id AND s.state = ${SUCCEEDED}) AS succeeded,
          (SELECT count(*) FROM job_site s WHERE s.job_id = j.id AND s.state = ${FAILED}) AS failed
         FROM job j ORDER BY j.created_at DESC, j.id LIMIT ?`,
        [limit],
      );
    },
  };
}
