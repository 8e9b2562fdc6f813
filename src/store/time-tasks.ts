/** Tasks of the time tracker and their entries. A running timer is a row: it survives any restart. */

import type { TASK_ORDERS } from '../../schemas/time.js';
import type { Db, Row, Statement, Value } from './db.js';
import { sql } from './db.js';
import { except, type Fragment, fold, join, needle, offset } from './lists.js';
import { DIRECTION, PRESENT_DIRECTION, PRESENT_UNIT, rounded, SECONDS, SETTINGS, UNIT } from './time-sql.js';

export type TimerMode = 'count_up' | 'count_down';
export type TaskStatus = 'idle' | 'running' | 'paused' | 'completed';

export interface TaskFields {
  title: string;
  description: string;
  client_id: number | null;
  bucket_id: number | null;
  timer_mode: TimerMode;
  payment_status: string;
  /** Decimal text. */
  hourly_price: string;
}

export interface TaskRow extends TaskFields {
  id: number;
  status: TaskStatus;
  site_ids: number[];
  duration_seconds: number;
  billable_seconds: number;
  /** Seconds that the bucket had left when a count_down was started. */
  allowance: number | null;
  running_since: number | null;
  started_at: number | null;
  completed_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface EntryRow extends Row {
  id: number;
  started_at: number;
  ended_at: number | null;
}

export interface TaskFilter {
  status?: readonly TaskStatus[] | undefined;
  payment_status?: readonly string[] | undefined;
  /** Tasks with an entry that overlaps this range, in ms, `to` exclusive. */
  from?: number | undefined;
  to?: number | undefined;
  client_id?: number | undefined;
  site_id?: number | undefined;
  bucket_id?: number | undefined;
  search?: string | undefined;
}

export interface TaskPage {
  page: number;
  perPage: number;
  orderby: (typeof TASK_ORDERS)[number];
  order: 'asc' | 'desc';
}

/** Sums of all tasks with the same price: what a total is made of, exactly. */
export interface PriceGroup extends Row {
  client_id: number | null;
  payment_status: string;
  hourly_price: string;
  tasks: number;
  running: number;
  duration_seconds: number;
  billable_seconds: number;
  last_activity: number;
}

type Hidden = readonly number[];

const COLUMNS: readonly (keyof TaskFields)[] = [
  'title',
  'description',
  'client_id',
  'bucket_id',
  'timer_mode',
  'payment_status',
  'hourly_price',
];

function predicate(filter: TaskFilter, hidden: Hidden, now: number): Fragment {
  const parts: Fragment[] = [visible(hidden)];
  const equal = (column: string, value: Value | undefined) => {
    if (value !== undefined) parts.push({ text: ` AND ${column} = ?`, args: [value] });
  };
  const oneOf = (column: string, values: readonly string[] | undefined) => {
    if (values !== undefined && values.length > 0)
      parts.push({ text: ` AND ${column} IN (SELECT value FROM json_each(?))`, args: [JSON.stringify(values)] });
  };
  oneOf('t.status', filter.status);
  oneOf('t.payment_status', filter.payment_status);
  equal('t.client_id', filter.client_id);
  equal('t.bucket_id', filter.bucket_id);
  if (filter.site_id !== undefined)
    parts.push({
      text: ' AND EXISTS (SELECT 1 FROM time_task_site x WHERE x.task_id = t.id AND x.site_id = ?)',
      args: [filter.site_id],
    });
  if (filter.from !== undefined || filter.to !== undefined)
    parts.push({
      text: ' AND EXISTS (SELECT 1 FROM time_entry e WHERE e.task_id = t.id AND e.started_at < ? AND ifnull(e.ended_at, ?) >= ?)',
      args: [filter.to ?? Number.MAX_SAFE_INTEGER, now, filter.from ?? 0],
    });
  const text = needle(filter.search);
  if (text !== '') parts.push({ text: ' AND instr(t.search, ?) > 0', args: [text] });
  return join(parts);
}

/** A task whose every site is hidden from the caller is hidden itself. */
function visible(hidden: Hidden): Fragment {
  const seen = except('v.site_id', hidden);
  if (seen.text === '') return seen;
  return {
    text: ` AND (NOT EXISTS (SELECT 1 FROM time_task_site v WHERE v.task_id = t.id)
      OR EXISTS (SELECT 1 FROM time_task_site v WHERE v.task_id = t.id${seen.text}))`,
    args: seen.args,
  };
}

/** Tasks with their computed time. `tail` filters and orders `t`. */
function select(tail: string, args: readonly Value[], now: number, hidden: Hidden): Statement {
  const seen = except('s.site_id', hidden);
  return sql(
    `SELECT b.*, ${rounded('b.duration_seconds', 'b.unit', 'b.direction')} AS billable_seconds,
       (SELECT json_group_array(s.site_id) FROM time_task_site s WHERE s.task_id = b.id${seen.text}) AS site_ids
     FROM (SELECT t.id, ${COLUMNS.map((name) => `t.${name}`).join(', ')}, t.status, t.allowance, t.running_since, t.started_at,
         t.completed_at, t.created_at, t.updated_at, ${SECONDS} AS duration_seconds, ${UNIT} AS unit, ${DIRECTION} AS direction
       FROM time_task t JOIN (SELECT ? AS now) clock ${SETTINGS} ${tail}) b`,
    ...seen.args,
    now,
    ...args,
  );
}

function searchText(fields: { title: string; description: string }): string {
  return `${fold(fields.title)}\u001f${fold(fields.description)}`;
}

export function createTimeTasks(db: Db) {
  const one = (id: number, now: number, hidden: Hidden): Statement => {
    const seen = visible(hidden);
    return select(`WHERE t.id = ?${seen.text}`, [id, ...seen.args], now, hidden);
  };

  return {
    /** One page with the true total, and the sums over all matches by price. */
    async list(filter: TaskFilter, at: TaskPage, now: number, hidden: Hidden) {
      const where = predicate(filter, hidden, now);
      const column = at.orderby === 'title' ? 't.search' : `t.${at.orderby}`;
      const tail = `WHERE 1${where.text} ORDER BY ${column} ${at.order}, t.id ${at.order} LIMIT ? OFFSET ?`;
      const [items = [], groups = []] = await db.read([
        select(tail, [...where.args, at.perPage, offset(at.page, at.perPage)], now, hidden),
        sums('NULL', `'' AS payment_status`, where, now),
      ]);
      const priced = groups as PriceGroup[];
      return { items: items.map(toTask), total: priced.reduce((sum, group) => sum + group.tasks, 0), groups: priced };
    },

    /** Sums by client, payment status and price: what the figures of tracker clients are made of. */
    clientSums(clientIds: readonly number[], now: number, hidden: Hidden): Promise<PriceGroup[]> {
      const seen = visible(hidden);
      const where = {
        text: ` AND t.client_id IN (SELECT value FROM json_each(?))${seen.text}`,
        args: [JSON.stringify(clientIds), ...seen.args],
      };
      const query = sums('t.client_id', 't.payment_status', where, now);
      return db.all<PriceGroup>(query.sql, query.args);
    },

    async find(id: number, now: number, hidden: Hidden): Promise<TaskRow | undefined> {
      const query = one(id, now, hidden);
      const row = await db.one(query.sql, query.args);
      return row === undefined ? undefined : toTask(row);
    },

    entries(id: number): Promise<EntryRow[]> {
      return db.all<EntryRow>(
        'SELECT id, started_at, ended_at FROM time_entry WHERE task_id = ? ORDER BY started_at, id LIMIT 1000',
        [id],
      );
    },

    async idsOfBucket(bucketId: number, hidden: Hidden): Promise<number[]> {
      const seen = visible(hidden);
      const rows = await db.all(
        `SELECT t.id FROM time_task t WHERE t.bucket_id = ?${seen.text} ORDER BY t.id LIMIT 10000`,
        [bucketId, ...seen.args],
      );
      return rows.map((row) => Number(row.id));
    },

    /** `logged` ms make a closed entry that ends now; the task then counts as paused. */
    async add(
      fields: TaskFields,
      siteIds: readonly number[],
      logged: number,
      now: number,
      hidden: Hidden,
    ): Promise<TaskRow> {
      const newest = '(SELECT max(id) FROM time_task)';
      const results = await db.batch([
        sql(
          `INSERT INTO time_task (${COLUMNS.join(', ')}, search, status, closed_ms, started_at, created_at, updated_at)
           VALUES (${COLUMNS.map(() => '?').join(', ')}, ?, ?, ?, ?, ?, ?)`,
          ...COLUMNS.map((column) => fields[column]),
          searchText(fields),
          logged > 0 ? 'paused' : 'idle',
          logged,
          logged > 0 ? now - logged : null,
          now,
          now,
        ),
        sql(`INSERT INTO time_task_site SELECT ${newest}, value FROM json_each(?)`, JSON.stringify(siteIds)),
        sql(
          `INSERT INTO time_entry (task_id, started_at, ended_at) SELECT ${newest}, ?, ? WHERE ?`,
          now - logged,
          now,
          logged > 0,
        ),
        select(`WHERE t.id = ${newest}`, [], now, hidden),
      ]);
      return toTask(results.at(-1)?.rows[0] ?? {});
    },

    /** False when the task is no longer in the state it was judged by. Sites hidden from the caller stay. */
    async update(
      id: number,
      seen: TaskStatus,
      fields: TaskFields,
      siteIds: readonly number[] | undefined,
      logged: number | undefined,
      now: number,
      hidden: Hidden,
    ): Promise<boolean> {
      const guard = 'EXISTS (SELECT 1 FROM time_task WHERE id = ? AND status = ?)';
      const statements = [
        sql(
          `UPDATE time_task SET ${COLUMNS.map((column) => `${column} = ?`).join(', ')}, search = ?, updated_at = ?
           WHERE id = ? AND status = ?`,
          ...COLUMNS.map((column) => fields[column]),
          searchText(fields),
          now,
          id,
          seen,
        ),
      ];
      if (siteIds !== undefined) {
        const kept = except('site_id', hidden);
        statements.push(
          sql(`DELETE FROM time_task_site WHERE task_id = ? AND ${guard}${kept.text}`, id, id, seen, ...kept.args),
          sql(
            `INSERT OR IGNORE INTO time_task_site SELECT ?, value FROM json_each(?) WHERE ${guard}`,
            id,
            JSON.stringify(siteIds),
            id,
            seen,
          ),
        );
      }
      // Last: it may change the status that the others look at.
      if (logged !== undefined) statements.push(...relog(id, seen, logged, now));
      const [first] = await db.batch(statements);
      return (first?.changes ?? 0) > 0;
    },

    /** Opens an entry. False unless the task was idle or paused. */
    async start(id: number, allowance: number | null, now: number): Promise<boolean> {
      const [first] = await db.batch([
        sql(
          `UPDATE time_task SET status = 'running', running_since = ?, started_at = ifnull(started_at, ?),
             allowance = ifnull(allowance, ?), updated_at = ? WHERE id = ? AND status IN ('idle', 'paused')`,
          now,
          now,
          allowance,
          now,
          id,
        ),
        sql(
          `INSERT INTO time_entry (task_id, started_at) SELECT id, running_since FROM time_task
           WHERE id = ? AND running_since IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM time_entry WHERE task_id = ? AND ended_at IS NULL)`,
          id,
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

/** The task's time becomes `logged` ms, as one entry that ends now; a running timer goes on from here. */
function relog(id: number, seen: TaskStatus, logged: number, now: number): Statement[] {
  const running = seen === 'running';
  const guard = 'EXISTS (SELECT 1 FROM time_task WHERE id = ? AND status = ?)';
  return [
    sql(`DELETE FROM time_entry WHERE task_id = ? AND ${guard}`, id, id, seen),
    sql(
      `INSERT INTO time_entry (task_id, started_at, ended_at) SELECT ?, ?, ? WHERE ? AND ${guard}`,
      id,
      now - logged,
      now,
      logged > 0,
      id,
      seen,
    ),
    sql(
      `INSERT INTO time_entry (task_id, started_at, ended_at) SELECT ?, ?, NULL WHERE ? AND ${guard}`,
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

function sums(client: string, payment: string, where: Fragment, now: number): Statement {
  const grouped = payment.startsWith("''") ? '' : ', payment_status';
  return sql(
    `SELECT client_id, payment_status, hourly_price, count(*) AS tasks, sum(running) AS running, sum(duration_seconds) AS duration_seconds,
       sum(${rounded('duration_seconds')}) AS billable_seconds, max(active) AS last_activity
     FROM (SELECT ${client} AS client_id, ${payment}, t.hourly_price, t.running_since IS NOT NULL AS running,
         CASE WHEN t.running_since IS NULL THEN t.updated_at ELSE clock.now END AS active,
         ${SECONDS} AS duration_seconds, ${UNIT} AS unit, ${DIRECTION} AS direction
       FROM time_task t JOIN (SELECT ? AS now) clock ${SETTINGS} WHERE 1${where.text})
     GROUP BY client_id${grouped}, hourly_price`,
    now,
    ...where.args,
  );
}

function toTask(row: Row): TaskRow {
  const { unit: _unit, direction: _direction, site_ids, ...rest } = row;
  const ids = (JSON.parse(String(site_ids ?? '[]')) as number[]).sort((a, b) => a - b);
  return { ...(rest as unknown as Omit<TaskRow, 'site_ids'>), site_ids: ids };
}
