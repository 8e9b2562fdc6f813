/** Buckets of hours (REST §6.9.1): their use in the current period, and which clients may draw on them. */

import type { bucketFields } from '../../../schemas/time.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { timestampOf } from '../../runtime/iso-time.js';
import { setFields } from '../../runtime/set-fields.js';
import { dayStart, wordpressTime } from '../../runtime/time-zones.js';
import type { BucketFields, BucketFilter, BucketRow, Recurrence } from '../../store/time-tracker/buckets.js';
import type { Ctx } from '../context.js';
import { decimal, times } from '../costs/money.js';
import { plusMonths } from '../costs/periods.js';
import { dashboardZone } from '../settings/effects.js';
import { withStorageError } from '../storage-messages.js';

type Fields = z.output<z.ZodObject<ReturnType<typeof bucketFields>>>;
export type BucketChange = { [K in keyof Fields]?: Fields[K] | undefined };
export type NewBucket = BucketChange & Pick<Fields, 'title' | 'hours'>;

const MONTHS: Record<Exclude<Recurrence, 'none' | 'weekly'>, number> = { monthly: 1, quarterly: 3, yearly: 12 };
const WEEK_MS = 7 * 86_400_000;

interface Period {
  /** Days as `YYYY-MM-DD`, both inclusive; null = unlimited. */
  start: string | null;
  end: string | null;
  /** The same in ms, `to` exclusive. */
  from: number;
  to: number;
}

/** The period that contains `today`. Before the first day it is the first one. */
export function periodOf(startsOn: string, every: Recurrence, today: string, zone: string): Period {
  if (every === 'none') return { start: null, end: null, from: 0, to: Number.MAX_SAFE_INTEGER };
  let start = startsOn;
  let next = begin(startsOn, every, 1);
  // Counted from the first day, so that the 31st returns after a shorter month.
  for (let n = skipped(startsOn, every, today); next <= today; n++) {
    start = begin(startsOn, every, n);
    next = begin(startsOn, every, n + 1);
  }
  const end = new Date(Date.parse(next) - 86_400_000).toISOString().slice(0, 10);
  return { start, end, from: dayStart(start, zone), to: dayStart(next, zone) };
}

function begin(startsOn: string, every: Exclude<Recurrence, 'none'>, n: number): string {
  if (every !== 'weekly') return plusMonths(startsOn, n * MONTHS[every]);
  return new Date(Date.parse(startsOn) + n * WEEK_MS).toISOString().slice(0, 10);
}

/** Number of periods that are certainly over: a bucket of ten years ago need not be walked through week by week. */
function skipped(startsOn: string, every: Exclude<Recurrence, 'none'>, today: string): number {
  const days = (Date.parse(today) - Date.parse(startsOn)) / 86_400_000;
  const longest = every === 'weekly' ? 7 : MONTHS[every] * 31;
  return Math.max(0, Math.floor(days / longest) - 1);
}

/** The current day on the dashboard's calendar. */
function todayIn(now: number, zone: string): string {
  return wordpressTime(now, zone).slice(0, 10);
}

export async function listBuckets(ctx: Ctx, filter: BucketFilter, page: number, perPage: number) {
  const { items, total } = await ctx.store.timeBuckets.list(filter, page, perPage);
  return { items: await views(ctx, items), total, page, per_page: perPage };
}

/** With the ids of its tasks. Throws `svc_time_tracker_bucket_not_found`. */
export async function getBucket(ctx: Ctx, id: number) {
  const view = await single(ctx, await findBucket(ctx, id));
  return { ...view, tasks: await ctx.store.timeTasks.idsOfBucket(id) };
}

export async function findBucket(ctx: Ctx, id: number): Promise<BucketRow> {
  const bucket = await ctx.store.timeBuckets.find(id);
  if (bucket === undefined) throw bucketNotFound(id);
  return bucket;
}

/** Throws `svc_client_not_found` for an unknown client. */
export async function addBucket(ctx: Ctx, input: NewBucket): Promise<BucketView> {
  const clientIds = input.client_ids ?? [];
  await requireClients(ctx, clientIds);
  const zone = await dashboardZone(ctx);
  const fields: BucketFields = {
    title: input.title,
    description: input.description ?? '',
    hours: input.hours,
    recurrence: input.recurrence ?? 'none',
    hourly_price: input.hourly_price ?? '0',
    starts_on: input.starts_on ?? todayIn(ctx.clock.now(), zone),
  };
  const bucket = await changing(() => ctx.store.timeBuckets.add(fields, clientIds, ctx.clock.now()));
  ctx.events.emit({ name: 'bucket.added', facts: { bucket_id: bucket.id, title: bucket.title } });
  return single(ctx, bucket);
}

export async function changeBucket(ctx: Ctx, id: number, change: BucketChange): Promise<BucketView> {
  const known = await findBucket(ctx, id);
  if (change.client_ids !== undefined) await requireClients(ctx, change.client_ids);
  const fields: BucketFields = {
    title: change.title ?? known.title,
    description: change.description === undefined ? known.description : (change.description ?? ''),
    hours: change.hours ?? known.hours,
    recurrence: change.recurrence ?? known.recurrence,
    hourly_price: change.hourly_price === undefined ? known.hourly_price : (change.hourly_price ?? '0'),
    starts_on: change.starts_on ?? known.starts_on,
  };
  const bucket = await changing(() => ctx.store.timeBuckets.update(id, fields, change.client_ids, ctx.clock.now()));
  if (bucket === undefined) throw bucketNotFound(id);
  const sent = setFields(change);
  ctx.events.emit({ name: 'bucket.updated', facts: { bucket_id: id, title: bucket.title, fields: sent } });
  return single(ctx, bucket);
}

/** Its tasks stay, without a bucket. */
export async function deleteBucket(ctx: Ctx, id: number): Promise<void> {
  const { title } = await findBucket(ctx, id);
  if (!(await changing(() => ctx.store.timeBuckets.remove(id)))) throw bucketNotFound(id);
  ctx.events.emit({ name: 'bucket.deleted', facts: { bucket_id: id, title } });
}

/** Throws `svc_time_tracker_bucket_client_mismatch` unless the bucket serves the client of a task. */
export function requireServes(bucket: BucketRow, clientId: number | null): void {
  if (bucket.client_ids.length === 0) return;
  if (clientId !== null && bucket.client_ids.includes(clientId)) return;
  const whom = clientId === null ? 'a task without a client' : `client ${clientId}`;
  throw new ServiceError('svc_time_tracker_bucket_client_mismatch', `Bucket ${bucket.id} does not cover ${whom}.`, {
    field: 'bucket_id',
    advice: 'Use a bucket of the client, or omit bucket_id.',
    data: { bucket_id: bucket.id, client_ids: bucket.client_ids },
  });
}

/** Seconds left in the current period by bucket; negative when more was used. */
export async function remainingSeconds(ctx: Ctx, ids: readonly number[]): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map();
  const found = await views(ctx, await ctx.store.timeBuckets.many(ids));
  return new Map(found.map((bucket) => [bucket.id, bucket.remaining_seconds]));
}

async function single(ctx: Ctx, bucket: BucketRow): Promise<BucketView> {
  const [view] = await views(ctx, [bucket]);
  return view as BucketView;
}

async function views(ctx: Ctx, buckets: readonly BucketRow[]): Promise<BucketView[]> {
  if (buckets.length === 0) return [];
  const zone = await dashboardZone(ctx);
  const now = ctx.clock.now();
  const today = todayIn(now, zone);
  const periods = buckets.map((bucket) => periodOf(bucket.starts_on, bucket.recurrence, today, zone));
  const spans = buckets.map(({ id }, i) => ({ bucket_id: id, from: periods[i]?.from ?? 0, to: periods[i]?.to ?? 0 }));
  const used = await ctx.store.timeBuckets.used(spans, now);
  return buckets.map((bucket, i) => view(bucket, used.get(bucket.id) ?? 0, periods[i]));
}

function view(bucket: BucketRow, used: number, period: Period | undefined) {
  const { starts_on: _starts, ...row } = bucket;
  const seconds = times(decimal(bucket.hours), 3600);
  const allowed = Number(seconds.n / seconds.d);
  return {
    ...row,
    hours: Number(bucket.hours),
    hourly_price: Number(bucket.hourly_price),
    used_seconds: used,
    remaining_seconds: allowed - used,
    overage_seconds: Math.max(0, used - allowed),
    period_start: period?.start ?? null,
    period_end: period?.end ?? null,
    created_at: timestampOf(bucket.created_at),
    updated_at: timestampOf(bucket.updated_at),
  };
}

type BucketView = ReturnType<typeof view>;

async function requireClients(ctx: Ctx, ids: readonly number[]): Promise<void> {
  const found = await ctx.store.clients.count({ include: [...ids] });
  if (ids.length === 0 || found === ids.length) return;
  throw new ServiceError('svc_client_not_found', 'client_ids: not every id belongs to a client. Nothing changed.', {
    field: 'client_ids',
    advice: 'Find the right ids with list-time-clients-v1.',
  });
}

function changing<T>(work: () => Promise<T>): Promise<T> {
  return withStorageError('svc_operation_failed', 'The bucket was not changed.', work);
}

function bucketNotFound(id: number): ServiceError {
  return new ServiceError('svc_time_tracker_bucket_not_found', `No bucket has the id ${id}.`, {
    field: 'bucket_id',
    advice: 'Find the right id with list-time-buckets-v1.',
  });
}
