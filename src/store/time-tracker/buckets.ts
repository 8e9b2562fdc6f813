/** Buckets of hours: the clients they serve, and how much of each is used. */

import { fold, needle } from '../../../schemas/fold.js';
import type { Db, Reads, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { insertRow, only, updateRow } from '../driver/rows.js';
import { equal, type Fragment, fragment, join } from '../driver/sql-fragments.js';
import { DIRECTION, rounded, SETTINGS, UNIT } from './sql.js';

export type Recurrence = 'none' | 'weekly' | 'monthly' | 'quarterly' | 'yearly';

export interface BucketFields {
  title: string;
  description: string;
  /** Decimal text. */
  hours: string;
  recurrence: Recurrence;
  /** Decimal text. */
  hourly_price: string;
  /** `YYYY-MM-DD`, first day of the first period. */
  starts_on: string;
}

export interface BucketRow extends BucketFields {
  id: number;
  /** Empty = every client. */
  client_ids: number[];
  tasks_count: number;
  created_at: number;
  updated_at: number;
}

export interface BucketFilter {
  /** Only buckets that serve this client. */
  client_id?: number | undefined;
  recurrence?: Recurrence | undefined;
  search?: string | undefined;
}

/** A span of time in ms, `to` exclusive. */
interface BucketPeriod {
  bucket_id: number;
  from: number;
  to: number;
}

const COLUMNS: readonly (keyof BucketFields)[] = [
  'title',
  'description',
  'hours',
  'recurrence',
  'hourly_price',
  'starts_on',
];

const SERVES = `(NOT EXISTS (SELECT 1 FROM time_bucket_client x WHERE x.bucket_id = b.id)
  OR EXISTS (SELECT 1 FROM time_bucket_client x WHERE x.bucket_id = b.id AND x.client_id = ?))`;

const SELECT = `SELECT b.id, ${COLUMNS.map((name) => `b.${name}`).join(', ')}, b.created_at, b.updated_at,
  (SELECT json_group_array(x.client_id) FROM time_bucket_client x WHERE x.bucket_id = b.id) AS client_ids,
  (SELECT count(*) FROM time_task t WHERE t.bucket_id = b.id) AS tasks_count FROM time_bucket b`;

function predicate(filter: BucketFilter): Fragment {
  const text = needle(filter.search);
  return join([
    filter.client_id === undefined ? fragment('') : fragment(` AND ${SERVES}`, filter.client_id),
    equal('b.recurrence', filter.recurrence),
    text === '' ? fragment('') : fragment(' AND instr(b.title_key, ?) > 0', text),
  ]);
}

export function createTimeBuckets(db: Db, aside: Reads) {
  return {
    /** One page in title order with the true total. */
    async list(filter: BucketFilter, page: number, perPage: number) {
      const { text, args } = predicate(filter);
      const rows = sql(`${SELECT} WHERE 1${text} ORDER BY b.title_key, b.id`, ...args);
      const count = sql(`SELECT count(*) AS n FROM time_bucket b WHERE 1${text}`, ...args);
      const { items, total } = await readPage(db, rows, count, page, perPage);
      return { items: items.map(toBucket), total };
    },

    async find(id: number): Promise<BucketRow | undefined> {
      const row = await db.one(`${SELECT} WHERE b.id = ?`, [id]);
      return row === undefined ? undefined : toBucket(row);
    },

    async many(ids: readonly number[]): Promise<BucketRow[]> {
      const rows = await db.all(`${SELECT} WHERE b.id IN (SELECT value FROM json_each(?))`, [JSON.stringify(ids)]);
      return rows.map(toBucket);
    },

    /** How many buckets serve each client. */
    async countFor(clientIds: readonly number[]): Promise<Map<number, number>> {
      const rows = await aside.all(
        `SELECT c.value AS client_id, (SELECT count(*) FROM time_bucket b WHERE ${SERVES.replace('?', 'c.value')}) AS n FROM json_each(?) c`,
        [JSON.stringify(clientIds)],
      );
      return new Map(rows.map((row) => [Number(row.client_id), Number(row.n)]));
    },

    /**
     * Billable seconds of each bucket's tasks within its period: each task's time in the period, rounded as the task
     * is. A bucket without time is absent.
     */
    async used(periods: readonly BucketPeriod[], now: number): Promise<Map<number, number>> {
      const rows = await aside.all(
        `SELECT bucket_id, sum(${rounded('seconds')}) AS used FROM (
           SELECT t.bucket_id, ${UNIT} AS unit, ${DIRECTION} AS direction,
             sum(max(0, min(ifnull(e.ended_at, clock.now), p.until) - max(e.started_at, p.since))) / 1000 AS seconds
           FROM (SELECT json_extract(value, '$.bucket_id') AS bucket_id, json_extract(value, '$.from') AS since,
                   json_extract(value, '$.to') AS until FROM json_each(?)) p
             JOIN (SELECT ? AS now) clock JOIN time_task t ON t.bucket_id = p.bucket_id ${SETTINGS}
             JOIN time_entry e ON e.task_id = t.id AND e.started_at < p.until AND ifnull(e.ended_at, clock.now) > p.since
           GROUP BY t.id)
         GROUP BY bucket_id`,
        [JSON.stringify(periods), now],
      );
      return new Map(rows.map((row) => [Number(row.bucket_id), Number(row.used)]));
    },

    async add(fields: BucketFields, clientIds: readonly number[], now: number): Promise<BucketRow> {
      const newest = '(SELECT max(id) FROM time_bucket)';
      const results = await db.batch([
        insertRow('time_bucket', { ...columnsOf(fields), created_at: now, updated_at: now }),
        serve(newest, clientIds),
        sql(`${SELECT} WHERE b.id = ${newest}`),
      ]);
      return toBucket(results.at(-1)?.rows[0] ?? {});
    },

    /** Undefined if the bucket is gone. Given clients replace the stored ones. */
    async update(
      id: number,
      fields: BucketFields,
      clientIds: readonly number[] | undefined,
      now: number,
    ): Promise<BucketRow | undefined> {
      const statements = updateRow('time_bucket', 'id', id, { ...columnsOf(fields), updated_at: now });
      if (clientIds !== undefined)
        statements.push(
          sql('DELETE FROM time_bucket_client WHERE bucket_id = ?', id),
          // The id is our own number, never a caller's text.
          serve(`(SELECT id FROM time_bucket WHERE id = ${Number(id)})`, clientIds),
        );
      const results = await db.batch([...statements, sql(`${SELECT} WHERE b.id = ?`, id)]);
      const row = results.at(-1)?.rows[0];
      return row === undefined ? undefined : toBucket(row);
    },

    /** Its tasks stay, without a bucket. */
    async remove(id: number): Promise<boolean> {
      const { changes } = await db.run('DELETE FROM time_bucket WHERE id = ?', [id]);
      return changes > 0;
    },
  };
}

function columnsOf(fields: BucketFields) {
  return { ...only(COLUMNS, fields), title_key: fold(fields.title) };
}

function serve(bucket: string, clientIds: readonly number[]): Statement {
  return sql(
    `INSERT OR IGNORE INTO time_bucket_client SELECT ${bucket}, value FROM json_each(?)`,
    JSON.stringify(clientIds),
  );
}

function toBucket(row: Row): BucketRow {
  const ids = (JSON.parse(String(row.client_ids ?? '[]')) as number[]).sort((a, b) => a - b);
  return { ...(row as unknown as BucketRow), client_ids: ids };
}
