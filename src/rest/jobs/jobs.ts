/** The route of a job's status, at the `status_url` of every queued answer (operations §7.3). */

import { jobStatus as jobStatusShape } from '../../../schemas/job.js';
import { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../core/errors.js';
import { isJobId, jobStatus } from '../../domain/jobs/jobs.js';
import { paging } from '../params.js';
import { type Route, route } from '../route.js';

/** Seconds between two looks that make sense: a chunk takes about that long. */
const POLL_S = 30;

export const jobs: readonly Route[] = [
  route({
    on: 'GET',
    path: '/jobs/{job_id}',
    needs: 'read',
    login: 'either',
    summary: 'Read how far a job is',
    description:
      'Its members stand beside success, as the operation answers them. What was done item by item comes by page. Kept for 24 hours after the job ended.',
    params: z.object({ job_id: z.string().max(100).describe('As queued answers name it.'), ...paging(50, 200) }),
    returns: jobStatusShape,
    headers: ({ status }) => ({
      'Cache-Control': 'no-store',
      ...(status === 'queued' || status === 'processing' ? { 'Retry-After': String(POLL_S) } : {}),
    }),
    answer: async ({ job_id, page, per_page }, ctx) => {
      if (!isJobId(job_id)) {
        throw new ServiceError('svc_invalid_job_id', 'This is not the id of a job.', {
          field: 'job_id',
          advice: 'Use the job_id of a queued answer.',
        });
      }
      return { ...(await jobStatus(ctx, job_id, page, per_page)) };
    },
  }),
];
