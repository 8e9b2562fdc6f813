/** Rows of durable jobs: a row per job, a row per site, and what was done on each. */

import type { JobType } from '../../../schemas/job.js';
import type { Row } from '../driver/db.js';

export type JobStatus = 'queued' | 'processing' | 'completed' | 'failed';

export interface JobRow extends Row {
  id: string;
  type: JobType;
  params: string;
  /** Who queued it, JSON; '' for the service itself. */
  origin: string;
  /** The run of updates that it does or finishes; '' = none. */
  run_id: string;
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

/** One thing that a job did, or failed to do, on a site. */
export interface JobItem {
  /** Null = it was sent, and its outcome is still unknown. */
  done: boolean | null;
  facts: Readonly<Record<string, unknown>>;
}

/** The outcome of one site of a job. */
export interface SiteOutcome {
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

/** States of a job's site row. */
export const WAITING = 0;
export const STARTED = 1;
export const SUCCEEDED = 2;
export const FAILED = 3;
export const REFUSED = 4;

/** `done` of an item whose outcome is still unknown. */
export const OPEN = 2;

/** `done` and `facts` as they are stored. */
export function columnsOf({ done, facts }: JobItem): [number, string] {
  return [done === null ? OPEN : done ? 1 : 0, JSON.stringify(facts)];
}
