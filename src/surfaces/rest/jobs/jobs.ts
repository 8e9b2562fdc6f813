/** Routes of jobs: list, status (the `status_url` of every queued answer, operations §7.3) and cancellation. */

import { JOB_ID, jobStatus as jobStatusShape } from '../../../../schemas/job.js';
import { z } from '../../../../schemas/zod.js';
import { cancelJob, jobStatus } from '../../../domain/actions/jobs.js';
import { listJobs } from '../../../domain/actions/list.js';
import { ServiceError } from '../../../runtime/errors.js';
import { once } from '../../../runtime/once.js';
import { flag, paging } from '../params.js';
import { listRoute, type Route, type RouteAnswer, route } from '../route.js';
import { jobEntryShape } from '../schemas/fleet.js';
import { listOf } from '../schemas/records.js';

/** Recommended seconds between two polls: a chunk takes about that long. */
const POLL_S = 30;

/** `total` counts sites; the pages are pages of items. */
const shown = once(() =>
  jobStatusShape().extend({ pages: z.number().int().optional().describe('Page of the items.') }),
);

function withPages<T extends z.output<ReturnType<typeof jobStatusShape>>>(job: T): T & { pages?: number } {
  const { items_total, per_page } = job;
  if (items_total === undefined || per_page === undefined) return job;
  return { ...job, pages: Math.ceil(items_total / per_page) };
}

function countsOfItems({ items_total }: RouteAnswer): Record<string, string> {
  return items_total === undefined ? {} : { 'X-Total': String(items_total), 'X-WP-Total': String(items_total) };
}

export const jobs: readonly Route[] = [
  listRoute({
    on: 'GET /jobs',
    summary: 'List jobs, newest first',
    description:
      'Kept for 24 hours after the job ends. Runs of tools are included; read their status under /settings/tools.',
    params: () =>
      z.object({ open: flag().default(false).describe('Only those that have not ended.'), ...paging(20, 100) }),
    returns: () => listOf(jobEntryShape()).extend({ running: z.number().int().describe('Jobs that have not ended.') }),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    list: ({ open, page, per_page }, ctx) => listJobs(ctx, open, page, per_page),
  }),
  route({
    on: 'GET /jobs/{job_id}',
    login: 'either',
    summary: "Read a job's progress",
    description:
      'The fields are at the top level beside success, as in the operation. Results per item are paged. Kept for 24 hours after the job ends.',
    params: () =>
      z.object({ job_id: z.string().max(100).describe('As given in a queued answer.'), ...paging(50, 200) }),
    returns: shown,
    headers: ({ status, ...job }) => ({
      ...countsOfItems(job),
      'Cache-Control': 'no-store',
      ...(status === 'queued' || status === 'processing' ? { 'Retry-After': String(POLL_S) } : {}),
    }),
    answer: async ({ job_id, page, per_page }, ctx) => {
      requireJobId(job_id);
      return { ...withPages(await jobStatus(ctx, job_id, page, per_page)) };
    },
  }),
  route({
    on: 'POST /jobs/{job_id}/cancel',
    change: 'other',
    summary: 'Cancel a job',
    description:
      'Work already done stays done. Unfinished sites are listed in `errors` with `svc_cancelled`; one in progress may still finish. 409 for a job that has ended.',
    params: () => z.object({ job_id: z.string().max(100).describe('As given in a queued answer.') }),
    returns: () => shown().extend({ message: z.string() }),
    headers: countsOfItems,
    answer: async ({ job_id }, ctx) => {
      requireJobId(job_id);
      return { message: 'The job was cancelled.', ...withPages(await cancelJob(ctx, job_id)) };
    },
  }),
];

function requireJobId(id: string): void {
  if (JOB_ID.test(id)) return;
  throw new ServiceError('svc_invalid_job_id', 'This is not a valid job id.', {
    field: 'job_id',
    advice: 'Use the job_id from a queued answer.',
  });
}
