/** Schemas of safe updates: the guard of a site, its copies, and quarantined versions. */

import { once } from '../src/runtime/once.js';
import type { Change } from './approval.js';
import { bool, timestamp, token } from './common.js';
import { slug } from './extension.js';
import { guidanceLines } from './guidance.js';
import { siteHead } from './site.js';
import { aboutUpdates, appliedEntry, applyError, suspectUpdates } from './update.js';
import { z } from './zod.js';
import { integerOrText } from './zod-internals.js';

/** How an item could be restored. */
export const protection = once(() => z.enum(['guard', 'reinstall', 'none']));

export const itemType = once(() => z.enum(['plugin', 'theme']));

export const siteGuard = once(() =>
  z.object({
    site_id: z.number().int(),
    installed: z.boolean().nullable().describe('null = never checked.'),
    version: z.string().nullable(),
    can_protect: z.boolean().nullable(),
    problems: z.array(z.string()),
    multisite: z.boolean().nullable(),
    free_bytes: z.number().nullable(),
    login_allowed: z.boolean().nullable(),
    visits_per_day: z.number().nullable(),
    armed: z.array(z.object({ snapshot_id: z.string(), slug: z.string(), until: timestamp() })),
    answered_at: timestamp().nullable(),
    looked_at: timestamp().nullable(),
  }),
);

export const guardInstall = once(() =>
  z.object({
    site_id: z.number().int(),
    dry_run: z.boolean(),
    installed: z.boolean(),
    version: z.string(),
    previous_version: z.string().nullable(),
    login_allowed: z.boolean(),
    how: z.string(),
    warnings: z.array(z.string()),
  }),
);

export const safeUpdate = once(() =>
  z.object({
    ...siteHead(),
    dry_run: z.boolean(),
    planned: z.array(
      z.object({
        type: z.string(),
        slug: z.string(),
        name: z.string(),
        old_version: z.string(),
        new_version: z.string(),
        protection: protection(),
      }),
    ),
    updated: z.array(appliedEntry().extend({ protection: protection() })),
    ...aboutUpdates(),
    suspects: suspectUpdates(),
    errors: z.array(applyError()),
    notices: z.array(z.string()),
    guidance: guidanceLines(),
  }),
);

export const rolledBack = once(() =>
  z.object({
    ...siteHead(),
    type: z.string(),
    slug: z.string(),
    old_version: z.string(),
    version: z.string(),
    held: z.string().optional().describe('Now quarantined.'),
    protection: protection(),
    well: z.boolean(),
    findings: z.array(z.string()),
  }),
);

export const siteSnapshots = once(() =>
  z.object({
    ...siteHead(),
    guard: z.boolean().describe('Whether the guard answered.'),
    snapshots: z.array(
      z.object({
        snapshot_id: z.string(),
        change_id: z.string().nullable(),
        type: itemType(),
        slug: z.string(),
        version: z.string(),
        role: z.enum(['snapshot', 'replaced']),
        bytes: z.number(),
        digest: z.string(),
        taken_at: timestamp(),
      }),
    ),
  }),
);

/** Where a version is quarantined. */
export const quarantineScope = once(() => z.enum(['site', 'fleet']));

export const quarantinedVersion = once(() =>
  z.object({
    type: z.enum(['core', 'plugin', 'theme', 'translation']),
    slug: z.string(),
    version: z.string(),
    name: z.string(),
    site_id: z.number().int(),
    site_url: z.string(),
    change_id: z.string().nullable(),
    evidence: z.array(z.string()),
    since: timestamp(),
    scope: quarantineScope(),
    sites: z.number().int().describe('How many it broke.'),
    scope_by: z.string().nullable(),
    scope_reason: z.string().nullable(),
    fleet_until: timestamp().nullable(),
    lifted_at: timestamp().nullable(),
    lifted_by: z.string().nullable(),
  }),
);

export const removedGuard = once(() => z.object({ site_id: z.number().int(), removed: z.boolean() }));

/** A URL that logs a browser in on a site, once. */
export const adminLogin = once(() =>
  z.object({
    url: z.string().describe('Open it in a browser: the first person to open it is logged in. A secret.'),
    expires_at: timestamp().describe('It is useless after this time, or once opened.'),
    user: z.string().describe('The site administrator it logs in as.'),
  }),
);

/** Logins by token are logins. */
export const guardChanges = ({ allow_login }: { allow_login?: boolean | undefined }): Change[] => [
  { kind: 'installs' },
  ...(allow_login === true ? [{ kind: 'users' } as const] : []),
];

/** A login that sets the guard up for it installs one. */
export const loginChanges = ({ set_up }: { set_up: boolean }): Change[] => [
  { kind: 'users' },
  ...(set_up ? [{ kind: 'installs' } as const] : []),
];

/** With `hold`, the version is quarantined on every site. */
export const rollBackChanges = ({ hold }: { hold?: boolean }): Change[] => [
  { kind: 'updates', ...(hold === true && { sites: 'all' }) },
];

/** The update to roll back: a change, or site, type and slug. */
export const rollBackInput = once(() =>
  z.object({
    change_id: integerOrText().optional().describe('From an update, a snapshot or get-site-changes-v1 (its id).'),
    site_id_or_domain: integerOrText().optional().describe('Id or domain.'),
    type: itemType().optional().describe('What the item is.'),
    slug: slug().optional().describe('Exact slug.'),
    to_version: token(100).optional().describe('Default: before the last update.'),
    hold: bool().default(false).describe('Also quarantine the newer one everywhere.'),
  }),
);
export type RollBackInput = Partial<z.output<ReturnType<typeof rollBackInput>>>;
