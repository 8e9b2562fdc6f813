/** Schemas of jobs. */

import { once } from '../src/runtime/once.js';
import { runSummary } from './update.js';
import { z } from './zod.js';

/** Kinds of queued work; `src/domain/actions/handlers.ts` has a handler for each. */
export const JOB_TYPES = [
  'sync',
  'update',
  'reconnect',
  'disconnect',
  'check',
  'suspend',
  'unsuspend',
  'extension',
  'undo',
  'backup',
  'restore',
] as const;
export type JobType = (typeof JOB_TYPES)[number];

/** How the id of such a job begins. */
export const JOB_ID = new RegExp(`^(${JOB_TYPES.join('|')})_`);

/** A job, by its id. */
export const jobId = () =>
  z
    .string()
    .max(64)
    .regex(JOB_ID, 'must be the job_id of a queued answer, such as sync_…')
    .describe('From a queued answer.');

const count = () => z.number().int();
const someSites = () => z.object({ count: count(), first: z.array(count()) });

/** What a cancellation left, or would leave, undone. */
export const cancelled = once(() =>
  z.object({
    cancelled: z.boolean(),
    dry_run: z.boolean().optional().describe('True for a preview.'),
    job_id: z.string().nullable().describe('Null: a call did the run.'),
    run_id: z.string().optional(),
    type: z.enum(JOB_TYPES),
    total: count(),
    succeeded: count(),
    failed: count().describe('Without those that are cancelled.'),
    in_progress: someSites().describe('May still finish.'),
    not_begun: someSites().describe('Not done.'),
    next: z.string().optional().describe('Shows what became of those in progress.'),
  }),
);

/** Tools that work on all sites in the background; their status is read where they are started. */
export const TOOL_JOB_TYPES = ['destroy_sessions', 'renew_connections', 'disconnect_all_sites'] as const;
export type ToolJobType = (typeof TOOL_JOB_TYPES)[number];

/** What a job did on a site, or failed to do, in which case it has `code` and `message`. */
const jobItem = once(() =>
  z.object({
    site_id: z.number().int(),
    type: z.enum(['core', 'plugin', 'theme', 'translation', 'site']).optional().describe('Updates only.'),
    slug: z.string().optional(),
    field: z.string().optional(),
    name: z.string().optional(),
    old_version: z.string().optional(),
    new_version: z.string().optional(),
    change_id: z.string().optional(),
    findings: z.array(z.string()).optional().describe('Kept, but suspect: why.'),
    checked: z.array(z.string()).optional().describe('Pages looked at after it.'),
    code: z.string().optional(),
    message: z.string().optional(),
    reachable: z.boolean().optional().describe('Checks only, like the next two.'),
    http_status: z.number().int().optional(),
    response_time_ms: z.number().int().optional(),
  }),
);

/** The body of a job's status, for the operation and for `status_url` alike (operations §7.3). */
export const jobStatus = once(() =>
  z.object({
    job_id: z.string(),
    run_id: z.string().optional(),
    type: z.enum(JOB_TYPES),
    status: z.enum(['queued', 'processing', 'completed', 'failed']),
    progress: z.number().int().min(0).max(100),
    in_progress: z
      .object({ sites: z.number().int(), items_done: z.number().int(), items_total: z.number().int() })
      .optional()
      .describe('Updates under way.'),
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
    summary: runSummary().optional().describe('Update jobs only.'),
    items: z.array(jobItem()).optional().describe('One page of results, item by item.'),
    items_total: z.number().int().optional(),
    page: z.number().int().optional(),
    per_page: z.number().int().optional(),
  }),
);
