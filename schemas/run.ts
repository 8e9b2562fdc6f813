/** Schemas of runs of updates. */

import { once } from '../src/runtime/once.js';
import { timestamp } from './common.js';
import { protection } from './safety.js';
import { z } from './zod.js';

const count = () => z.number().int().optional();

/** How an item of a run stands. */
export const RUN_ITEM_STATES = [
  'queued',
  'updating',
  'checking',
  'kept',
  'rolled_back',
  'failed',
  'skipped',
  'unknown',
] as const;

/** How a site of a run stands. */
const SITE_STATES = ['succeeded', 'failed', 'still_working', 'not_begun'] as const;

/** What a list of runs can be narrowed to: by the run, or by what became of any of its items. */
export const RUN_STATES = ['running', 'ended', 'failed', 'rolled_back', 'unknown'] as const;

/** A run without its items. */
export const runEntry = once(() =>
  z.object({
    run_id: z.string(),
    state: z.enum(['running', 'ended']),
    started_at: timestamp(),
    ended_at: timestamp().nullable(),
    by: z.string(),
    via: z.string(),
    operation: z.string(),
    job_id: z.string().nullable(),
    types: z.array(z.string()).describe('Types asked for, as in items; empty = all.'),
    specific_items: z.array(z.string()).describe('The first 20; empty = all.'),
    sites: z.number().int().describe('How many were asked for.'),
    waiting_sites: count().describe('Not started yet.'),
    counts: z
      .object({
        queued: count(),
        updating: count(),
        checking: count(),
        kept: count(),
        rolled_back: count(),
        failed: count(),
        skipped: count(),
        unknown: count(),
      })
      .describe('Items by state.'),
    by_site: z
      .object(
        Object.fromEntries(SITE_STATES.map((state) => [state, z.number().int()])) as Record<
          (typeof SITE_STATES)[number],
          z.ZodNumber
        >,
      )
      .optional()
      .describe('Sites; still_working may finish after the run was ended.'),
    reason: z.string().optional().describe('Of the worst item that was not kept.'),
  }),
);

export const runItem = once(() =>
  z.object({
    site_id: z.number().int(),
    site_url: z.string().nullable(),
    site_name: z.string().nullable(),
    type: z.enum(['core', 'plugin', 'theme', 'translation', 'site']),
    slug: z.string(),
    name: z.string(),
    state: z.enum(RUN_ITEM_STATES),
    old_version: z.string(),
    new_version: z.string(),
    protection: protection(),
    change_id: z.string(),
    backup_id: z.string().optional(),
    can_roll_back: z.boolean(),
    cannot_roll_back_because: z.string().optional(),
    code: z.string().optional(),
    message: z.string().optional(),
    evidence: z.array(z.string()).optional(),
    rolled_back_by: z.string().optional(),
    restored_after_ms: count(),
    finished_at: timestamp().nullable(),
  }),
);

/** An item as the page of its run shows it. */
export const shownRunItem = once(() =>
  runItem().extend({
    restoring: z.boolean().optional().describe('It broke its site and is being rolled back.'),
  }),
);

/** What a run came to, in a sentence. */
export const runResult = once(() =>
  z.object({
    kept_sites: z.number().int(),
    suspects: z.number().int().describe('Kept items after which their site may have a problem; see their evidence.'),
    broke: z.number().int().describe('Items that broke their site and were rolled back.'),
    worst: z
      .object({
        site_id: z.number().int(),
        site_name: z.string().nullable(),
        name: z.string(),
        new_version: z.string(),
        restored_after_ms: z.number().int(),
      })
      .nullable()
      .describe('Of those, the one whose site was broken the longest.'),
  }),
);
