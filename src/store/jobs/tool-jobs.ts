/** Jobs of the tools (REST §6.10.8): one row per job, one per site. */

import type { Db, Row } from '../driver/db.js';
import { StorageError, sql } from '../driver/db.js';
import { insertRow } from '../driver/rows.js';

export type ToolKind = 'destroy' | 'renew' | 'disconnect';

interface ToolJobRow extends Row {
  id: string;
  kind: ToolKind;
  status: 'pending' | 'processing' | 'completed' | 'failed';
  total: number;
  created_at: number;
  started_at: number | null;
  completed_at: number | null;
}

interface ClaimedToolJob extends ToolJobRow {
  /** Who started it, JSON; '' for the service itself. */
  origin: string;
}

interface ToolJobProgress extends ToolJobRow {
  succeeded: number;
  failed: number;
}

/** The type and status of a row `j`, in the terms used for all jobs. */
export const TOOL_JOB_TYPE =
  "CASE j.kind WHEN 'destroy' THEN 'destroy_sessions' WHEN 'renew' THEN 'renew_connections' ELSE 'disconnect_all_sites' END";
export const TOOL_JOB_STATUS = "CASE j.status WHEN 'pending' THEN 'queued' ELSE j.status END";

const COLUMNS = 'j.id, j.kind, j.status, j.total, j.created_at, j.started_at, j.completed_at';
const MINE = 'id = ? AND owner = ? AND completed_at IS NULL';

export function createToolJobs(db: Db) {
  return {
    /** Stores the job, unless one of its kind is unfinished; then returns that one's id. */
    async add(
      { id, kind, sites, ...job }: { id: string; kind: ToolKind; sites: readonly number[]; origin?: unknown },
      now: number,
    ): Promise<{ id: string; added: boolean }> {
      const origin = job.origin === undefined ? '' : JSON.stringify(job.origin);
      for (;;) {
        try {
          await db.batch([
            insertRow('tool_job', { id, kind, total: sites.length, created_at: now, origin }),
            sql(
              'INSERT INTO tool_job_site (job_id, position, site_id) SELECT ?, key, value FROM json_each(?)',
              id,
              JSON.stringify(sites),
            ),
          ]);
          return { id, added: true };
        } catch (error) {
          if (!(error instanceof StorageError) || error.kind !== 'unique') throw error;
          const running = await db.one('SELECT id FROM tool_job WHERE kind = ? AND completed_at IS NULL', [kind]);
          // It ended between the two statements: this one may start after all.
          if (running !== undefined) return { id: String(running.id), added: false };
        }
      }
    },

    find(kind: ToolKind, id: string): Promise<ToolJobProgress | undefined> {
      return db.one<ToolJobProgress>(
        `SELECT ${COLUMNS}, (SELECT count(*) FROM tool_job_site s WHERE s.job_id = j.id AND s.state = 1) AS succeeded,
           (SELECT count(*) FROM tool_job_site s WHERE s.job_id = j.id AND s.state = 2) AS failed
         FROM tool_job j WHERE j.id = ? AND j.kind = ?`,
        [id, kind],
      );
    },

    errors(id: string, limit: number): Promise<{ site_id: number; message: string }[]> {
      return db.all(
        'SELECT site_id, message FROM tool_job_site WHERE job_id = ? AND state = 2 ORDER BY position LIMIT ?',
        [id, limit],
      );
    },

    /** Claims an unfinished job that no process works on; leases that end by `lapsed` have expired. */
    async claim(owner: string, now: number, until: number, lapsed = now): Promise<ClaimedToolJob | undefined> {
      const rows = await db.all<ClaimedToolJob>(
        `UPDATE tool_job SET owner = ?, lease_until = ?, status = 'processing', started_at = ifnull(started_at, ?)
         WHERE id = (SELECT id FROM tool_job WHERE completed_at IS NULL AND (lease_until IS NULL OR lease_until <= ?)
           ORDER BY created_at LIMIT 1)
         RETURNING id, kind, status, total, created_at, started_at, completed_at, origin`,
        [owner, until, now, lapsed],
      );
      return rows[0];
    },

    /** Sites that are not done yet, in order. */
    next(id: string, limit: number): Promise<{ position: number; site_id: number }[]> {
      return db.all(
        'SELECT position, site_id FROM tool_job_site WHERE job_id = ? AND state = 0 ORDER BY position LIMIT ?',
        [id, limit],
      );
    },

    /** Records outcomes ('' = success) and renews the lease. False if another process took over the job. */
    async note(
      id: string,
      owner: string,
      outcomes: readonly { position: number; message: string }[],
      until: number,
    ): Promise<boolean> {
      const [kept] = await db.batch([
        sql(`UPDATE tool_job SET lease_until = ? WHERE ${MINE}`, until, id, owner),
        sql(
          `UPDATE tool_job_site SET state = CASE WHEN o.message = '' THEN 1 ELSE 2 END, message = o.message
           FROM (SELECT value ->> 0 AS position, value ->> 1 AS message FROM json_each(?)) o
           WHERE tool_job_site.job_id = ? AND tool_job_site.position = o.position`,
          JSON.stringify(outcomes.map(({ position, message }) => [position, message])),
          id,
        ),
      ]);
      return (kept?.changes ?? 0) > 0;
    },

    /** Completes the job, as failed if no site succeeded. */
    async finish(id: string, owner: string, now: number): Promise<void> {
      await db.run(
        `UPDATE tool_job SET completed_at = ?, owner = NULL, lease_until = NULL,
           status = CASE WHEN EXISTS (SELECT 1 FROM tool_job_site s WHERE s.job_id = tool_job.id AND s.state = 1)
             THEN 'completed' ELSE 'failed' END
         WHERE ${MINE}`,
        [now, id, owner],
      );
    },

    /** Ends what was started by `before`, as failed: sites whose turn has not come are left alone. */
    endOld(before: number, now: number): Promise<{ id: string; kind: ToolKind }[]> {
      return db.all(
        `UPDATE tool_job SET completed_at = ?, owner = NULL, lease_until = NULL, status = 'failed'
         WHERE completed_at IS NULL AND created_at <= ? RETURNING id, kind`,
        [now, before],
      );
    },

    /** Releases the lease: another process, or the next start, continues the job. */
    async release(id: string, owner: string): Promise<void> {
      await db.run(`UPDATE tool_job SET owner = NULL, lease_until = NULL WHERE ${MINE}`, [id, owner]);
    },

    /** Deletes jobs that ended by `before`; returns how many. */
    async expire(before: number): Promise<number> {
      const result = await db.run('DELETE FROM tool_job WHERE completed_at IS NOT NULL AND completed_at <= ?', [
        before,
      ]);
      return result.changes;
    },
  };
}
