/** Approvals: kinds of changes, the rules that say which of them have to be asked for, and requests that wait. */

import { once } from '../src/runtime/once.js';
import { timestamp } from './common.js';
import { z } from './zod.js';

/** Every kind of change, and what it comprises. */
export const CHANGE_KINDS = {
  updates: 'Installing updates, rolling them back, and lifting a quarantine.',
  rollouts: 'Starting and continuing rollouts: updates in waves, by a plan.',
  installs: 'Activating, deactivating and installing on sites: plugins, themes, the guard.',
  deletions: 'Deleting plugins, themes, posts, comments, clients, tags and other records.',
  site_deletions: 'Removing sites.',
  connections: 'Adding, changing, reconnecting and suspending sites.',
  disconnections: 'Disconnecting sites.',
  content: 'Writing posts and moderating comments.',
  users: 'Users, API keys and logins to sites.',
  settings: 'Settings, monitors and the recipients of alerts.',
  other: 'Clients, tags, costs, time, ignored updates and other records.',
  refresh: 'Reading sites again: syncs and checks.',
} as const;

export type ChangeKind = keyof typeof CHANGE_KINDS;
export const CHANGE_KIND_NAMES = Object.keys(CHANGE_KINDS) as [ChangeKind, ...ChangeKind[]];

/**
 * A change of a kind; without sites, these follow from the input. `planned`: the input names something that has the sites,
 * and the call finds them by its `covers`; they may be all.
 */
export interface Change {
  kind: ChangeKind;
  sites?: number | 'all' | 'planned';
}

/** `approvals`: it checks the right to approve itself. A function for calls that make several kinds of changes. */
export type ChangeOf = 'approvals' | ChangeKind | Change | ((input: never) => Change[]);

/** What cannot be undone comes first: by which a request of several kinds is called, and what it shows first. */
export const GRAVEST_FIRST: readonly ChangeKind[] = [
  'site_deletions',
  'deletions',
  'disconnections',
  'users',
  'settings',
  'installs',
  'rollouts',
  'updates',
  'connections',
  'content',
  'other',
  'refresh',
];

/** From the mildest to the strictest. */
export const MODES = ['auto', 'ask', 'never'] as const;
export type Mode = (typeof MODES)[number];

export const rule = once(() =>
  z
    .object({
      few: z.enum(MODES).describe('Up to few_sites sites.'),
      many: z.enum(MODES).describe('More sites, or an unknown number.'),
      all: z.enum(MODES).describe('Every site, including calls that name none and so mean all.'),
      all_by_assistant: z.enum(MODES).describe('The same over MCP.'),
      unguarded: z.enum(MODES).describe('At least one of the sites has no guard.'),
    })
    .strict(),
);
export type Rule = z.output<ReturnType<typeof rule>>;

export const rulesShape = once(() =>
  z
    .object(
      Object.fromEntries(CHANGE_KIND_NAMES.map((kind) => [kind, rule()])) as Record<
        ChangeKind,
        ReturnType<typeof rule>
      >,
    )
    .strict(),
);
export type Rules = z.output<ReturnType<typeof rulesShape>>;

export const PRESETS = ['open', 'careful', 'strict'] as const;
export type Preset = (typeof PRESETS)[number];

/** How many sites are few, unless it is set. */
export const FEW_SITES = 5;

const always = (mode: Mode): Rule => ({ few: mode, many: mode, all: mode, all_by_assistant: mode, unguarded: 'auto' });
const FEW: Rule = { few: 'auto', many: 'ask', all: 'ask', all_by_assistant: 'ask', unguarded: 'auto' };
const each = (mode: Mode): Rules => Object.fromEntries(CHANGE_KIND_NAMES.map((kind) => [kind, always(mode)])) as Rules;

/** In all of them, syncs and checks need no approval: they change nothing on a site. */
export const PRESET_RULES: Readonly<Record<Preset, Rules>> = {
  open: each('auto'),
  careful: {
    updates: { ...FEW, unguarded: 'ask' },
    rollouts: { ...FEW, unguarded: 'ask' },
    installs: FEW,
    deletions: always('ask'),
    site_deletions: always('ask'),
    connections: FEW,
    disconnections: { ...FEW, all_by_assistant: 'never' },
    content: FEW,
    users: always('ask'),
    settings: always('ask'),
    other: FEW,
    refresh: always('auto'),
  },
  strict: {
    ...each('ask'),
    site_deletions: always('never'),
    disconnections: { ...always('ask'), all: 'never', all_by_assistant: 'never' },
    refresh: always('auto'),
  },
};

/** Of previews. */
export const needsApproval = once(() =>
  z
    .string()
    .nullable()
    .optional()
    .describe('Why the call would wait for a person, or be refused; null = it would not.'),
);

/** Instead of an operation: the request is to start the plan that a policy made. Approved, it starts at once. */
export const PLAN_OF_POLICY = 'policy';

export const STATES = [
  'waiting',
  'approved',
  'refused',
  'used',
  'expired',
  'replaced',
  'withdrawn',
  'not_needed',
] as const;
export type ApprovalState = (typeof STATES)[number];

/** A request, as its asker and those who approve see it. */
export const approvalShape = once(() =>
  z.object({
    approval_id: z.string(),
    state: z
      .enum(STATES)
      .describe(
        'approved: repeat the call. used: it ran. replaced: what it would do had changed, so it was asked for again. withdrawn: by the person or program that asked. not_needed: others started its plan.',
      ),
    operation: z.string(),
    title: z.string(),
    kind: z.enum(CHANGE_KIND_NAMES),
    sites: z.number().int().nullable().describe('null = unknown.'),
    changes: z
      .array(z.object({ kind: z.enum(CHANGE_KIND_NAMES), sites: z.number().int().nullable() }))
      .describe('All kinds of changes in it that need approval.'),
    asked_by: z.string(),
    asked_at: timestamp(),
    expires_at: timestamp(),
    decided_by: z.string().nullable(),
    decided_at: timestamp().nullable(),
    note: z.string().describe('The comment on the decision, or why none is needed.'),
    used_at: timestamp().nullable(),
  }),
);
