/** Calls that update sites: each is a run, which the job that does or finishes its work belongs to. */

import { randomUUID } from 'node:crypto';
import { processId } from '../../../runtime/cluster/process-id.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { NewRun } from '../../../store/jobs/new-run.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import type { JobHandler } from '../../actions/handler.js';
import { type QueuedAnswer, queueJob } from '../../actions/jobs.js';
import { type OneResult, runNow, runOnOne, type SitesAnswer } from '../../actions/run-on-sites.js';
import { counted } from '../../common/question.js';
import { type Ctx, originOf } from '../../context.js';
import { batchThreshold } from '../../settings/effects.js';
import type { Selection } from '../../sites/resolve.js';
import type { UpdateParams } from '../params.js';
import type { ApplyResult } from '../results.js';
import { asApproved } from '../shown-offers.js';
import { finishAbandonedRuns } from './abandoned.js';
import { countsOf, standingOf } from './standing.js';

/** What was asked for, as a run keeps it: with the first items of a call that named some. */
export interface Asked extends UpdateParams {
  /** How many more it named. */
  items_left_out?: number;
}

/** Items that are kept of a call that named some. */
export const MOST_ITEMS = 20;

/** As `runOrQueue` of `actions/`; `run_id` is absent if there was no site to update. */
export async function runUpdatesOn<P extends UpdateParams, R extends ApplyResult>(
  ctx: Ctx,
  handler: JobHandler<P, R>,
  selection: Selection,
  params: P,
): Promise<SitesAnswer<R> & RunMember> {
  const { sites } = selection;
  const own = await asApproved(ctx, sites, params);
  if (sites.length > (await batchThreshold(ctx))) {
    return queueRun(ctx, handler, selection, own);
  }
  if (sites.length === 0) return { queued: false, ...(await runNow(ctx, handler, sites, own)) };
  return asRun(ctx, sites, own, async (run) => {
    return { queued: false as const, ...(await runNow(run, handler, sites, own)) };
  });
}

/** Queues a job that is a run: stored together, or not at all. */
export async function queueRun<P extends UpdateParams, R extends ApplyResult>(
  ctx: Ctx,
  handler: JobHandler<P, R>,
  selection: Parameters<typeof queueJob>[2],
  params: P,
): Promise<QueuedAnswer & RunMember> {
  const run = newRun(ctx, selection.sites.length, params);
  const queued = await queueJob({ ...ctx, run_id: run.id }, handler.type, selection, params, { run });
  return { ...queued, run_id: run.id };
}

/** As `runOnOne`. */
export async function updateOn<P extends UpdateParams, R extends ApplyResult>(
  ctx: Ctx,
  handler: JobHandler<P, R>,
  site: SiteRow,
  params: P,
): Promise<OneResult<R> & RunMember> {
  const own = await asApproved(ctx, [site], params);
  return asRun(ctx, [site], own, (run) => runOnOne(run, handler, site, own));
}

export interface RunMember {
  run_id?: string | undefined;
}

/** The member of an answer. */
export function runMember({ run_id }: { run_id?: string | undefined }): RunMember {
  return run_id === undefined ? {} : { run_id };
}

type Answer = { continued?: RunMember };

async function asRun<A extends object>(
  ctx: Ctx,
  sites: readonly Pick<SiteRow, 'id'>[],
  params: UpdateParams,
  work: (ctx: Ctx) => Promise<A>,
): Promise<A & { run_id: string }> {
  const { updateRuns } = ctx.store;
  const run = newRun(ctx, sites.length, params);
  const { id } = run;
  await updateRuns.begin(run);
  try {
    const answer: A & Answer = await ctx.calls.run(id, ctx.signal, (signal) =>
      work({ ...ctx, run_id: id, signal }).catch(async (error: unknown) => {
        throw error instanceof ServiceError && error.code === 'svc_cancelled'
          ? await stopped(ctx, run, sites, error)
          : error;
      }),
    );
    const other = answer.continued?.run_id ?? id;
    // The job of another run is at work on all of the sites.
    return { ...answer, run_id: other !== id && (await updateRuns.drop(id)) ? other : id };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const other = error.data.run_id ?? id;
    throw withRun(error, other === id || !(await updateRuns.drop(id)) ? id : other);
  } finally {
    await updateRuns.end(id, ctx.clock.now());
  }
}

/** The run was stopped: what was not sent is left out, and the call says the same of its sites as its run does. */
async function stopped(
  ctx: Ctx,
  run: NewRun,
  sites: readonly Pick<SiteRow, 'id'>[],
  { code, advice }: ServiceError,
): Promise<ServiceError> {
  await ctx.store.updateRuns.end(run.id, ctx.clock.now());
  await finishAbandonedRuns(ctx);
  const standing = await standingOf(ctx, run, { waiting: sites.map(({ id }) => id) });
  const { succeeded, failed, still_working, not_begun } = countsOf(standing);
  return new ServiceError(
    code,
    `The call was cancelled: of ${counted(sites.length, 'site')} ${succeeded} done, ${failed} failed, ${still_working} still working, ${not_begun} not begun.`,
    {
      ...(advice !== undefined && { advice }),
      data: {
        sites: {
          done: standing.succeeded,
          failed: standing.failed,
          still_working: standing.still_working,
          not_done: [...standing.still_working, ...standing.not_begun],
        },
      },
    },
  );
}

/** The same error, which says in what run more is known. */
function withRun(error: ServiceError, run_id: unknown): ServiceError {
  const { code, message, status, field, advice, data, cause } = error;
  const said = { ...(field !== undefined && { field }), ...(advice !== undefined && { advice }) };
  return new ServiceError(code, message, { status, ...said, data: { ...data, run_id }, cause });
}

const OWNER = processId();

/** An id that a caller may choose for a run. */
export const RUN_ID = /^run_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id for a run that the call is to make. Throws `svc_rest_conflict` if there is such a run. */
export async function unusedRun({ store }: Ctx, id: string): Promise<string> {
  if ((await store.updateRuns.find(id)) === undefined) return id;
  throw new ServiceError('svc_rest_conflict', 'There is a run with this id. Nothing was started.', {
    field: 'run_id',
    advice: 'Read it with get-run-v1, or choose another id.',
  });
}

function newRun(ctx: Ctx, sites: number, params: UpdateParams): NewRun {
  return {
    id: ctx.run_id || `run_${randomUUID()}`,
    started_at: ctx.clock.now(),
    owner: OWNER,
    actor: ctx.actor.name,
    origin: JSON.stringify(originOf(ctx)),
    asked: JSON.stringify(askedOf(params)),
    sites,
  };
}

function askedOf({ shown: _, ...params }: UpdateParams): Asked {
  const { specific_items: named } = params;
  const more = named.length - MOST_ITEMS;
  return { ...params, specific_items: named.slice(0, MOST_ITEMS), ...(more > 0 && { items_left_out: more }) };
}
