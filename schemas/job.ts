/** Schemas of jobs. */

import { z } from './zod.js';

/** Body of a job's status, on the operation and on `status_url` alike (operations §7.3). */
/** Kinds of queued work; `src/domain/jobs/handlers.ts` has a handler for each. */
export const JOB_TYPES = ['sync', 'update', 'reconnect', 'disconnect', 'check', 'suspend', 'unsuspend'] as const;
export type JobType = (typeof JOB_TYPES)[number];

export const jobStatus = z.object({
  job_id: z.string(),
  type: z.enum(JOB_TYPES),
  status: z.enum(['queued', 'processing', 'completed', 'failed']),
  progress: z.number().int().min(0).max(100),
  processed: z.number().int(),
  total: z.number().int(),
  succeeded: z.number().int(),
  failed: z.number().int(),
  started_at: z.string().nullable(),
  completed_at: z.string().nullable(),
  errors: z.array(z.object({ site_id: z.number().int(), code: z.string(), message: z.string() })),
  job_timed_out: z.boolean(),
  job_error_code: z.string().optional(),
  job_error_message: z.string().optional(),
});
