/** Tasks of the time tracker as rows: their shapes, and the reads that compute their time. */

import { fold, needle } from '../../../schemas/fold.js';
import type { TASK_ORDERS } from '../../../schemas/time.js';
import type { Row, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { among, equal, type Fragment, join } from '../driver/sql-fragments.js';
import { DIRECTION, rounded, SECONDS, SETTINGS, UNIT } from './sql.js';

type TimerMode = 'count_up' | 'count_down';
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

/** Sums of all tasks with the same price: the exact basis of a total. */
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

export const COLUMNS: readonly (keyof TaskFields)[] = [
  'title',
  'description',
  'client_id',
  'bucket_id',
  'timer_mode',
  'payment_status',
  'hourly_price',
];

export function predicate(filter: TaskFilter, now: number): Fragment {
  const parts: Fragment[] = [
    among('t.status', filter.status),
    among('t.payment_status', filter.payment_status),
    equal('t.client_id', filter.client_id),
    equal('t.bucket_id', filter.bucket_id),
  ];
  if (filter.site_id !== undefined)
    parts.push({
      text: ' AND EXISTS (SELECT 1 FROM time_task_site x WHERE x.task_id = t.id AND x.site_id = ?)',
      args: [filter.site_id],
    });
  if (filter.from !== undefined || filter.to !== undefined)
    parts.push({
      // What ended at the very start has no time in the range; what began there and ended at once still belongs to it.
      text: ' AND EXISTS (SELECT 1 FROM time_entry e WHERE e.task_id = t.id AND e.started_at < ? AND (ifnull(e.ended_at, ?) > ? OR e.started_at >= ?))',
      args: [filter.to ?? Number.MAX_SAFE_INTEGER, now, filter.from ?? 0, filter.from ?? 0],
    });
  const text = needle(filter.search);
  if (text !== '') parts.push({ text: ' AND instr(t.search, ?) > 0', args: [text] });
  return join(parts);
}

/** Tasks with their computed time. `tail` filters and orders `t`. */
export function select(tail: string, args: readonly Value[], now: number): Statement {
  return sql(
    `SELECT b.*, ${rounded('b.duration_seconds', 'b.unit', 'b.direction')} AS billable_seconds,
       (SELECT json_group_array(s.site_id) FROM time_task_site s WHERE s.task_id = b.id) AS site_ids
     FROM (SELECT t.id, ${COLUMNS.map((name) => `t.${name}`).join(', ')}, t.status, t.allowance, t.running_since, t.started_at,
         t.completed_at, t.created_at, t.updated_at, ${SECONDS} AS duration_seconds, ${UNIT} AS unit, ${DIRECTION} AS direction
       FROM time_task t JOIN (SELECT ? AS now) clock ${SETTINGS} ${tail}) b`,
    now,
    ...args,
  );
}

export function searchText(fields: { title: string; description: string }): string {
  return `${fold(fields.title)}\u001f${fold(fields.description)}`;
}

export function sums(client: string, payment: string, where: Fragment, now: number): Statement {
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

export function toTask(row: Row): TaskRow {
  const { unit: _unit, direction: _direction, site_ids, ...rest } = row;
  const ids = (JSON.parse(String(site_ids ?? '[]')) as number[]).sort((a, b) => a - b);
  return { ...(rest as unknown as Omit<TaskRow, 'site_ids'>), site_ids: ids };
}
