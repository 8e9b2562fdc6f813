/** Schemas of the backups of sites. */

import { once } from '../src/runtime/once.js';
import { int, paged, timestamp, token } from './common.js';
import { siteHead } from './site.js';
import { z } from './zod.js';

export const backupId = () =>
  z
    .string()
    .max(64)
    .regex(/^backup_[0-9a-f]{24}$/, 'must be a backup_id from list-backups-v1')
    .describe('From list-backups-v1.');

/** `interrupted`: repeating the backup goes on with it. */
export const backupState = once(() => z.enum(['running', 'interrupted', 'done', 'failed']));

export const BACKUP_EVERY = ['off', 'daily', 'weekly', 'monthly'] as const;
export type BackupEvery = (typeof BACKUP_EVERY)[number];

/** A rule of the schedule of backups, as callers set it. `inherit` removes it. */
export const backupRuleFields = () => ({
  every: z.enum([...BACKUP_EVERY, 'inherit']).describe('inherit = use the rule of the tag or the fleet.'),
  hour: int(0, 23).default(3).describe("In the site's time zone."),
});

const backupRule = once(() =>
  z.object({
    tag_id: z.number().int().nullable(),
    site_id: z.number().int().nullable().describe('Both null = the fleet.'),
    name: z.string().nullable(),
    every: z.enum(BACKUP_EVERY),
    hour: z.number().int(),
  }),
);

export const backupSchedule = once(() =>
  z.object({
    rules: z.array(backupRule()).describe('Narrowest last; for a site, only the rule that applies to it.'),
    total_rules: z.number().int(),
    next_at: timestamp().nullable().optional().describe('For a site; null = none is planned.'),
    why_not: z.string().optional().describe('Why none is planned.'),
  }),
);

const counted = () => z.number().int();

/** How consistent the tables are; see docs/backups.md. */
const consistency = once(() => z.enum(['one_instant', 'per_table', 'per_slice', 'best_effort']));

const figures = () => ({
  files: counted(),
  file_bytes: z.number(),
  tables: counted(),
  rows: counted(),
  sent_bytes: z.number().describe('Read from the site.'),
  added_bytes: z.number().describe('New in the repository.'),
  consistency: consistency(),
  changed_count: counted().describe('Files that kept changing while they were read.'),
  left_out_count: counted(),
  rows_left_out: counted().describe('Of these, rows of tables: each is larger than can be read.'),
});

/** `could_not_verify` says nothing about the backup, and never counts as proven. */
export const drillOutcome = once(() => z.enum(['proven', 'failed', 'could_not_verify']));

/** A trial restore, away from the site. */
const drillFacts = () => ({
  result: drillOutcome(),
  reason: z.string().nullable().describe('What differs, or why nothing could be verified.'),
  restore_seconds: counted().nullable(),
  data_age_seconds: counted().describe('Age of the backup at that time.'),
  php: z.string().nullable().describe('The PHP that ran the restored copy.'),
  means: drillMeans(),
});

const drillMeans = () =>
  z
    .enum(['machine', 'container', 'playground'])
    .nullable()
    .describe('What ran the copy. playground = WordPress Playground, with SQLite: a weaker proof. null = unknown.');

const drillsFact = () => ({ drills: z.boolean().describe('Whether this installation does trial restores.') });

export const backupItem = once(() =>
  z.object({
    backup_id: z.string(),
    ...siteHead(),
    state: backupState(),
    started_at: timestamp(),
    finished_at: timestamp().nullable(),
    ...z.object(figures()).partial().shape,
    verified_at: timestamp().nullable(),
    sound: z.boolean().nullable().describe('null = never verified.'),
    drill: z
      .object({ ...drillFacts(), drilled_at: timestamp() })
      .nullable()
      .describe('null = never restored on trial.'),
    error: z.string().optional(),
  }),
);

/** What a page of backups says besides. */
export const backupListFacts = () => ({ schedule: backupSchedule(), ...drillsFact() });

export const backupList = once(() => z.object({ items: z.array(backupItem()), ...paged(), ...backupListFacts() }));

export const backedUp = once(() => z.object({ backup_id: z.string(), ...siteHead(), ...figures() }));

const namedTable = once(() =>
  z.object({ name: z.string(), rows: counted(), consistency: z.enum(['instant', 'slices', 'best_effort']) }),
);

/** Compared with the backup before. */
export const backupChanges = once(() =>
  z.object({
    since_backup_id: z.string(),
    since: timestamp(),
    files_added: counted(),
    files_changed: counted(),
    files_removed: counted(),
    folders: z.array(z.object({ path: z.string(), added: counted(), changed: counted(), removed: counted() })),
    tables_changed: counted(),
    tables: z.array(z.object({ name: z.string(), rows_before: counted().nullable(), rows: counted().nullable() })),
  }),
);

export const backupDetail = once(() =>
  backupItem().extend({
    wordpress: z.string().optional(),
    read_all: z.boolean().optional().describe('Every file was read; none was assumed unchanged.'),
    changed_while_read: z.array(z.string()).optional(),
    left_out: z.array(z.object({ path: z.string(), why: z.string() })).optional(),
    folders: z.array(z.object({ path: z.string(), files: counted(), bytes: z.number() })).optional(),
    database: z.array(namedTable()).optional(),
    changes: backupChanges().nullable().optional().describe('null = there is no earlier backup.'),
  }),
);

export const RESTORABLE = ['site', 'plugin', 'table', 'files'] as const;
export type Restorable = (typeof RESTORABLE)[number];

/** What is restored, and its name: a plugin's folder, a table, or a pattern of paths. */
export const restoreSelection = () => ({
  what: z.enum(RESTORABLE).describe('What to restore.'),
  name: token(400).optional().describe("A plugin's folder, a table, or a pattern: 'wp-content/uploads/2026/*'."),
});

export const restoreResult = once(() =>
  z.object({
    backup_id: z.string(),
    ...siteHead(),
    dry_run: z.boolean().optional(),
    what: z.enum(RESTORABLE),
    name: z.string().optional(),
    made_at: timestamp(),
    outcome: z.enum(['planned', 'restored', 'taken_back', 'nothing_to_do']),
    files_replaced: counted(),
    files_added: counted(),
    files_removed: counted(),
    bytes: z.number().describe('To send to the site.'),
    tables: z.array(z.string()),
    examples: z.array(z.string()),
    kept: z.array(z.string()).describe('Different, but never restored: files that load before the plugin.'),
    kept_count: counted(),
    not_in_backup: z
      .array(z.string())
      .describe('Added since the backup, and left on the site: after a hack, look at each. What runs comes first.'),
    not_in_backup_count: counted(),
    findings: z.array(z.string()).describe('What is wrong with the site.'),
    warnings: z.array(z.string()),
  }),
);
export type RestoreResult = z.output<ReturnType<typeof restoreResult>>;

export const verifyResult = once(() =>
  z.object({
    backup_id: z.string(),
    ...siteHead(),
    sound: z.boolean().describe('What was read is what was stored. Says nothing of whether the site would run.'),
    files_read: counted(),
    files: counted(),
    tables_read: counted(),
    rows_left_out: counted().describe('Too large to be read from the site: they are not in the backup.'),
    bytes_read: z.number(),
    problems: z.array(z.object({ what: z.string(), problem: z.string() })),
    problems_count: counted(),
    checked_at: timestamp(),
  }),
);

export const drillResult = once(() =>
  z.object({
    backup_id: z.string(),
    ...siteHead(),
    made_at: timestamp(),
    ...drillFacts(),
    network: z.enum(['none', 'open']).nullable().describe('open = this machine could not cut the copy off.'),
    compared: z.array(z.string()).describe('What matches.'),
    not_compared: z.array(z.string()),
    drilled_at: timestamp(),
  }),
);
export type DrillResult = z.output<ReturnType<typeof drillResult>>;
/** What is kept of a trial restore. */
export type DrillFacts = Omit<DrillResult, 'backup_id' | 'site_id' | 'site_url' | 'made_at' | 'drilled_at'>;

/** What a site lacks: any complete backup, a recent one, success of the last attempt, or a proof by a trial restore. */
export const BACKUP_LACKS = ['any', 'recent', 'success', 'proof'] as const;
export type BackupLack = (typeof BACKUP_LACKS)[number];

export const backupStatusFilter = () => ({
  lacking: z.enum(BACKUP_LACKS).optional().describe('No backup, no recent one, the last attempt failed, or no proof.'),
  recent_days: int(1, 365).default(7).describe('Days for which a backup counts as recent.'),
});

export const backupStatus = once(() =>
  z.object({
    ...siteHead(),
    name: z.string(),
    status: z.string(),
    guarded: z.boolean().nullable().describe('Backups need the guard; null = not checked yet.'),
    newest: z.object({ backup_id: z.string(), made_at: timestamp() }).nullable(),
    failing_since: timestamp().nullable().describe('Scheduled backups only.'),
    error: z.string().nullable().describe('Of the last attempt.'),
    proven_at: timestamp().nullable().describe('null = never.'),
    drill: z
      .object({ result: drillOutcome(), reason: z.string().nullable(), means: drillMeans(), drilled_at: timestamp() })
      .nullable()
      .describe('The last trial restore.'),
    next_at: timestamp().nullable().describe('By the schedule.'),
  }),
);

/** What a page of these says of all sites. */
export const backupStatusFacts = () => ({
  lacking: z.object({
    sites: counted().describe('All sites.'),
    any: counted(),
    recent: counted(),
    success: counted(),
    proof: counted().describe('Within 35 days.'),
  }),
  ...drillsFact(),
});

export const backupStatusList = once(() =>
  z.object({
    items: z.array(backupStatus()).describe('Sites without a backup first, then by oldest backup.'),
    ...paged(),
    ...backupStatusFacts(),
  }),
);
