/**
 * Tasks of the time tracker: lists, records, and which changes each state allows (REST §6.9). The timer is in timer.ts.
 */

import type { taskFields } from '../../../schemas/time.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { timestampOf } from '../../runtime/iso-time.js';
import { setFields } from '../../runtime/set-fields.js';
import { dayEnd, dayStart } from '../../runtime/time-zones.js';
import type { TaskFields, TaskFilter, TaskPage, TaskRow, TaskStatus } from '../../store/time-tracker/tasks.js';
import { type DayRange, requireRange } from '../content/day-range.js';
import type { Ctx } from '../context.js';
import { dashboardZone } from '../settings/effects.js';
import { withStorageError } from '../storage-messages.js';
import { findBucket, requireServes } from './buckets.js';
import { summaryOf, taskView, taskViews } from './views.js';

type Fields = z.output<z.ZodObject<ReturnType<typeof taskFields>>>;
export type TaskInput = { [K in keyof Fields]?: Fields[K] | undefined };

/** Totals are rounded once, over all tasks; `duration` and `billable` in seconds. */
async function listTasks(ctx: Ctx, filter: TaskFilter, at: TaskPage) {
  const { items, total, groups } = await ctx.store.timeTasks.list(filter, at, ctx.clock.now());
  return { items: await taskViews(ctx, items), total, page: at.page, per_page: at.perPage, summary: summaryOf(groups) };
}

/**
 * Tasks with time between two days of the dashboard's calendar, if days are given. Throws for half a range, as
 * `requireRange`.
 */
export async function listTasksOfDays(
  ctx: Ctx,
  filter: Omit<TaskFilter, 'from' | 'to'>,
  days: Partial<DayRange>,
  at: TaskPage,
) {
  requireRange(days);
  const { dtsstart, dtsstop } = days;
  const zone = dtsstart === undefined ? 'UTC' : await dashboardZone(ctx);
  const range = {
    ...(dtsstart === undefined ? {} : { from: dayStart(dtsstart, zone) }),
    ...(dtsstop === undefined ? {} : { to: dayEnd(dtsstop, zone) }),
  };
  return listTasks(ctx, { ...filter, ...range }, at);
}

/** With its entries. Throws `svc_time_tracker_task_not_found`. */
export async function getTask(ctx: Ctx, id: number) {
  const task = await findTask(ctx, id);
  const [view, entries] = await Promise.all([taskView(ctx, task), ctx.store.timeTasks.entries(id)]);
  const now = ctx.clock.now();
  return {
    ...view,
    entries: entries.map((entry) => ({
      id: entry.id,
      started_at: timestampOf(entry.started_at),
      ended_at: entry.ended_at === null ? null : timestampOf(entry.ended_at),
      seconds: Math.floor(Math.max(0, (entry.ended_at ?? now) - entry.started_at) / 1000),
    })),
  };
}

export async function findTask(ctx: Ctx, id: number): Promise<TaskRow> {
  const task = await ctx.store.timeTasks.find(id, ctx.clock.now());
  if (task === undefined) throw taskNotFound(id);
  return task;
}

/**
 * Creates a task; `duration_seconds` is time already worked, which makes it a paused one. Throws
 * `svc_client_not_found`, `svc_site_not_found`, `svc_time_tracker_bucket_not_found`,
 * `…_bucket_client_mismatch`.
 */
export async function addTask(ctx: Ctx, input: TaskInput & { title: string }): Promise<TaskRow> {
  const siteIds = input.site_ids ?? [];
  const clientId = input.client_id === undefined ? await clientOfSites(ctx, siteIds) : input.client_id;
  await requireLinks(ctx, clientId, siteIds);
  const bucket = input.bucket_id == null ? null : await findBucket(ctx, input.bucket_id);
  if (bucket !== null) requireServes(bucket, clientId);
  const { settings } = await ctx.store.timeSettings.effective(clientId);
  const ofBucket = bucket !== null && Number(bucket.hourly_price) > 0 ? bucket.hourly_price : null;
  const fields: TaskFields = {
    title: input.title,
    description: input.description ?? '',
    client_id: clientId,
    bucket_id: bucket?.id ?? null,
    timer_mode: modeOf(input.timer_mode, settings.timer_mode, bucket !== null),
    payment_status: input.payment_status ?? 'unbilled',
    hourly_price: input.hourly_price ?? ofBucket ?? settings.hourly_price,
  };
  const logged = (input.duration_seconds ?? 0) * 1000;
  const task = await withStorageError('svc_operation_failed', 'The task was not stored.', () =>
    ctx.store.timeTasks.add(fields, siteIds, logged, ctx.clock.now()),
  );
  ctx.events.emit({ name: 'task.added', facts: { task_id: task.id, title: task.title } });
  return task;
}

/** Fields that can no longer change, by state (REST §6.9.2). */
const FIXED: Partial<Record<TaskStatus, readonly (keyof TaskInput)[]>> = {
  running: ['timer_mode', 'bucket_id'],
  completed: ['client_id', 'site_ids', 'bucket_id', 'timer_mode', 'duration_seconds'],
};

/**
 * Only the given fields change. Throws as `addTask`, and `svc_time_tracker_invalid_transition` for a field that can no
 * longer change.
 */
export async function changeTask(ctx: Ctx, id: number, change: TaskInput): Promise<TaskRow> {
  const task = await findTask(ctx, id);
  const fixed = FIXED[task.status]?.find((field) => change[field] !== undefined);
  if (fixed !== undefined)
    throw transition(task.status, `${fixed} of a ${task.status} task cannot be changed. Nothing changed.`, fixed);
  const clientId = change.client_id === undefined ? task.client_id : change.client_id;
  await requireLinks(ctx, change.client_id === undefined ? null : clientId, change.site_ids ?? []);
  const bucketId = change.bucket_id === undefined ? task.bucket_id : change.bucket_id;
  const linksChange = change.bucket_id !== undefined || change.client_id !== undefined;
  if (bucketId !== null && linksChange) requireServes(await findBucket(ctx, bucketId), clientId);
  const mode = change.timer_mode ?? (bucketId === null ? 'count_up' : task.timer_mode);
  const fields: TaskFields = {
    title: change.title ?? task.title,
    description: change.description === undefined ? task.description : (change.description ?? ''),
    client_id: clientId,
    bucket_id: bucketId,
    timer_mode: modeOf(mode, mode, bucketId !== null),
    payment_status: change.payment_status ?? task.payment_status,
    hourly_price: change.hourly_price === undefined ? task.hourly_price : (change.hourly_price ?? '0'),
  };
  const logged = change.duration_seconds === undefined ? undefined : change.duration_seconds * 1000;
  const now = ctx.clock.now();
  const done = await withStorageError('svc_operation_failed', 'The task was not changed.', () =>
    ctx.store.timeTasks.update(id, task.status, fields, change.site_ids, logged, now),
  );
  const after = await findTask(ctx, id);
  if (!done)
    throw transition(after.status, 'The task has been changed by someone else in the meantime. Nothing changed.');
  const sent = setFields(change);
  ctx.events.emit({ name: 'task.updated', facts: { task_id: id, title: after.title, fields: sent } });
  return after;
}

export async function deleteTask(ctx: Ctx, id: number): Promise<void> {
  const { title } = await findTask(ctx, id);
  const removed = await withStorageError('svc_operation_failed', 'The task was not deleted.', () =>
    ctx.store.timeTasks.remove(id),
  );
  if (!removed) throw taskNotFound(id);
  ctx.events.emit({ name: 'task.deleted', facts: { task_id: id, title } });
}

/** A count_down needs something to count down from; a default count_down gives way to another mode. */
function modeOf(asked: TaskFields['timer_mode'] | undefined, standard: TaskFields['timer_mode'], hasBucket: boolean) {
  if (asked === 'count_down' && !hasBucket) {
    throw new ServiceError(
      'rest_invalid_param',
      'timer_mode: count_down needs a bucket to count down. Nothing changed.',
      {
        field: 'timer_mode',
        advice: 'Send bucket_id as well, or use count_up.',
        data: { params: { timer_mode: 'count_down needs bucket_id' } },
      },
    );
  }
  return asked ?? (hasBucket ? standard : 'count_up');
}

async function clientOfSites(ctx: Ctx, siteIds: readonly number[]): Promise<number | null> {
  if (siteIds.length === 0) return null;
  const sites = new Map((await ctx.store.sites.candidates(siteIds)).map((site) => [site.id, site.client_id]));
  return siteIds.map((id) => sites.get(id) ?? null).find((id) => id !== null) ?? null;
}

/** Refuses an unknown client or site by name. */
async function requireLinks(ctx: Ctx, clientId: number | null, siteIds: readonly number[]): Promise<void> {
  if (clientId !== null && (await ctx.store.clients.count({ include: [clientId] })) === 0) {
    throw new ServiceError('svc_client_not_found', `client_id: no client has the id ${clientId}. Nothing changed.`, {
      field: 'client_id',
      advice: 'Find the right id with list-time-clients-v1.',
    });
  }
  if (siteIds.length === 0) return;
  const known = new Set((await ctx.store.sites.candidates(siteIds)).map((site) => site.id));
  const index = siteIds.findIndex((id) => !known.has(id));
  if (index < 0) return;
  throw new ServiceError(
    'svc_site_not_found',
    `site_ids[${index}]: no site has the id ${siteIds[index]}. Nothing changed.`,
    {
      field: `site_ids[${index}]`,
      advice: 'Find the right ids with list-sites-v1.',
    },
  );
}

export function transition(from: TaskStatus, message: string, field?: string): ServiceError {
  return new ServiceError('svc_time_tracker_invalid_transition', message, {
    ...(field === undefined ? {} : { field }),
    advice: 'Read the task to see its status.',
    data: { status_from: from },
  });
}

function taskNotFound(id: number): ServiceError {
  return new ServiceError('svc_time_tracker_task_not_found', `No task has the id ${id}.`, {
    field: 'task_id',
    advice: 'Find the right id with list-time-tasks-v1.',
  });
}
