/** The queue of jobs: which process works on a job, under which lease, and what it stores of each site. */

import { type Db, type Row, sql } from '../driver/db.js';
import {
  columnsOf,
  FAILED,
  type JobRow,
  type JobStatus,
  type SiteOutcome,
  STARTED,
  SUCCEEDED,
  WAITING,
} from './rows.js';

/** A site of a chunk that begins. */
export interface ChunkSite {
  position: number;
  site_id: number;
  /** Started under an earlier lease: its work may have been done. */
  resumed: boolean;
  /** What the call that this job continues had begun there, as JSON. */
  begun: string | null;
}

/** Its time is up; the argument is the time now. */
const IS_OVER = 'started_at IS NOT NULL AND started_at + timeout_ms <= ?';

export function createJobQueue(db: Db) {
  return {
    /**
     * Takes the next due job for one chunk, or returns undefined. One statement: two processes never get the same one. The
     * fence grows, so that an earlier holder can no longer write to it. Leases that end by `lapsed` have expired. A job whose
     * time is up is left to `reap`: after an outage, or in a restored backup, it may be long ago that somebody wanted it.
     */
    async claim(owner: string, now: number, leaseMs: number, lapsed = now): Promise<JobRow | undefined> {
      const [job] = await db.all<JobRow>(
        `UPDATE job SET owner = ?, lease_until = ?, fence = fence + 1, status = 'processing', started_at = ifnull(started_at, ?)
         WHERE completed_at IS NULL AND id = (
           SELECT id FROM job WHERE completed_at IS NULL AND next_run_at <= ? AND (lease_until IS NULL OR lease_until <= ?)
             AND NOT (${IS_OVER})
           ORDER BY next_run_at, id LIMIT 1
         ) RETURNING *`,
        [owner, now + leaseMs, now, now, lapsed, now],
      );
      return job;
    },

    /** The next chunk's sites after `last`, marked as started; none if the lease was lost. */
    async startChunk(job: JobRow, last = -1): Promise<ChunkSite[]> {
      const rows = await db.all(
        `SELECT position, site_id, state, begun FROM job_site WHERE job_id = ? AND position > ? AND state IN (${WAITING}, ${STARTED})
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
        begun: row.begun as string | null,
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

    /** Stores how many of the items of a started site had their turn. */
    async itemsDone(job: JobRow, position: number, done: number, planned: number): Promise<void> {
      await db.run(
        `UPDATE job_site SET items_done = ?, items_planned = ? WHERE job_id = ? AND position = ? AND state = ${STARTED}
         AND EXISTS (SELECT 1 FROM job WHERE id = ? AND fence = ? AND completed_at IS NULL)`,
        [Math.min(done, planned), planned, job.id, position, job.id, job.fence],
      );
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
         WHERE completed_at IS NULL AND ${IS_OVER} RETURNING id`,
        [now, now],
      );
      return rows.map((row) => String(row.id));
    },

    /**
     * Ends a job at once. A process that works on it loses its lease, and with it its calls. Returns its sites that were at
     * work and those that were waiting, in their order; null if it has ended already, or does not exist.
     */
    async cancel(id: string, message: string, now: number): Promise<{ started: number[]; waiting: number[] } | null> {
      const end = (state: number) =>
        sql(
          `UPDATE job_site SET state = ${FAILED}, code = 'svc_cancelled', message = ?, finished_at = ?
           WHERE job_id = ? AND state = ${state} AND EXISTS (SELECT 1 FROM job WHERE id = ? AND completed_at IS NULL)
           RETURNING position, site_id`,
          message,
          now,
          id,
          id,
        );
      const [started, waiting, ended] = await db.batch([
        end(STARTED),
        end(WAITING),
        sql(
          `UPDATE job SET status = 'failed', completed_at = ?, owner = NULL, lease_until = NULL, fence = fence + 1
           WHERE id = ? AND completed_at IS NULL`,
          now,
          id,
        ),
      ]);
      if (ended?.changes !== 1) return null;
      const sitesOf = (rows: readonly Row[] = []) =>
        [...rows].sort((a, b) => Number(a.position) - Number(b.position)).map(({ site_id }) => Number(site_id));
      return { started: sitesOf(started?.rows), waiting: sitesOf(waiting?.rows) };
    },

    /** The unfinished sites of a job, as `cancel` returns them. */
    async unfinished(id: string): Promise<{ started: number[]; waiting: number[] }> {
      const rows = await db.all(
        `SELECT site_id, state FROM job_site WHERE job_id = ? AND state IN (${WAITING}, ${STARTED}) ORDER BY position`,
        [id],
      );
      const sitesIn = (state: number) =>
        rows.filter((row) => row.state === state).map(({ site_id }) => Number(site_id));
      return { started: sitesIn(STARTED), waiting: sitesIn(WAITING) };
    },

    /** Deletes jobs that ended before `before`; returns how many. */
    async expire(before: number): Promise<number> {
      return (await db.run('DELETE FROM job WHERE completed_at IS NOT NULL AND completed_at < ?', [before])).changes;
    },
  };
}
