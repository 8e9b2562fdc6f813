/** Cancels a job, or a run of updates: the job that does it, or the call that is at work. */

import { ServiceError } from '../../../runtime/errors.js';
import { type Cancellation, cancellation, cancelWithSites, previewCancel } from '../../actions/jobs.js';
import type { Ctx } from '../../context.js';
import { finishAbandonedRuns } from './abandoned.js';
import { isRunning, knownRun } from './runs.js';

/** Either is given, and not both. */
interface Which {
  job_id?: string | undefined;
  run_id?: string | undefined;
}

/** What a cancellation would leave undone. Throws as `cancel`. */
export async function previewCancelled(ctx: Ctx, which: Which): Promise<Cancellation> {
  const { job_id, run_id } = await chosen(ctx, which);
  if (job_id !== null) return { ...(await previewCancel(ctx, job_id)), run_id };
  return { ...(await viewOf(ctx, run_id)), cancelled: false, dry_run: true };
}

/**
 * Ends a job or a run; what it did stays.
 * @throws ServiceError `svc_invalid_input` without exactly one of both, `svc_job_not_found`, `svc_run_not_found`, and
 * `svc_rest_conflict` if it has ended, or if a call of another process does the run
 */
export async function cancel(ctx: Ctx, which: Which): Promise<Cancellation> {
  const { job_id, run_id } = await chosen(ctx, which);
  if (job_id !== null) return { ...(await cancelWithSites(ctx, job_id)), run_id };
  const before = await viewOf(ctx, run_id);
  if (!(await ctx.calls.cancel(run_id))) throw elsewhere(ctx);
  // Items whose turn had not come say so at once.
  await finishAbandonedRuns(ctx);
  return { ...before, succeeded: (await viewOf(ctx, run_id)).succeeded, cancelled: true };
}

/** The job to end, or the run if a call does it. */
async function chosen(
  ctx: Ctx,
  { job_id, run_id }: Which,
): Promise<{ job_id: string; run_id: string | undefined } | { job_id: null; run_id: string }> {
  if ((job_id === undefined) === (run_id === undefined))
    throw new ServiceError('svc_invalid_input', 'One of job_id and run_id is needed, and only one.', {
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
  return new ServiceError('svc_rest_conflict', 'A call of another process does the run.', {
    field: 'run_id',
    advice: `Within ${seconds} seconds it ends or continues as a job: read it with get-run-v1, then cancel that.`,
  });
}

async function viewOf(ctx: Ctx, id: string): Promise<Omit<Cancellation, 'cancelled'>> {
  const [run, sites] = await Promise.all([knownRun(ctx, id), ctx.store.updateRuns.sitesOf(id)]);
  const among = (state: (typeof sites)[number]['state']) =>
    sites.filter((site) => site.state === state).map(({ site_id }) => site_id);
  const counts = { total: run.sites, succeeded: among('done').length, failed: among('failed').length };
  const open = { started: among('started'), waiting: among('waiting') };
  return { ...cancellation({ job_id: null, type: 'update', ...counts }, open), run_id: id };
}
