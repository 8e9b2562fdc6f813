/** The queue: adding a job, and reading its status. `chunk.ts` runs jobs, `src/domain/actions/job-runner.ts` starts it. */

import { randomUUID } from 'node:crypto';
import type { cancelled, JobType, jobStatus as jobStatusSchema } from '../../../schemas/job.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError, storageFailure } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { ItemCounts, JobItemRow } from '../../store/jobs/jobs.js';
import type { NewRun } from '../../store/jobs/new-run.js';
import type { JobItem } from '../../store/jobs/rows.js';
import type { SiteRow } from '../../store/sites/rows.js';
import { type Ctx, originOf } from '../context.js';
import type { ResolveError, Selection } from '../sites/resolve.js';

export interface QueuedAnswer {
  queued: true;
  job_id: string;
  status_url: string;
  sites_queued: number;
  errors: ResolveError[];
  total_errors: number;
  notice?: string;
}

/**
 * Stores the job and its sites; throws `svc_queue_failed` if that failed, in which case nothing was started.
 * @param options `begun` = the sites were started already; `before` is what was done there, and `work` what was being
 * done, by site; `run` is the run of updates that begins with this job;
 * `id` is one of `newJobId` that was stored before
 */
export async function queueJob(
  ctx: Ctx,
  type: JobType,
  selection: Pick<Selection, 'errors'> & { sites: readonly Pick<SiteRow, 'id'>[] },
  params: object,
  options: {
    begun?: boolean;
    before?: ReadonlyMap<number, readonly JobItem[]>;
    work?: ReadonlyMap<number, object>;
    run?: NewRun;
    id?: string;
  } = {},
): Promise<QueuedAnswer> {
  const { config } = ctx;
  const now = ctx.clock.now();
  const delay_ms = fittingDelay(selection.sites.length, config.job_chunk, config.job_delay_ms, config.job_timeout_ms);
  const job = {
    id: options.id ?? newJobId(type),
    type,
    params,
    origin: originOf(ctx),
    run_id: ctx.run_id,
    run: options.run,
    sites: selection.sites.map((site) => site.id),
    refused: selection.errors.map(({ site_id, code, message }) => ({ site_id: site_id ?? 0, code, message })),
    begun: options.begun ?? false,
    ...(options.before === undefined ? {} : { before: options.before }),
    ...(options.work === undefined ? {} : { work: options.work }),
    chunk: config.job_chunk,
    delay_ms,
    timeout_ms: config.job_timeout_ms,
    next_run_at: now,
  };
  try {
    await ctx.store.jobs.add(job, now);
  } catch (error) {
    const storage = storageFailure(error);
    if (storage !== null) throw storage;
    throw new ServiceError('svc_queue_failed', 'The job could not be stored. Nothing was started.', {
      advice: 'Try again; if it keeps happening, see the log.',
      cause: error,
    });
  }
  ctx.events.emit({ name: 'job.queued', facts: { job_id: job.id, type, sites: job.sites.length } });
  return {
    queued: true,
    job_id: job.id,
    status_url: statusUrl(ctx, job.id),
    sites_queued: job.sites.length,
    errors: selection.errors,
    total_errors: selection.errors.length,
    ...(delay_ms === config.job_delay_ms
      ? {}
      : {
          notice: `The pause between chunks was shortened to ${delay_ms} ms, so that the job can finish within its time limit.`,
        }),
  };
}

/** The id of a job that is to be queued. */
export function newJobId(type: JobType): string {
  return `${type}_${randomUUID()}`;
}

/** The URL that serves the status of a job. */
export function statusUrl(ctx: Pick<Ctx, 'base_url'>, id: string): string {
  return `${ctx.base_url}/v2/jobs/${id}`;
}

/** The pause between chunks, shortened if pauses alone would take more than half of the job's time limit. */
function fittingDelay(sites: number, chunk: number, delayMs: number, timeoutMs: number): number {
  const pauses = Math.max(0, Math.ceil(sites / chunk) - 1);
  return pauses * delayMs <= timeoutMs / 2 ? delayMs : Math.floor(timeoutMs / 2 / pauses);
}

type JobView = z.output<ReturnType<typeof jobStatusSchema>>;

/** Message of a job that was ended by its time limit. */
export const TIMED_OUT = 'The job exceeded its time limit. Sites it did not get to are not listed.';

/** Status of a job with one page of its items (operations §7.3). Throws `svc_job_not_found`. */
export async function jobStatus(ctx: Ctx, id: string, page: number, perPage: number): Promise<JobView> {
  // A NUL cannot be bound, and no id contains one.
  const [job, errors, list] = id.includes('\0')
    ? []
    : await Promise.all([ctx.store.jobs.find(id), ctx.store.jobs.errors(id), ctx.store.jobs.items(id, page, perPage)]);
  if (job === undefined || errors === undefined || list === undefined) throw jobNotFound();
  const processed = job.succeeded + job.failed;
  const timedOut = job.timed_out === 1;
  const { known_sites: sites, items_done, items_planned: items_total } = job;
  return {
    job_id: job.id,
    ...(job.run_id === '' ? {} : { run_id: job.run_id }),
    type: job.type,
    status: job.status,
    progress:
      job.status === 'completed' || job.total === 0
        ? 100
        : Math.min(sites === 0 ? 100 : 99, Math.round((100 * (processed + job.part)) / job.total)),
    ...(sites === 0 ? {} : { in_progress: { sites, items_done, items_total } }),
    processed,
    total: job.total,
    succeeded: job.succeeded,
    failed: job.failed,
    started_at: isoTime(job.started_at),
    completed_at: isoTime(job.completed_at),
    errors: [
      ...errors.map(({ site_id, code, message }) => ({ site_id, code, message })),
      ...(timedOut ? [{ site_id: 0, code: 'svc_job_timeout', message: TIMED_OUT }] : []),
    ],
    job_timed_out: timedOut,
    ...(timedOut ? { job_error_code: 'timeout', job_error_message: TIMED_OUT } : {}),
    ...itemsView(job.type, list, page, perPage),
  };
}

export function jobNotFound(): ServiceError {
  return new ServiceError(
    'svc_job_not_found',
    'There is no job with this id. Jobs are kept for 24 hours after they end.',
    {
      field: 'job_id',
      advice: 'Use the job_id from a queued answer.',
    },
  );
}

const CANCELLED =
  'The job was cancelled before this site was finished. If it was in progress, it may still finish: sync it.';

/**
 * Ends a job; what it did stays. Unfinished sites are reported as failed with `svc_cancelled`. Throws
 * `svc_job_not_found`, and `svc_rest_conflict` for a job that has ended.
 */
export async function cancelJob(ctx: Ctx, id: string): Promise<JobView> {
  await endJob(ctx, id);
  return jobStatus(ctx, id, 1, 50);
}

async function endJob(ctx: Ctx, id: string) {
  const job = await jobStatus(ctx, id, 1, 1);
  const unfinished = await ctx.store.jobs.cancel(id, CANCELLED, ctx.clock.now());
  if (unfinished === null) throw hasEnded(job);
  ctx.events.emit({ name: 'job.failed', facts: { job_id: id, type: job.type } });
  ctx.events.emit({ name: 'job.cancelled', facts: { job_id: id, type: job.type } });
  return unfinished;
}

function hasEnded({ status }: JobView): ServiceError {
  return new ServiceError('svc_rest_conflict', `The job has ended: ${status}.`, {
    field: 'job_id',
    advice: 'There is nothing left to cancel.',
  });
}

/** Maximum number of sites that an answer names, of each state. */
const NAMED = 50;

/** What a cancellation would leave undone, with all `unfinished` sites. Throws as `cancelJob`. */
export async function previewCancel(ctx: Ctx, id: string) {
  const job = await jobStatus(ctx, id, 1, 1);
  if (job.completed_at !== null) throw hasEnded(job);
  const unfinished = await ctx.store.jobs.unfinished(id);
  return { ...cancellation(job, unfinished), run_id: job.run_id, unfinished, cancelled: false, dry_run: true };
}

/** Ends a job as `cancelJob`; as `previewCancel`. */
export async function cancelWithSites(ctx: Ctx, id: string) {
  const unfinished = await endJob(ctx, id);
  const job = await jobStatus(ctx, id, 1, 1);
  const failed = job.failed - unfinished.started.length - unfinished.waiting.length;
  return { ...cancellation({ ...job, failed }, unfinished), run_id: job.run_id, unfinished, cancelled: true };
}

/** What a cancellation left, or would leave, undone. */
export type Cancellation = z.output<ReturnType<typeof cancelled>>;

/** Tells the sites that were at work from those whose turn had not come. */
export function cancellation(
  { job_id, type, total, succeeded, failed }: Pick<Cancellation, 'job_id' | 'type' | 'total' | 'succeeded' | 'failed'>,
  { started, waiting }: { started: readonly number[]; waiting: readonly number[] },
): Omit<Cancellation, 'cancelled'> {
  const sites = (ids: readonly number[]) => ({ count: ids.length, first: ids.slice(0, NAMED) });
  return {
    job_id,
    type,
    total,
    succeeded,
    failed,
    in_progress: sites(started),
    not_begun: sites(waiting),
    ...(started.length === 0
      ? {}
      : { next: `svc-sync-sites-v1 ${JSON.stringify({ site_ids_or_domains: started.slice(0, NAMED) })}` }),
  };
}

/** Kinds of jobs that report items one by one. */
const ITEMIZED: ReadonlySet<JobType> = new Set(['update', 'extension', 'check', 'undo']);

function itemsView(
  type: JobType,
  { items, counts }: { items: readonly JobItemRow[]; counts: ItemCounts },
  page: number,
  perPage: number,
) {
  if (!ITEMIZED.has(type)) return {};
  const { done, failed, sites, whole } = counts;
  const summary = { total_updated: done, total_errors: failed + whole, sites_updated: sites };
  return {
    ...(type === 'update' ? { summary } : {}),
    items: items.map(({ site_id, facts }) => ({ site_id, ...(JSON.parse(facts) as object) })),
    items_total: done + failed,
    page,
    per_page: perPage,
  };
}
