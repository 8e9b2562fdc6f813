/** Tasks of the time tracker and their entries. A running timer is a row: it survives any restart. */

import type { Db, Reads, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { insertRow, only } from '../driver/rows.js';
import { offset } from '../driver/sql-fragments.js';
import { PRESENT_DIRECTION, PRESENT_UNIT, SETTINGS } from './sql.js';
import {
  COLUMNS,
  type EntryRow,
  type PriceGroup,
  predicate,
  searchText,
  select,
  sums,
  type TaskFields,
  type TaskFilter,
  type TaskPage,
  type TaskRow,
  type TaskStatus,
  toTask,
} from './task-rows.js';

export type { PriceGroup, TaskFields, TaskFilter, TaskPage, TaskRow, TaskStatus } from './task-rows.js';

/** The task is still in the state in which it was checked. */
const UNCHANGED = 'EXISTS (SELECT 1 FROM time_task WHERE id = ? AND status = ?)';

export function createTimeTasks(db: Db, aside: Reads) {
  return {
    /** One page with the true total, and the sums over all matches by price. */
    async list(filter: TaskFilter, at: TaskPage, now: number) {
      const where = predicate(filter, now);
      const column = at.orderby === 'title' ? 't.search' : `t.${at.orderby}`;
      const tail = `WHERE 1${where.text} ORDER BY ${column} ${at.order}, t.id ${at.order} LIMIT ? OFFSET ?`;
      const [items = [], groups = []] = await aside.read([
        select(tail, [...where.args, at.perPage, offset(at.page, at.perPage)], now),
        sums('NULL', `'' AS payment_status`, where, now),
      ]);
      const priced = groups as PriceGroup[];
      return { items: items.map(toTask), total: priced.reduce((sum, group) => sum + group.tasks, 0), groups: priced };
    },

    /** Sums by client, payment status and price: the basis of the figures of tracker clients. */
    clientSums(clientIds: readonly number[], now: number): Promise<PriceGroup[]> {
      const where = {
        text: ' AND t.client_id IN (SELECT value FROM json_each(?))',
        args: [JSON.stringify(clientIds)],
      };
      const query = sums('t.client_id', 't.payment_status', where, now);
      return db.all<PriceGroup>(query.sql, query.args);
    },

    async find(id: number, now: number): Promise<TaskRow | undefined> {
      const query = select('WHERE t.id = ?', [id], now);
      const row = await db.one(query.sql, query.args);
      return row === undefined ? undefined : toTask(row);
    },

    entries(id: number): Promise<EntryRow[]> {
      return db.all<EntryRow>(
        'SELECT id, started_at, ended_at FROM time_entry WHERE task_id = ? ORDER BY started_at, id LIMIT 1000',
        [id],
      );
    },

    async idsOfBucket(bucketId: number): Promise<number[]> {
      const rows = await db.all('SELECT t.id FROM time_task t WHERE t.bucket_id = ? ORDER BY t.id LIMIT 10000', [
        bucketId,
      ]);
      return rows.map((row) => Number(row.id));
    },

    /** `logged` ms become a closed entry that ends now; the task then counts as paused. */
    async add(fields: TaskFields, siteIds: readonly number[], logged: number, now: number): Promise<TaskRow> {
      const newest = '(SELECT max(id) FROM time_task)';
      const results = await db.batch([
        insertRow('time_task', {
          ...only(COLUMNS, fields),
          search: searchText(fields),
          status: logged > 0 ? 'paused' : 'idle',
          closed_ms: logged,
          started_at: logged > 0 ? now - logged : null,
          created_at: now,
          updated_at: now,
        }),
        sql(`INSERT INTO time_task_site SELECT ${newest}, value FROM json_each(?)`, JSON.stringify(siteIds)),
        sql(
          `INSERT INTO time_entry (task_id, started_at, ended_at) SELECT ${newest}, ?, ? WHERE ?`,
          now - logged,
          now,
          logged > 0,
        ),
        select(`WHERE t.id = ${newest}`, [], now),
      ]);
      return toTask(results.at(-1)?.rows[0] ?? {});
    },

    /** False if the task has left the state in which it was checked. */
    async update(
      id: number,
      seen: TaskStatus,
      fields: TaskFields,
      siteIds: readonly number[] | undefined,
      logged: number | undefined,
      now: number,
    ): Promise<boolean> {
      const statements = [
        sql(
          // What another bucket had left at the start says nothing about this one.
          `UPDATE time_task SET ${COLUMNS.map((column) => `${column} = ?`).join(', ')},
             allowance = CASE WHEN bucket_id IS ? THEN allowance END, search = ?, updated_at = ?
           WHERE id = ? AND status = ?`,
          ...COLUMNS.map((column) => fields[column]),
          fields.bucket_id,
          searchText(fields),
          now,
          id,
          seen,
        ),
      ];
      if (siteIds !== undefined) {
        statements.push(
          sql(`DELETE FROM time_task_site WHERE task_id = ? AND ${UNCHANGED}`, id, id, seen),
          sql(
            `INSERT OR IGNORE INTO time_task_site SELECT ?, value FROM json_each(?) WHERE ${UNCHANGED}`,
            id,
            JSON.stringify(siteIds),
            id,
            seen,
          ),
        );
      }
      // Last: it may change the status that the other statements compare with.
      if (logged !== undefined) statements.push(...relog(id, seen, logged, now));
      const [first] = await db.batch(statements);
      return (first?.changes ?? 0) > 0;
    },

    /** Opens an entry. False unless the task was idle or paused. */
    async start(id: number, allowance: number | null, now: number): Promise<boolean> {
      const [first] = await db.batch([
        sql(
          `UPDATE time_task SET status = 'running', running_since = ?1, started_at = ifnull(started_at, ?1),
             allowance = ifnull(allowance, ?2), updated_at = ?1 WHERE id = ?3 AND status IN ('idle', 'paused')`,
          now,
          allowance,
          id,
        ),
        sql(
          `INSERT INTO time_entry (task_id, started_at) SELECT id, running_since FROM time_task
           WHERE id = ?1 AND running_since IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM time_entry WHERE task_id = ?1 AND ended_at IS NULL)`,
          id,
        ),
      ]);
      return (first?.changes ?? 0) > 0;
    },

    /** Closes the open entry. False unless the task was in one of the states `from`. */
    async halt(id: number, from: readonly TaskStatus[], to: 'paused' | 'completed', now: number): Promise<boolean> {
      const completing = to === 'completed';
      const frozen = `, completed_at = ?, (rounding_unit, rounding_direction) =
        (SELECT ${PRESENT_UNIT}, ${PRESENT_DIRECTION} FROM time_task t ${SETTINGS} WHERE t.id = ?)`;
      const results = await db.batch([
        sql('UPDATE time_entry SET ended_at = max(started_at, ?) WHERE task_id = ? AND ended_at IS NULL', now, id),
        sql(
          `UPDATE time_task SET status = ?, running_since = NULL, updated_at = ?,
             closed_ms = (SELECT ifnull(sum(ended_at - started_at), 0) FROM time_entry WHERE task_id = ?)${completing ? frozen : ''}
           WHERE id = ? AND status IN (SELECT value FROM json_each(?))`,
          to,
          now,
          id,
          ...(completing ? [now, id] : []),
          id,
          JSON.stringify(from),
        ),
      ]);
      return (results[1]?.changes ?? 0) > 0;
    },

    async remove(id: number): Promise<boolean> {
      const { changes } = await db.run('DELETE FROM time_task WHERE id = ?', [id]);
      return changes > 0;
    },
  };
}

/** Sets the task's time to `logged` ms, as one entry that ends now; a running timer continues from there. */
function relog(id: number, seen: TaskStatus, logged: number, now: number): Statement[] {
  const running = seen === 'running';
  return [
    sql(`DELETE FROM time_entry WHERE task_id = ? AND ${UNCHANGED}`, id, id, seen),
    sql(
      `INSERT INTO time_entry (task_id, started_at, ended_at) SELECT ?, ?, ? WHERE ? AND ${UNCHANGED}`,
      id,
      now - logged,
      now,
      logged > 0,
      id,
      seen,
    ),
    sql(
      `INSERT INTO time_entry (task_id, started_at, ended_at) SELECT ?, ?, NULL WHERE ? AND ${UNCHANGED}`,
      id,
      now,
      running,
      id,
      seen,
    ),
    sql(
      `UPDATE time_task SET closed_ms = ?, running_since = ?, started_at = CASE WHEN ? THEN min(ifnull(started_at, ?), ?) ELSE started_at END,
         status = CASE WHEN status = 'idle' AND ? THEN 'paused' ELSE status END WHERE id = ? AND status = ?`,
      logged,
      running ? now : null,
      logged > 0,
      now - logged,
      now - logged,
      logged > 0,
      id,
      seen,
    ),
  ];
}
