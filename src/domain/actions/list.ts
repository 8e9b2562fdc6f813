/** The list of running and ended jobs, including those of the tools. */

import type { Origin } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { ListedJob } from '../../store/jobs/jobs.js';
import type { Ctx } from '../context.js';

function entryOf(job: ListedJob) {
  const origin = job.origin === '' ? null : (JSON.parse(job.origin) as Origin);
  return {
    job_id: job.id,
    type: job.type,
    status: job.status,
    processed: job.succeeded + job.failed,
    total: job.total,
    succeeded: job.succeeded,
    failed: job.failed,
    // Who queued it; null = the service itself.
    by: origin === null ? null : origin.name,
    queued_at: isoTime(job.created_at),
    started_at: isoTime(job.started_at),
    completed_at: isoTime(job.completed_at),
  };
}

/** One page, newest first. @param open only those that have not ended */
export async function listJobs(ctx: Ctx, open: boolean, page: number, perPage: number) {
  const { items, total, running } = await ctx.store.jobs.page(open, page, perPage);
  return { items: items.map(entryOf), total, running };
}
