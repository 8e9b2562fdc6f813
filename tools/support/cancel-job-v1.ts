import { confirmation } from '../../schemas/common.js';
import { JOB_TYPES, jobId } from '../../schemas/job.js';
import { z } from '../../schemas/zod.js';
import { cancelWithSites, previewCancel } from '../../src/domain/actions/jobs.js';
import { counted, sentences } from '../../src/domain/common/question.js';
import { defineOperation } from '../../src/operation/operation.js';

const count = () => z.number().int();
const sites = () => z.object({ count: count(), first: z.array(count()) });

export default defineOperation({
  id: 'svc/cancel-job-v1',
  title: 'Cancel a job',
  about:
    'Ends a job: sites whose turn has not come are left alone, one in progress may still finish. What was done stays.',
  effect: 'destroy',
  change: 'other',
  idempotent: false,

  input: () => z.object({ job_id: jobId(), ...confirmation() }),

  output: () =>
    z.object({
      cancelled: z.boolean(),
      dry_run: z.boolean().optional().describe('True for a preview.'),
      job_id: z.string(),
      type: z.enum(JOB_TYPES),
      total: count(),
      succeeded: count(),
      failed: count().describe('Without those that are cancelled.'),
      in_progress: sites().describe('May still finish.'),
      not_begun: sites().describe('Not done.'),
      next: z.string().optional().describe('Shows what became of those in progress.'),
    }),

  question: ({ type, total, succeeded, failed, in_progress, not_begun }) => ({
    text: sentences(
      `End the ${type} job? Of ${counted(total, 'site')} ${succeeded} done, ${failed} failed, ${not_begun.count} not begun: these are left as they are.`,
      in_progress.count > 0 && `${in_progress.count} at work may still finish.`,
    ),
  }),

  preview: ({ job_id }, ctx) => previewCancel(ctx, job_id),

  handle: ({ job_id }, ctx) => cancelWithSites(ctx, job_id),
});
