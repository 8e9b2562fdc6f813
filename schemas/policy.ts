/** Schemas of policies: which updates are planned at which time, and whether a person has to approve the plan. */

import { once } from '../src/runtime/once.js';
import { bool, called, int, lineText, list, paged, timestamp } from './common.js';
import { planInput, previewShape, timeOfDay, weekdays } from './rollout.js';
import { z } from './zod.js';

export const POLICY_SOURCES = ['person', 'settings'] as const;
export const POLICY_STATES = ['started', 'asked', 'nothing', 'failed', 'skipped', 'missed'] as const;

/** What a policy is made of: the filters, waves and window of a plan, and when and how it is carried out. */
export const policyFields = once(() => {
  const { window, ...filters } = planInput();
  return {
    name: lineText(100).refine((name) => name !== '', 'must not be blank'),
    enabled: bool().default(true),
    ...filters,
    vulnerable_at_once: bool().default(false).describe('Fixes for known vulnerabilities ignore minimum_age_days.'),
    window: window.unwrap().nullable().default(null).describe("In each site's time zone; null = all day."),
    approval: z.enum(['auto', 'ask']).default('ask').describe('ask = a person has to approve each plan.'),
    schedule: z.object({ at: timeOfDay(), days: weekdays() }).strict().describe("In the dashboard's time zone."),
  };
});

/** What it is made of besides if the settings make it. */
const settingsFields = once(() => {
  const slugs = () => list(called());
  return {
    schedule: policyFields().schedule.extend({
      day_of_month: int(1, 31).optional().describe('Monthly on this day; in short months on the last day.'),
    }),
    trusted: z
      .object({ plugins: slugs(), themes: slugs() })
      .strict()
      .optional()
      .describe('Only these, on sites whose automatic_update is 1.'),
  };
});

/** What is stored of any policy beside its name and whether it is enabled. */
export const policyDefinition = once(() =>
  z
    .object({ ...policyFields(), ...settingsFields() })
    .omit({ name: true, enabled: true })
    .strict(),
);

const count = () => z.number().int();

export const policyEntry = once(() =>
  z.object({
    policy_id: count(),
    name: z.string(),
    source: z.enum(POLICY_SOURCES).describe('settings = read-only, made by the general settings.'),
    enabled: z.boolean(),
    acts: z.boolean().describe('Whether it makes plans.'),
    summary: z.string(),
    next_at: timestamp().nullable(),
    last: z
      .object({
        at: timestamp().describe('When it was due.'),
        state: z.enum(POLICY_STATES),
        detail: z.string(),
        approval_id: z.string().nullable(),
        rollout_id: z.string().nullable(),
      })
      .nullable()
      .describe('null = it was never due.'),
  }),
);

export const policyList = once(() => z.object({ policies: z.array(policyEntry()), ...paged() }));

/** With everything it was set to. */
export const policyRecord = once(() =>
  policyEntry().extend({
    ...policyFields(),
    ...settingsFields(),
    changed_by: z.string(),
    changed_at: timestamp(),
  }),
);

/** Of one that may not be stored yet. */
export const draftPreview = once(() =>
  z.object({
    summary: z.string(),
    now: previewShape(),
    past: z.object({
      since: timestamp(),
      summary: z.string(),
      versions: z
        .array(
          z.object({
            type: z.enum(['core', 'plugin', 'theme', 'translation']),
            slug: z.string(),
            version: z.string(),
            first_offered_at: timestamp(),
            would_have_begun_at: timestamp(),
            still_offered: count().describe('Sites.'),
            updated_before: count().describe('Sites that had it earlier, according to the log.'),
            updated_after: count().describe('Sites that got it later, according to the log.'),
          }),
        )
        .describe('Newest first.'),
      more_versions: count(),
      not_known: z.array(z.string()),
    }),
  }),
);

export const policyPreview = once(() => draftPreview().extend({ policy_id: count(), name: z.string() }));
