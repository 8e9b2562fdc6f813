/** Schemas of the diagnosis of a site. */

import { once } from '../src/runtime/once.js';
import { timestamp } from './common.js';
import { siteBasic, siteStatus } from './site.js';
import { z } from './zod.js';

export const DIAGNOSED = [
  'connection',
  'uptime',
  'incident',
  'front_page',
  'update',
  'vulnerability',
  'php',
  'certificate',
  'domain',
] as const;
export const FINDING_STATES = ['trouble', 'suspect', 'ok', 'unknown'] as const;

const finding = once(() =>
  z.object({
    matter: z.enum(DIAGNOSED),
    state: z.enum(FINDING_STATES),
    seen: z.string(),
    since: timestamp().nullable(),
    looked_at: timestamp().nullable().describe('null = never.'),
  }),
);

/** A change before the trouble. */
const diagnosedChange = once(() =>
  z.object({
    id: z.number().int().optional().describe('The change_id for undo-change-v1 and roll-back-v1.'),
    at: timestamp(),
    what: z.string(),
    by: z.string(),
    via: z.string().describe('site = on the site itself.'),
    slug: z.string().optional(),
    old_version: z.string().optional(),
    new_version: z.string().optional(),
  }),
);

export const diagnosis = once(() =>
  z.object({
    site: siteBasic().extend({ status: siteStatus() }),
    red: z.boolean().describe('Something is wrong.'),
    since: timestamp().nullable().describe('Earliest known; null = unknown.'),
    findings: z.array(finding()),
    changes: z.array(diagnosedChange()).describe('The last ones before it, and roll-backs since; newest first.'),
    suspect: diagnosedChange()
      .extend({ minutes_before: z.number().int().nullable(), change_id: z.string().optional() })
      .nullable()
      .describe('A change within an hour before, or one seen to do harm.'),
    others: z
      .array(
        z.object({
          share: z.string(),
          sites: z.number().int(),
          red: z.number().int(),
          first: z.array(z.string()).describe('Some of the red ones.'),
        }),
      )
      .describe('Other sites that share something with it.'),
    roll_back: z.object({
      possible: z.boolean().nullable().describe('null = only an attempt can tell.'),
      why: z.string(),
    }),
    not_known: z.array(z.string()),
    advice: z.string().optional(),
    next: z.string().describe('The tool to call next, and its arguments.'),
  }),
);
