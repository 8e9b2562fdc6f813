/** Durable jobs: a row per job, a row per site. Counters are derived from the rows, never incremented. */

import type { Db, Row } from './db.js';
import { sql } from './db.js';

export type JobStatus = 'queued' | 'processing' | 'completed' | 'failed';

export interface JobRow extends Row {
  id: string;
  type: string;
  params: string;
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

export interface JobError extends Row {
  site_id: number;
  code: string;
  message: string;
}

export interface NewJob {
  id: string;
  type: string;
  params: unknown;
  sites: readonly number[];
  /** Entries refused before queueing: they belong to the final state too. */
  refused: readonly { site_id: number; code: string; message: string }[];
  chunk: number;
  delay_ms: number;
  timeout_ms: number;
  next_run_at: number;
}

export interface SiteOutcome {
  position: number;
  /** '' = success. */
  code: string;
  message: string;
}

/** States of a job's site row. */
export const WAITING = 0;
export const STARTED = 1;
export const SUCCEEDED = 2;
export const FAILED = 3;
export const REFUSED = 4;

export function createJobs(db: Db) {
  return {
    async add(job: NewJob, now: number): Promise<void> {
      await db.batch([
        sql(
          'INSERT INTO job (id, type, params, total, chunk, delay_ms, timeout_ms, created_at, next_run_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
          job.id,
          job.type,
          JSON.stringify(job.params),
          job.sites.length,
          job.chunk,
          job.delay_ms,
          job.timeout_ms,
          now,
          job.next_run_at,
        ),
        sql(
          'INSERT INTO job_site (job_id, position, site_id) SELECT ?, key, value FROM json_each(?)',
          job.id,
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

    errors(id: string): Promise<JobError[]> {
      return db.all<JobError>(
        `SELECT site_id, code, message FROM job_site WHERE job_id = ? AND state IN (${FAILED}, ${REFUSED}) ORDER BY position`,
        [id],
      );
    },
  };
}
