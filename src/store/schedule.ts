/** Who runs the timetable, and what its last runs came to. */

import type { Db, Row } from './db.js';
import { sql } from './db.js';

/** Rows of processes that died are kept this long, then removed by those that live. */
const FORGOTTEN_MS = 3_600_000;

export interface ScheduleRun extends Row {
  name: string;
  last_started: number | null;
  last_finished: number | null;
  last_outcome: string;
  next_run: number | null;
}

export function createSchedule(db: Db) {
  return {
    /** Takes or keeps a right that only one process may have at a time. Answers its fence, or null when another has it. */
    async hold(name: string, owner: string, now: number, until: number): Promise<number | null> {
      const [row] = await db.all(
        `INSERT INTO lease (name, owner, until, fence) VALUES (?, ?, ?, 1)
         ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until,
           fence = lease.fence + (lease.owner <> excluded.owner)
         WHERE lease.owner = excluded.owner OR lease.until <= ? RETURNING fence`,
        [name, owner, until, now],
      );
      return row === undefined ? null : Number(row.fence);
    },

    /** Lets a right go, if it is still ours. */
    async letGo(name: string, owner: string): Promise<void> {
      await db.run('UPDATE lease SET until = 0 WHERE name = ? AND owner = ?', [name, owner]);
    },

    /** Notes that a process lives until then, and answers the owners of all that do, in order. One round trip. */
    async attend(owner: string, now: number, until: number): Promise<string[]> {
      const results = await db.batch([
        sql(
          `INSERT INTO lease (name, owner, until, fence) VALUES (?, ?, ?, 1)
           ON CONFLICT (name) DO UPDATE SET until = excluded.until`,
          `process:${owner}`,
          owner,
          until,
        ),
        sql("DELETE FROM lease WHERE name > 'process:' AND name < 'process;' AND until < ?", now - FORGOTTEN_MS),
        sql(
          "SELECT owner FROM lease WHERE name > 'process:' AND name < 'process;' AND until > ? ORDER BY name LIMIT 1000",
          now,
        ),
      ]);
      return (results[2]?.rows ?? []).map((row) => String(row.owner));
    },

    /** Owners of processes that live, as far as they take part in calling sites. */
    async living(now: number): Promise<string[]> {
      const rows = await db.all(
        "SELECT owner FROM lease WHERE name > 'process:' AND name < 'process;' AND until > ? ORDER BY name LIMIT 1000",
        [now],
      );
      return rows.map((row) => String(row.owner));
    },

    /** The process ends: the others need not wait until its word lapses. */
    async leave(owner: string): Promise<void> {
      await db.run('DELETE FROM lease WHERE name = ?', [`process:${owner}`]);
    },

    async started(name: string, at: number): Promise<void> {
      await db.run(
        `INSERT INTO schedule_run (name, last_started, last_outcome) VALUES (?, ?, 'running')
         ON CONFLICT (name) DO UPDATE SET last_started = excluded.last_started, last_outcome = 'running'`,
        [name, at],
      );
    },

    async finished(name: string, at: number, outcome: string, nextRun: number | null): Promise<void> {
      await db.run('UPDATE schedule_run SET last_finished = ?, last_outcome = ?, next_run = ? WHERE name = ?', [
        at,
        outcome,
        nextRun,
        name,
      ]);
    },

    runs(): Promise<ScheduleRun[]> {
      return db.all<ScheduleRun>(
        'SELECT name, last_started, last_finished, last_outcome, next_run FROM schedule_run ORDER BY name',
      );
    },

    async owner(name: string, now: number): Promise<string | null> {
      const row = await db.one('SELECT owner FROM lease WHERE name = ? AND until > ?', [name, now]);
      return row === undefined ? null : String(row.owner);
    },

    /** Sites due for their daily look, longest unseen first. Suspended and disconnected ones are left alone. */
    async dueForSync(before: number, limit: number): Promise<number[]> {
      const rows = await db.all(
        `SELECT s.id FROM site s JOIN site_detail d ON d.site_id = s.id
         WHERE s.suspended = 0 AND s.disconnected = 0 AND s.check_state <> -1 AND (d.last_attempt IS NULL OR d.last_attempt <= ?)
         ORDER BY d.last_attempt, s.id LIMIT ?`,
        [before, limit],
      );
      return rows.map((row) => Number(row.id));
    },

    async abandonedChecked(siteIds: readonly number[], at: number): Promise<void> {
      await db.run(
        'UPDATE site_detail SET abandoned_checked_at = ? WHERE site_id IN (SELECT value FROM json_each(?))',
        [at, JSON.stringify(siteIds)],
      );
    },

    /** Sites whose abandoned items were not looked up for long. */
    async dueForAbandoned(before: number, limit: number): Promise<number[]> {
      const rows = await db.all(
        `SELECT s.id FROM site s JOIN site_detail d ON d.site_id = s.id
         WHERE s.status = 'connected' AND (d.abandoned_checked_at IS NULL OR d.abandoned_checked_at <= ?)
         ORDER BY d.abandoned_checked_at, s.id LIMIT ?`,
        [before, limit],
      );
      return rows.map((row) => Number(row.id));
    },
  };
}
