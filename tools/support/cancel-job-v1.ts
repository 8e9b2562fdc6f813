import { confirmation, token } from '../../schemas/common.js';
import { cancelled, jobId } from '../../schemas/job.js';
import { z } from '../../schemas/zod.js';
import { counted, sentences } from '../../src/domain/common/question.js';
import { cancel, previewCancelled } from '../../src/domain/updates/runs/cancel.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/cancel-job-v1',
  title: 'Cancel a job or a run',
  about:
    'Ends a job or a run of updates. Sites not started are left alone; one in progress may still finish. What was done stays.',
  effect: 'destroy',
  change: 'other',
  idempotent: false,

  input: () =>
    z.object({
      job_id: jobId().optional(),
      run_id: token(100).optional().describe('Or a run of updates, from list-runs-v1.'),
      ...confirmation(),
    }),

  output: cancelled,

  question: ({ type, total, succeeded, failed, in_progress, not_begun }) => ({
    text: sentences(
      `End the ${type === 'update' ? 'updates' : `${type} job`}? Of ${counted(total, 'site')} ${succeeded} done, ${failed} failed, ${not_begun.count} not started: these are left as they are.`,
      in_progress.count > 0 && `${in_progress.count} in progress may still finish.`,
    ),
  }),

  preview: (input, ctx) => previewCancelled(ctx, input),
  handle: (input, ctx) => cancel(ctx, input),
});
