/** Who runs the timetable, and what its last runs came to. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';

/** Rows of processes that died are kept this long, then removed by those that live. */
const FORGOTTEN_MS = 3_600_000;

export interface ScheduleRun extends Row {
  name: string;
  last_started: number | null;
  last_finished: number | null;
  last_outcome: string;
  next_run: number | null;
}

/** What one process did of an entry that several share. */
export interface SchedulePart extends Row {
  name: string;
  owner: string;
  last_started: number;
  last_finished: number | null;
  last_outcome: string;
}

export function createSchedule(db: Db) {
  return {
    /** Takes or keeps a right that only one process may have at a time. Answers its fence, or null when another has it. Leases that end by `lapsed` are over. */
    async hold(name: string, owner: string, lapsed: number, until: number): Promise<number | null> {
      const [row] = await db.all(
        `INSERT INTO lease (name, owner, until, fence) VALUES (?, ?, ?, 1)
         ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until,
           fence = lease.fence + (lease.owner <> excluded.owner)
         WHERE lease.owner = excluded.owner OR lease.until <= ? RETURNING fence`,
        [name, owner, until, lapsed],
      );
      return row === undefined ? null : Number(row.fence);
    },

    /** Lets a right go, if it is still ours. */
    async letGo(name: string, owner: string): Promise<void> {
      await db.run('UPDATE lease SET until = 0 WHERE name = ? AND owner = ?', [name, owner]);
    },

    /**
     * Notes that a process lives until then, and answers the owners of all that do, in order. One round trip. `kind` is
     * what they share: limits towards child sites (`process`), the monitors (`monitor`).
     */
    async attend(owner: string, now: number, until: number, kind = 'process'): Promise<string[]> {
      const [from, to] = [`${kind}:`, `${kind};`];
      const results = await db.batch([
        sql(
          `INSERT INTO lease (name, owner, until, fence) VALUES (?, ?, ?, 1)
           ON CONFLICT (name) DO UPDATE SET until = excluded.until`,
          `${from}${owner}`,
          owner,
          until,
        ),
        sql('DELETE FROM lease WHERE name > ? AND name < ? AND until < ?', from, to, now - FORGOTTEN_MS),
        sql(
          'SELECT owner FROM lease WHERE name > ? AND name < ? AND until > ? ORDER BY name LIMIT 1000',
          from,
          to,
          now,
        ),
      ]);
      return (results[2]?.rows ?? []).map((row) => String(row.owner));
    },

    /** Owners of processes that live, as far as they share what `kind` says (see `attend`). */
    async living(now: number, kind = 'process'): Promise<string[]> {
      const rows = await db.all(
        'SELECT owner FROM lease WHERE name > ? AND name < ? AND until > ? ORDER BY name LIMIT 1000',
        [`${kind}:`, `${kind};`, now],
      );
      return rows.map((row) => String(row.owner));
    },

    /** The process ends: the others need not wait until its word lapses. */
    async leave(owner: string, kind = 'process'): Promise<void> {
      await db.run('DELETE FROM lease WHERE name = ?', [`${kind}:${owner}`]);
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

    /** The same for an entry that every process takes a share of: a row each. Those of processes long gone are dropped. */
    async partStarted(name: string, owner: string, at: number): Promise<void> {
      await db.run(
        `INSERT INTO schedule_part (name, owner, last_started, last_outcome) VALUES (?, ?, ?, 'running')
         ON CONFLICT (name, owner) DO UPDATE SET last_started = excluded.last_started, last_outcome = 'running'`,
        [name, owner, at],
      );
    },

    async partFinished(name: string, owner: string, at: number, outcome: string): Promise<void> {
      await db.batch([
        sql(
          'UPDATE schedule_part SET last_finished = ?, last_outcome = ? WHERE name = ? AND owner = ?',
          at,
          outcome,
          name,
          owner,
        ),
        sql('DELETE FROM schedule_part WHERE name = ? AND last_started < ?', name, at - FORGOTTEN_MS),
      ]);
    },

    /** Last runs by entry and process, the newest first. */
    parts(): Promise<SchedulePart[]> {
      return db.all<SchedulePart>(
        'SELECT name, owner, last_started, last_finished, last_outcome FROM schedule_part ORDER BY name, last_started DESC, owner',
      );
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
