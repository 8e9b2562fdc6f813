/**
 * Multi-site calls: runs a job handler on many sites now, or queues it. Each site ends up in exactly one list of the
 * answer.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../../runtime/errors.js';
import type { JobAtWork } from '../../store/jobs/jobs.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { batchThreshold } from '../settings/effects.js';
import { type LoadedSite, loadSites, siteCallError } from '../sites/load.js';
import { type ResolveError, resolveSites, type Selection, type SiteRef, selectionOf } from '../sites/resolve.js';
import type { JobHandler, NoParams } from './handler.js';
import { type QueuedAnswer, queueJob, statusUrl } from './jobs.js';

export interface SitesResult<R> {
  done: { target: LoadedSite; result: R }[];
  /** Sites on which the work failed completely. */
  failures: { site: SiteRow; error: ServiceError }[];
  /**
   * Sites that were started and not finished when a direct call ran out of time; also in `failures`, and in `done` if
   * they have a partial result.
   */
  unfinished: SiteRow[];
  /** What the handler was doing on sites, by id. */
  begun: Map<number, object>;
}

/** Maximum number of sites started per turn of the event loop. */
const SITES_A_TURN = 25;

/**
 * Runs the handler on all sites in parallel, within the limits of the child connection and the time of a direct call.
 * Throws only if the caller gave up, never for a single site.
 * @param limitMs milliseconds until unfinished sites are cut off
 */
export async function runOnSites<P, R>(
  ctx: Ctx,
  handler: JobHandler<P, R>,
  sites: readonly SiteRow[],
  params: P,
  limitMs: number = ctx.config.direct_call_ms,
): Promise<SitesResult<R>> {
  const loaded = await loadSites(
    ctx,
    sites.map((site) => site.id),
  );
  const deadline = ctx.clock.deadline(limitMs);
  const limited: Ctx = { ...ctx, signal: AbortSignal.any([ctx.signal, deadline.signal]), progress: () => undefined };
  const result: SitesResult<R> = { done: [], failures: [], unfinished: [], begun: new Map() };
  let finished = 0;
  try {
    let turn = Promise.resolve();
    const outcomes = await Promise.all(
      sites.map(async (site, index) => {
        // The first calls are sent before sites are started that would have to wait for them.
        if (index > 0 && index % SITES_A_TURN === 0) turn = turn.then(() => nextTurn());
        await turn;
        const begin = (work: object) => void result.begun.set(site.id, work);
        const outcome = await runOne(limited, handler, site, loaded.get(site.id), (target) =>
          handler.run(limited, target, params, begin),
        );
        ctx.progress({ done: ++finished, total: sites.length, message: site.url });
        return { site, outcome };
      }),
    );
    if (ctx.signal.aborted) throw givenUp(outcomes, handler);
    for (const { site, outcome } of outcomes) {
      const cut =
        'result' in outcome ? handler.interrupted?.(outcome.result) === true : outcome.error.code === 'svc_cancelled';
      if ('result' in outcome) result.done.push(outcome);
      if (cut) result.unfinished.push(site);
      if (cut) result.failures.push({ site, error: stillRunning(site) });
      else if ('error' in outcome) result.failures.push({ site, error: outcome.error });
    }
    return result;
  } finally {
    deadline.clear();
  }
}

/** The caller gave up: completed changes are reported, because sites keep them. */
function givenUp<R>(
  outcomes: readonly { site: SiteRow; outcome: { result: R } | { error: ServiceError } }[],
  handler: Pick<JobHandler<never, R>, 'interrupted'>,
): ServiceError {
  const sites = { done: [] as number[], failed: [] as number[], not_done: [] as number[] };
  for (const { site, outcome } of outcomes) sites[listOf(outcome)].push(site.id);
  function listOf(outcome: { result: R } | { error: ServiceError }) {
    // Part of the work is not the work.
    if ('result' in outcome) return handler.interrupted?.(outcome.result) === true ? 'not_done' : 'done';
    return outcome.error.code === 'svc_cancelled' ? 'not_done' : 'failed';
  }
  const { done, failed } = sites;
  return new ServiceError(
    'svc_cancelled',
    `The call was cancelled: of ${outcomes.length} sites ${done.length} were done and ${failed.length} failed by then.`,
    { advice: 'A site in progress may still finish: sync it before you repeat the call.', data: { sites } },
  );
}

async function runOne<P, R>(
  ctx: Ctx,
  handler: Pick<JobHandler<P, R>, 'type' | 'failure'>,
  site: SiteRow,
  loaded: LoadedSite | undefined,
  run: (target: LoadedSite) => Promise<R>,
): Promise<{ target: LoadedSite; result: R } | { error: ServiceError }> {
  if (loaded === undefined)
    return { error: new ServiceError('svc_site_not_found', `Site ${site.id} has been removed in the meantime.`) };
  try {
    return { target: loaded, result: await run(loaded) };
  } catch (error) {
    const aborted = ctx.signal.aborted && !(error instanceof ServiceError);
    const failure = aborted
      ? new ServiceError('svc_cancelled', 'Cancelled.')
      : siteCallError(error, site.id, handler.failure);
    if (failure.code === 'svc_internal_error')
      ctx.log.error(
        { site_id: site.id, work: handler.type, err: failure.cause ?? error },
        'unexpected failure on one site',
      );
    return { error: failure };
  }
}

/** Advice where a job continues a call. */
export const FOLLOW_JOB =
  'Read the job with get-batch-job-status-v1 in half a minute. Until it ends, repeating the call returns the same job.';

/** The call ran out of time and the site is merely slow: its work continues in this job. */
function stillRunning(site: Pick<SiteRow, 'id'>, job?: Omit<ContinuedJob, 'sites_queued'>): ServiceError {
  return new ServiceError(
    'svc_still_running',
    `Site ${site.id} needs longer than a direct call allows.${job === undefined ? '' : ` Its work continues as job ${job.job_id}.`}`,
    {
      advice: FOLLOW_JOB,
      data: { site_id: site.id, ...job },
    },
  );
}

/** The meaning of an empty list for a multi-site operation (operations §6). */
export interface SitesOptions {
  /** Sites to use if the list is empty; absent = a list is required. */
  whenEmpty?: (ctx: Ctx) => Promise<SiteRow[]>;
  /** A list in which nothing could be resolved fails the whole call with 404. */
  failWhenNothingResolves?: boolean;
}

export async function chooseSites(ctx: Ctx, refs: readonly SiteRef[], options: SitesOptions): Promise<Selection> {
  if (refs.length === 0) {
    if (options.whenEmpty === undefined) {
      throw new ServiceError(
        'svc_invalid_input',
        'site_ids_or_domains must name at least one site: this operation has no "all sites".',
        {
          field: 'site_ids_or_domains',
          advice: 'Name the sites by id or domain.',
        },
      );
    }
    return selectionOf(await options.whenEmpty(ctx));
  }
  const selection = await resolveSites(ctx, refs);
  if (options.failWhenNothingResolves === true && selection.sites.length === 0) {
    throw new ServiceError('svc_site_not_found', 'None of the named sites can be used.', {
      field: 'site_ids_or_domains',
      advice: 'data.errors has the reason for each; find the right ids with list-sites-v1.',
      data: { errors: selection.errors },
    });
  }
  return selection;
}

/** The job that finishes the sites a direct call had no time for. */
export type ContinuedJob = Pick<QueuedAnswer, 'job_id' | 'status_url' | 'sites_queued'> & {
  /** The run of updates that the job belongs to; absent = none. */
  run_id?: string | undefined;
};

export type SitesAnswer<R> = QueuedAnswer | ({ queued: false; continued?: ContinuedJob } & SitesResult<R>);

/** Runs the handler now on a small selection, as `runNow`, or queues a job above the threshold (operations §6). */
export async function runOrQueue<P extends object, R>(
  ctx: Ctx,
  handler: JobHandler<P, R>,
  selection: Selection,
  params: P,
): Promise<SitesAnswer<R>> {
  if (selection.sites.length > (await batchThreshold(ctx))) return queueJob(ctx, handler.type, selection, params);
  return { queued: false, ...(await runNow(ctx, handler, selection.sites, params)) };
}

/** As `runOrQueue`; done now, the answer also has the sites on which it was done, and the errors of the others. */
export async function answerOnSites<R>(ctx: Ctx, handler: JobHandler<NoParams, R>, selection: Selection) {
  const answer = await runOrQueue(ctx, handler, selection, NO_PARAMS);
  if (answer.queued) return answer;
  const errors = errorEntries(selection, answer.failures);
  const sites = answer.done.map(({ target }) => target.site);
  return { ...answer, ...answer.continued, sites, errors, total_errors: errors.length };
}

/**
 * Runs the handler now. Sites that are unfinished when a direct call runs out of time continue as a job, which reads
 * the state of each before it repeats anything. The same call made again while that job runs finds it, and starts
 * nothing.
 */
export async function runNow<P extends object, R>(
  ctx: Ctx,
  handler: JobHandler<P, R>,
  sites: readonly SiteRow[],
  params: P,
): Promise<SitesResult<R> & { continued?: ContinuedJob }> {
  const under = await ctx.store.jobs.continuing(
    handler.type,
    params,
    sites.map((site) => site.id),
  );
  const free = sites.filter((site) => !under.has(site.id));
  const result = await runOnSites(ctx, handler, free, params);
  const job =
    result.unfinished.length === 0
      ? undefined
      : await queueJob(ctx, handler.type, { sites: result.unfinished, errors: [] }, params, {
          begun: true,
          before: itemsBefore(handler, result),
          work: result.begun,
        });
  const unfinished = new Set(result.unfinished.map((site) => site.id));
  const failures = new Map(result.failures.map((failure) => [failure.site.id, failure]));
  for (const site of sites) {
    const at = unfinished.has(site.id) ? job && { id: job.job_id, run_id: ctx.run_id } : under.get(site.id);
    if (at !== undefined) failures.set(site.id, { site, error: stillRunning(site, namedJob(ctx, at)) });
  }
  return {
    ...result,
    failures: sites.flatMap((site) => failures.get(site.id) ?? []),
    ...continuedBy(ctx, job, under),
  };
}

/** What a timed-out call has done on the sites that continue as a job. */
function itemsBefore<P, R>(handler: JobHandler<P, R>, { done, unfinished }: SitesResult<R>) {
  const ids = new Set(unfinished.map(({ id }) => id));
  const parts = done.filter(({ target }) => ids.has(target.site.id));
  return new Map(parts.map(({ target, result }) => [target.site.id, handler.outcomeOf?.(result).items ?? []]));
}

/** The job that a call refers to: the one it started, otherwise one that was already running. */
function continuedBy(
  ctx: Ctx,
  started: QueuedAnswer | undefined,
  under: ReadonlyMap<number, JobAtWork>,
): { continued?: ContinuedJob } {
  const [found] = under.values();
  const at = started === undefined ? found : { id: started.job_id, run_id: ctx.run_id };
  if (at === undefined) return {};
  const sites_queued = started?.sites_queued ?? [...under.values()].filter(({ id }) => id === at.id).length;
  return { continued: { ...namedJob(ctx, at), sites_queued } };
}

function namedJob(ctx: Ctx, { id, run_id }: JobAtWork): Omit<ContinuedJob, 'sites_queued'> {
  return { job_id: id, status_url: statusUrl(ctx, id), ...(run_id === '' ? {} : { run_id }) };
}

/** The outcome of a call on one site: its result, part of it, or nothing yet. */
export interface OneResult<R> {
  result: R;
  /** The rest continues as this job. */
  continued?: ContinuedJob;
  unfinished?: ServiceError;
}

/**
 * Runs the handler on one site, within the time of a direct call; the rest continues as a job.
 * @throws what the handler throws, and `svc_still_running` if time ran out before there was any partial result
 */
export async function runOnOne<P extends object, R>(
  ctx: Ctx,
  handler: JobHandler<P, R>,
  site: SiteRow,
  params: P,
): Promise<OneResult<R>> {
  const { done, failures, continued } = await runNow(ctx, handler, [site], params);
  const [first] = done;
  const [failure] = failures;
  if (first === undefined) throw failure?.error ?? stillRunning(site);
  return {
    result: first.result,
    ...(continued === undefined ? {} : { continued }),
    ...(failure === undefined ? {} : { unfinished: failure.error }),
  };
}

/** Error entries of a multi-site answer: references that resolved to no site, then sites on which the work failed. */
export function errorEntries(
  selection: Selection,
  failures: readonly { site: SiteRow; error: { code: string; message: string } }[],
): ResolveError[] {
  return [
    ...selection.errors,
    ...failures.map(({ site, error }) => ({
      identifier: selection.identifiers.get(site.id) ?? site.id,
      site_id: site.id,
      code: error.code,
      message: error.message,
    })),
  ];
}

export const NO_PARAMS: NoParams = {};
