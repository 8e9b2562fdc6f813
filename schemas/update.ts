/** Schemas of updates: available ones, ignored ones, and the results of applying them. */

import { once } from '../src/runtime/once.js';
import type { Change } from './approval.js';
import { continuedFields, list } from './common.js';
import { guidanceLines } from './guidance.js';
import { siteHead, siteStatus } from './site.js';
import { z } from './zod.js';

/** A type as named in answers is accepted as a filter, too. */
const ofFilters = (type: unknown) =>
  type === 'plugin' || type === 'theme' || type === 'translation' ? `${type}s` : type;

/** Update types in filters and summaries (operations §5.5). */
export const updateTypes = once(() =>
  list(z.preprocess(ofFilters, z.enum(['core', 'plugins', 'themes', 'translations'])))
    .default([])
    .describe('Empty = all types.'),
);

/** The reverse, for inputs that name one. */
export const asInAnswers = (type: unknown) => (type === 'plugins' || type === 'themes' ? type.slice(0, -1) : type);

/** Update types in entries. */
const updateType = once(() => z.enum(['core', 'plugin', 'theme', 'translation']));

/** Adds to an ignore list, or removes. */
export const ignoreAction = once(() => z.enum(['add', 'remove']).describe('add = ignore, remove = restore.'));

/** What is no longer ignored may be updated by what acts without being asked. */
export const ignoreChanges = ({ action }: { action?: string }): Change[] => [
  { kind: action === 'remove' || action === 'unignore' ? 'updates' : 'other' },
];

export const updateEntry = once(() =>
  z.object({
    type: updateType(),
    slug: z.string(),
    name: z.string(),
    current_version: z.string(),
    new_version: z.string(),
    fixes: z.array(z.string()).optional().describe('Known vulnerabilities it fixes.'),
    needs: z.string().optional().describe('What the site lacks for it, such as PHP 8.4; it is not tried.'),
  }),
);

export const siteFields = once(() => ({ ...siteHead(), site_name: z.string() }));

/** An update in the list of the fleet; updates of a suspended site are listed but not applied. */
export const fleetUpdateEntry = once(() =>
  z.object({ ...siteFields(), site_status: siteStatus() }).merge(updateEntry()),
);

/**
 * What a list of updates leaves out: versions that are quarantined, each in a line with what, where and why; and how many are
 * ignored.
 */
export const heldBack = once(() => ({
  held_back: z.array(z.string()).optional(),
  total_held_back: z.number().int().optional(),
  ignored: z.string().optional(),
}));

export const onSuspendedSites = () => z.number().int().optional();

export const updateSummary = once(() =>
  z.object({
    core: z.number().int(),
    plugins: z.number().int(),
    themes: z.number().int(),
    translations: z.number().int(),
    total: z.number().int(),
  }),
);

/** The record of an applied update; `roll-back-v1` takes its id. */
export const changeFields = once(() => ({
  change_id: z.string().optional(),
  can_roll_back: z.boolean().optional(),
  cannot_roll_back_because: z.string().optional(),
}));

export const appliedEntry = once(() =>
  z.object({
    ...siteFields(),
    type: updateType(),
    slug: z.string(),
    name: z.string(),
    old_version: z.string(),
    new_version: z.string(),
    ...changeFields(),
  }),
);

/** A failed update; `type` is `site` and `slug` empty for errors of the whole site (operations §6). */
export const updateError = once(() =>
  z.object({
    ...siteFields(),
    type: z.enum(['core', 'plugin', 'theme', 'translation', 'site']),
    slug: z.string(),
    code: z.string(),
    message: z.string(),
  }),
);

/** What a preview counts over all updates, however many of them it lists. */
export const previewCounts = once(() => ({
  cannot_be_rolled_back: z.number().int().optional(),
  /** Sites of which a backup is made first. */
  backups_first: z.number().int().optional(),
  /** Tried, but last found down. */
  sites_down: z.number().int().optional(),
  /** Ids of those of them with a guard, which looks first. */
  left_alone_if_still_down: z.array(z.number().int()).optional(),
  /** What is known of versions that were quarantined before, and released. */
  known_risks: z.array(z.string()).optional(),
  /** Last, because a question to a person has an end. As `plugin akismet/akismet.php: 49 (40 patch, 9 major)`. */
  by_item: z.array(z.string()).optional(),
}));

/** Updates that match but are left alone, by error code. */
export const skippedUpdates = once(() => z.array(z.object({ code: z.string(), count: z.number().int() })).optional());

/** The result of a `dry_run` of updates on many sites: counts of all, and the first of the updates. */
export const updatePreview = once(() => ({
  dry_run: z.literal(true).optional(),
  would_affect: updateSummary()
    .extend({ sites: z.number().int(), ...previewCounts() })
    .optional(),
  will_be_skipped: skippedUpdates(),
  would_update: z.array(fleetUpdateEntry().omit({ site_status: true, fixes: true, needs: true })).optional(),
  guidance: guidanceLines(),
}));

/**
 * The same for an attempted update: one after which the site is down also has its version, a guarded one its record and
 * the findings on the site.
 */
export const applyError = once(() =>
  updateError().extend({
    new_version: z.string().optional(),
    change_id: z.string().optional(),
    evidence: z.array(z.string()).optional(),
  }),
);

/** Updates that stay although something about them is doubtful. */
export const suspectUpdates = once(() =>
  z.array(
    z.object({ site_id: z.number().int(), change_id: z.string(), slug: z.string(), findings: z.array(z.string()) }),
  ),
);

/** Members of an answer besides what was updated; each only if there is something to say. */
export const aboutUpdates = once(() => ({
  run_id: z.string().optional(),
  suspects: suspectUpdates().optional(),
  checked: z.array(z.string()).optional(),
  not_checked: z.array(z.string()).optional(),
}));

/** What became of the plugins or themes of one site. */
export const updatedExtensions = once(() =>
  z.object({
    ...siteHead(),
    updated: z.array(appliedEntry().omit({ site_id: true, site_url: true, site_name: true, type: true })),
    errors: z.array(applyError()),
    ...aboutUpdates(),
    total_updated: z.number().int(),
    ...continuedFields(),
  }),
);

/** What a run of updates answers beside what was updated. */
export const runOutcome = once(() => ({
  errors: z.array(applyError()),
  ...aboutUpdates(),
  summary: runSummary().optional(),
  total_errors: z.number().int().optional(),
}));

export const runSummary = once(() =>
  z.object({
    total_updated: z.number().int(),
    total_errors: z.number().int(),
    sites_updated: z.number().int(),
  }),
);
