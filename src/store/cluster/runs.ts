/** The last run of each entry of the timetable. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';

/** Rows of dead processes are kept this long. */
const KEPT_MS = 3_600_000;

interface ScheduleRun extends Row {
  name: string;
  last_started: number | null;
  last_finished: number | null;
  last_outcome: string;
}

/** The part that one process ran of an entry that all processes share. */
interface SchedulePart extends Row {
  name: string;
  owner: string;
  last_started: number;
  last_finished: number | null;
  last_outcome: string;
}

export function createRuns(db: Db) {
  return {
    /** Records the start of an entry that one process runs. */
    async started(name: string, at: number): Promise<void> {
      await db.run(
        `INSERT INTO schedule_run (name, last_started, last_outcome) VALUES (?, ?, 'running')
         ON CONFLICT (name) DO UPDATE SET last_started = excluded.last_started, last_outcome = 'running'`,
        [name, at],
      );
    },

    async finished(name: string, at: number, outcome: string): Promise<void> {
      await db.run('UPDATE schedule_run SET last_finished = ?, last_outcome = ? WHERE name = ?', [at, outcome, name]);
    },

    /** Records the start of an entry of which every process runs a part: one row per process. */
    async partStarted(name: string, owner: string, at: number): Promise<void> {
      await db.run(
        `INSERT INTO schedule_part (name, owner, last_started, last_outcome) VALUES (?, ?, ?, 'running')
         ON CONFLICT (name, owner) DO UPDATE SET last_started = excluded.last_started, last_outcome = 'running'`,
        [name, owner, at],
      );
    },

    /** Records the end of a part, and removes the rows of processes that are gone. */
    async partFinished(name: string, owner: string, at: number, outcome: string): Promise<void> {
      await db.batch([
        sql(
          'UPDATE schedule_part SET last_finished = ?, last_outcome = ? WHERE name = ? AND owner = ?',
          at,
          outcome,
          name,
          owner,
        ),
        sql('DELETE FROM schedule_part WHERE name = ? AND last_started < ?', name, at - KEPT_MS),
      ]);
    },

    /** Parts by entry, the newest first. */
    parts(): Promise<SchedulePart[]> {
      return db.all<SchedulePart>(
        'SELECT name, owner, last_started, last_finished, last_outcome FROM schedule_part ORDER BY name, last_started DESC, owner',
      );
    },

    list(): Promise<ScheduleRun[]> {
      return db.all<ScheduleRun>(
        'SELECT name, last_started, last_finished, last_outcome FROM schedule_run ORDER BY name',
      );
    },
  };
}
