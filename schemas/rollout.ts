/** Schemas of plans of updates, and of the rollouts that carry them out. */

import { once } from '../src/runtime/once.js';
import { needsApproval } from './approval.js';
import { bool, called, int, list, paged, siteRefs, timestamp, token } from './common.js';
import { guidanceLines } from './guidance.js';
import { RUN_ITEM_STATES } from './run.js';
import { protection } from './safety.js';
import { idList, LEVELS, levels, listOrOne } from './search.js';
import { updateTypes } from './update.js';
import { z } from './zod.js';

export const ROLLOUT_STATES = ['running', 'paused', 'completed', 'halted', 'aborted'] as const;
export const WAVE_STATES = ['waiting', 'running', 'soaking', 'done'] as const;
/** Of a rollout that has ended, also what did not come to its end, or never began. */
const SHOWN_WAVE_STATES = [...WAVE_STATES, 'stopped', 'not_begun'] as const;
/** Of a run's item, or: its site was not touched. */
export const ROLLOUT_ITEM_STATES = ['untouched', ...RUN_ITEM_STATES] as const;
export const ROLLOUT_ACTIONS = ['pause', 'resume', 'abort', 'approve_next_wave'] as const;
export const RISKS = [
  'major',
  'site_down',
  'no_guard',
  'no_roll_back',
  'quarantined_elsewhere',
  'quarantined_before',
  'not_in_first_wave',
  'guidance',
] as const;

/** By what canaries are chosen, if not so that they try every version. */
export const CANARY_CHOICES = ['newest_backup', 'least_traffic'] as const;

/** Maximum number of waves, and minutes between two. */
export const MOST_WAVES = 20;
const MOST_SOAK = 20_160;

export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export const timeOfDay = () => z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 02:00');

export const weekdays = () => listOrOne(z.enum(WEEKDAYS)).default([]).describe('Empty = all.');

/** Which updates, in which waves, and when to stop. */
export const planInput = once(() => ({
  site_ids_or_domains: siteRefs('Empty = all.').default([]),
  types: updateTypes(),
  slugs: listOrOne(called()).default([]).describe('Empty = all.'),
  exclude_slugs: listOrOne(called()).default([]).describe('Left out.'),
  tag_ids: idList().describe('With any of these.'),
  client_ids: idList().describe('Of any of these.'),
  exclude_sites: siteRefs('Left out.').default([]),
  exclude_tag_ids: idList().describe('Left out.'),
  exclude_client_ids: idList().describe('Left out.'),
  level: levels().describe('Size of the step.'),
  minimum_age_days: int(0, 365).default(0).describe('Since first offered; unknown = too young.'),
  only_vulnerable: bool().default(false).describe('Only fixes for known vulnerabilities.'),
  waves: z
    .object({
      canaries: int(1, 1000).optional().describe('Sites in wave 1.'),
      canary_choice: z.enum(CANARY_CHOICES).optional().describe('Default: so that every version is tried.'),
      canary_tag_ids: idList(),
      canary_sites: siteRefs('Wave 1 is chosen from these.').default([]),
      sizes: list(int(1, 100_000)).default([]).describe('Sites of wave 2, 3 …; then the rest.'),
      soak_minutes: int(0, MOST_SOAK).default(60).describe('Between waves.'),
      approve: bool().default(false).describe('Each wave waits for approval.'),
      halt_sites: int(1, 1000).default(3).describe('Halts when this many sites broke or are down,'),
      halt_percent: int(1, 100).default(20).describe('or updates failed on this share of a wave.'),
    })
    .strict()
    .default({})
    .describe('Default: a few canaries, 10 %, 30 %, the rest.'),
  window: z
    .object({ days: weekdays(), from: timeOfDay(), to: timeOfDay() })
    .strict()
    .optional()
    .describe("In each site's time zone."),
}));

const count = () => z.number().int();
const updateWord = () => z.enum(['core', 'plugin', 'theme', 'translation']);

const protectionTally = () =>
  z
    .object({ guard: count(), reinstall: count(), none: count() })
    .describe('Updates by protection; they add up to all.');
const riskTally = () => z.array(z.object({ risk: z.enum(RISKS), updates: count(), sites: count() }));

export const planShape = once(() =>
  z.object({
    plan_id: z.string(),
    digest: z.string(),
    expires_at: timestamp(),
    summary: z.string().describe('For people.'),
    needs_approval: needsApproval(),
    guidance: guidanceLines(),
    sites: count(),
    updates: count(),
    items: z.array(
      z.object({
        wave: count(),
        site_id: count(),
        type: updateWord(),
        slug: z.string(),
        old_version: z.string(),
        new_version: z.string(),
        level: z.enum(LEVELS).nullable(),
        protection: protection().describe(
          'reinstall = only if wordpress.org has the old version and WordPress still starts.',
        ),
        risks: z.array(z.enum(RISKS)),
      }),
    ),
    waves: z.array(z.object({ wave: count(), sites: count(), updates: count() })),
    by_item: z.array(
      z.object({
        type: updateWord(),
        slug: z.string(),
        new_version: z.string(),
        sites: count(),
        age_days: z.number().nullable(),
      }),
    ),
    more_items: count().describe('Items not in by_item.'),
    protection: protectionTally(),
    cannot_be_rolled_back: count().describe('Updates that neither a guard nor reinstalling can roll back.'),
    only_reinstallable: count().describe('No guard; only if wordpress.org has the old version.'),
    risks: riskTally(),
    left_out: z.array(z.object({ reason: z.string(), updates: count(), sites: count(), site_ids: z.array(count()) })),
    ...paged(),
  }),
);

/** What a plan would say that is not kept, and so cannot be started. */
export const previewShape = once(() =>
  planShape().omit({
    ...{ plan_id: true, digest: true, expires_at: true, needs_approval: true },
    ...{ items: true, total: true, page: true, per_page: true },
  }),
);

/** A plan that was made and not started. */
export const waitingPlan = once(() =>
  planShape()
    .pick({ plan_id: true, digest: true, expires_at: true, sites: true, updates: true, waves: true, more_items: true })
    .extend({
      made_by: z.string(),
      made_at: timestamp(),
      summary: z.string().describe('Its waves, and when it halts.'),
      by_item: z.array(planShape().shape.by_item.element.omit({ age_days: true })).describe('The most common items.'),
    }),
);

const counts = once(() =>
  z
    .object(Object.fromEntries(ROLLOUT_ITEM_STATES.map((state) => [state, count().optional()])))
    .describe('Updates by state.'),
);

export const rolloutId = () => token(100).describe('From start-rollout-v1 or list-rollouts-v1.');

export const rolloutEntry = once(() =>
  z.object({
    rollout_id: z.string(),
    plan_id: z.string(),
    digest: z.string(),
    state: z.enum(ROLLOUT_STATES),
    reason: z.string(),
    by: z.string(),
    started_at: timestamp(),
    ended_at: timestamp().nullable(),
    summary: z.string().describe('What it did, rolled back and never touched.'),
    counts: counts(),
    approval_wave: count().nullable().describe('The wave that is waiting for approval.'),
  }),
);

export const rolloutShape = once(() =>
  rolloutEntry().extend({
    next: z.string().describe('What it is waiting for.'),
    items: z.array(
      z.object({
        wave: count(),
        site_id: count(),
        site_url: z.string().nullable(),
        site_name: z.string().nullable(),
        type: updateWord(),
        slug: z.string(),
        old_version: z.string(),
        new_version: z.string(),
        state: z.enum(ROLLOUT_ITEM_STATES),
        code: z.string().optional(),
        message: z.string().optional(),
        run_id: z.string().nullable(),
        change_id: z.string().nullable(),
      }),
    ),
    waves: z.array(
      z.object({
        wave: count(),
        state: z.enum(SHOWN_WAVE_STATES),
        sites: count(),
        updates: count(),
        counts: counts(),
        started_at: timestamp().nullable(),
        soak_until: timestamp().nullable(),
        approved_by: z.string().nullable(),
        run_ids: z.array(z.string()).describe('The first 5.'),
      }),
    ),
    halted_items: z.array(
      z.object({ type: updateWord(), slug: z.string(), version: z.string(), site_id: count(), at: timestamp() }),
    ),
    ...paged(),
  }),
);

/** The answer of a start. */
export const startShape = once(() =>
  z.object({
    rollout_id: z.string().optional(),
    dry_run: z.boolean().optional(),
    already_started: z.boolean(),
    state: z.enum(ROLLOUT_STATES).optional(),
    summary: z.string(),
    waves: count(),
    sites: count(),
    updates: count(),
    protection: protectionTally().optional(),
    risks: riskTally().optional().describe('As they are now.'),
    unguarded_sites: count().optional().describe('Without a guard.'),
    guidance: guidanceLines(),
  }),
);
