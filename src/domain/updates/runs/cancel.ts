/** Cancels a job, or a run of updates: the job that does it, or the call that is at work. */

import { ServiceError } from '../../../runtime/errors.js';
import { type Cancellation, cancellation, cancelWithSites, previewCancel } from '../../actions/jobs.js';
import type { Ctx } from '../../context.js';
import { isRunning, knownRun } from './runs.js';
import { countsOf, type Standing, standingOf } from './standing.js';

/** Either is given, and not both. */
interface Which {
  job_id?: string | undefined;
  run_id?: string | undefined;
}

/** What a cancellation would leave undone. Throws as `cancel`. */
export async function previewCancelled(ctx: Ctx, which: Which): Promise<Cancellation> {
  const { job_id, run_id } = await chosen(ctx, which);
  if (job_id !== null) return jobView(ctx, await previewCancel(ctx, job_id));
  return { ...(await viewOf(ctx, run_id)), cancelled: false, dry_run: true };
}

/**
 * Ends a job or a run; what it did stays.
 * @throws ServiceError `svc_invalid_input` without exactly one of both, `svc_job_not_found`, `svc_run_not_found`, and
 * `svc_rest_conflict` if it has ended, or if a call of another process does the run
 */
export async function cancel(ctx: Ctx, which: Which): Promise<Cancellation> {
  const { job_id, run_id } = await chosen(ctx, which);
  if (job_id !== null) return jobView(ctx, await cancelWithSites(ctx, job_id));
  if (!(await ctx.calls.cancel(run_id))) throw elsewhere(ctx);
  return { ...(await viewOf(ctx, run_id)), cancelled: true };
}

/** The job to end, or the run if a call does it. */
async function chosen(
  ctx: Ctx,
  { job_id, run_id }: Which,
): Promise<{ job_id: string; run_id: string | undefined } | { job_id: null; run_id: string }> {
  if ((job_id === undefined) === (run_id === undefined))
    throw new ServiceError('svc_invalid_input', 'Exactly one of job_id and run_id is needed.', {
      field: job_id === undefined ? 'job_id' : 'run_id',
      advice: 'A queued answer has the job_id; list-runs-v1 has the run_id of updates.',
    });
  if (job_id !== undefined) return { job_id, run_id: undefined };
  const run = await knownRun(ctx, run_id ?? '');
  if (isRunning(run)) return { job_id: run.job_id, run_id: run.id };
  throw new ServiceError('svc_rest_conflict', 'The run has ended.', {
    field: 'run_id',
    advice: 'There is nothing left to cancel. undo-change-v1 restores what it replaced.',
  });
}

function elsewhere({ config }: Ctx): ServiceError {
  const seconds = Math.ceil(config.direct_call_ms / 1000);
  return new ServiceError('svc_rest_conflict', 'A call in another process is doing the run.', {
    field: 'run_id',
    advice: `Within ${seconds} seconds it ends or continues as a job: read it with get-run-v1, then cancel that.`,
  });
}

async function viewOf(ctx: Ctx, id: string): Promise<Omit<Cancellation, 'cancelled'>> {
  return ofRun({ job_id: null, type: 'update' }, id, await standingOf(ctx, await knownRun(ctx, id)));
}

/** What a job came to, or would: of a run as its own records have it, by which get-run goes, too. */
async function jobView(
  ctx: Ctx,
  { unfinished, ...job }: Cancellation & { unfinished: { started: readonly number[]; waiting: readonly number[] } },
): Promise<Cancellation> {
  const run = job.run_id === undefined ? undefined : await ctx.store.updateRuns.find(job.run_id);
  return run === undefined ? job : { ...job, ...ofRun(job, run.id, await standingOf(ctx, run, unfinished)) };
}

function ofRun(
  { job_id, type }: Pick<Cancellation, 'job_id' | 'type'>,
  run_id: string,
  standing: Standing,
): Omit<Cancellation, 'cancelled'> {
  const { succeeded, failed, not_begun: count } = countsOf(standing);
  const open = { started: standing.still_working, waiting: standing.not_begun };
  const view = cancellation({ job_id, type, total: standing.total, succeeded, failed }, open);
  return { ...view, not_begun: { ...view.not_begun, count }, run_id };
}
