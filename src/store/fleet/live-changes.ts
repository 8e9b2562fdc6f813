/**
 * Changes since a cursor, made by any process: read repeatedly while someone is subscribed, so every part is bounded
 * and indexed.
 */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { TOOL_JOB_STATUS, TOOL_JOB_TYPE } from '../jobs/tool-jobs.js';

/** A position in the append-only tables, and in the times of syncs. */
export interface LiveCursor {
  alert: number;
  log: number;
  /** Of the newest sync, in milliseconds. */
  synced: number;
  /** The revision of the available updates. */
  updates: string;
  /** When it was read. */
  at: number;
}

export interface LiveJob {
  id: string;
  type: string;
  status: string;
  total: number;
  done: number;
  failed: number;
}

export interface LiveChanges {
  cursor: LiveCursor;
  /** Open jobs, including those of the tools, and jobs that ended since. */
  jobs: LiveJob[];
  alerts: { kind: string; site_id: number | null }[];
  /** Sites with new entries in the action log. */
  acted: number[];
  synced: { site_id: number; at: number }[];
  /** Items of safe updates in progress. */
  open_changes: { id: string; site_id: number; step: string }[];
  /** Number of sites with available updates. */
  offering_sites: number;
}

/**
 * More of one kind per second than this come with the next read. Of syncs only the newest: the job that runs them shows
 * as well.
 */
const MOST = 500;
/** Processes' clocks differ slightly, and a sync is stored a moment after its time was taken. */
const OVERLAP_MS = 5_000;

type Marks = Omit<LiveCursor, 'at'>;
const MARKS = `SELECT (SELECT coalesce(max(id), 0) FROM alert) AS alert, (SELECT coalesce(max(id), 0) FROM action_log) AS log,
  (SELECT coalesce(max(last_sync), 0) FROM site_detail) AS synced,
  (SELECT mark FROM revision WHERE name = 'updates') AS updates`;

const count = (table: 'job' | 'tool_job', state: string) =>
  `(SELECT count(*) FROM ${table}_site s WHERE s.job_id = j.id AND s.state ${state})`;

export function createLiveChanges(db: Db) {
  return {
    /** The current cursor. */
    async cursor(now: number): Promise<LiveCursor> {
      const marks = (await db.one<Marks>(MARKS)) as Marks;
      return { ...marks, at: now };
    },

    async since(cursor: LiveCursor, now: number): Promise<LiveChanges> {
      const [marks = [], jobs = [], alerts = [], acted = [], synced = [], open = [], offering = []] = await db.read([
        sql(MARKS),
        sql(
          `SELECT j.id, j.type, j.status, j.total, ${count('job', 'IN (2, 3)')} AS done, ${count('job', '= 3')} AS failed, j.created_at
           FROM job j WHERE j.completed_at IS NULL OR j.completed_at > ?
           UNION ALL SELECT j.id, ${TOOL_JOB_TYPE}, ${TOOL_JOB_STATUS}, j.total, ${count('tool_job', 'IN (1, 2)')},
             ${count('tool_job', '= 2')}, j.created_at
           FROM tool_job j WHERE j.completed_at IS NULL OR j.completed_at > ? ORDER BY 7, 1 LIMIT ${MOST}`,
          cursor.at - OVERLAP_MS,
          cursor.at - OVERLAP_MS,
        ),
        sql(`SELECT id, kind, site_id FROM alert WHERE id > ? ORDER BY id LIMIT ${MOST}`, cursor.alert),
        sql(`SELECT id, site_id FROM action_log WHERE id > ? ORDER BY id LIMIT ${MOST}`, cursor.log),
        sql(
          `SELECT site_id, last_sync FROM site_detail WHERE last_sync > ? ORDER BY last_sync DESC LIMIT ${MOST}`,
          cursor.synced - OVERLAP_MS,
        ),
        sql(`SELECT id, site_id, step FROM safe_change WHERE settled_at IS NULL
           ORDER BY site_id, run_id, position LIMIT ${MOST}`),
        sql('SELECT n FROM offering_site_count'),
      ]);
      const newest = marks[0] as Marks;
      // If there is more than was read, the next read continues after it.
      const last = (rows: readonly Row[], column: string, all: number) =>
        rows.length < MOST ? all : Number(rows.at(-1)?.[column]);
      return {
        cursor: {
          alert: last(alerts, 'id', newest.alert),
          log: last(acted, 'id', newest.log),
          synced: newest.synced,
          updates: newest.updates,
          at: now,
        },
        jobs: jobs.map(({ created_at: _order, ...job }) => job as unknown as LiveJob),
        alerts: alerts.map(({ kind, site_id }) => ({ kind: String(kind), site_id: numberOrNull(site_id) })),
        acted: [...new Set(acted.flatMap(({ site_id }) => numberOrNull(site_id) ?? []))],
        synced: synced.map((row) => ({ site_id: Number(row.site_id), at: Number(row.last_sync) })),
        open_changes: open as LiveChanges['open_changes'],
        offering_sites: Number(offering[0]?.n ?? 0),
      };
    },
  };
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}
