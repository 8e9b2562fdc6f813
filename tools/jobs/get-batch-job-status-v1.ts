import { paging } from '../../schemas/common.js';
import { jobId, jobStatus as status } from '../../schemas/job.js';
import { z } from '../../schemas/zod.js';
import { jobStatus } from '../../src/domain/actions/jobs.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-batch-job-status-v1',
  title: "Read a job's status",
  about: "Reads a job's progress and results. Poll every 30 s.",
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      job_id: jobId(),
      ...paging(50, 200),
    }),

  output: status,

  handle: ({ job_id, page, per_page }, ctx) => jobStatus(ctx, job_id, page, per_page),
});
