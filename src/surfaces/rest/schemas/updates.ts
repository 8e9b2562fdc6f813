/** Schemas of the update records, for the interface description. */

import { continuedFields } from '../../../../schemas/common.js';
import { guidanceLines } from '../../../../schemas/guidance.js';
import { siteStatus } from '../../../../schemas/site.js';
import {
  aboutUpdates,
  appliedEntry,
  changeFields,
  previewCounts,
  runSummary,
  skippedUpdates,
} from '../../../../schemas/update.js';
import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';
import { ignoredShape, queuedShape } from './records.js';

const versions = once(() => ({
  current_version: z.string(),
  new_version: z.string(),
  site_status: siteStatus().describe('Updates of a suspended site are listed, but not applied.'),
}));
const fixes = once(() => z.array(z.string()).optional().describe('Known vulnerabilities that the new version fixes.'));
const needs = once(() =>
  z
    .string()
    .optional()
    .describe('What the site lacks for it, such as PHP 8.4: it is not tried until the site has that.'),
);
const installedOffer = once(() =>
  z.object({
    Name: z.string(),
    Version: z.string(),
    active: z.number().int().nullable(),
    ...versions(),
    fixes: fixes(),
    needs: needs(),
    update: z.object({ slug: z.string(), new_version: z.string() }),
  }),
);

const translationOffer = once(() =>
  z.object({
    Name: z.string(),
    slug: z.string(),
    Version: z.string(),
    ...versions(),
    type: z.enum(['core', 'plugin', 'theme']).nullable().describe('What is translated. null: not known.'),
    languages: z.array(z.object({ language: z.string(), version: z.string() })),
  }),
);

/** Types without an offer are absent. */
export const offersOfSite = once(() =>
  z.object({
    wp: z
      .record(z.object({ Name: z.string(), current: z.string(), new: z.string(), ...versions(), fixes: fixes() }))
      .optional(),
    plugins: z.record(installedOffer()).optional().describe('By slug.'),
    themes: z.record(installedOffer()).optional().describe('By slug.'),
    translations: z.record(translationOffer()).optional().describe('By slug.'),
  }),
);

/** Only the requested types. */
export const ignoredByTypeShape = once(() =>
  z.object({
    plugins: ignoredShape().optional(),
    themes: ignoredShape().optional(),
    wp: ignoredShape().optional(),
  }),
);

export const slugResult = once(() =>
  z.union([
    z.object({
      success: z.literal(1),
      name: z.string(),
      old_version: z.string(),
      version: z.string(),
      ...changeFields(),
    }),
    z.object({
      success: z.literal(0),
      error: z.string(),
      message: z.string(),
      version: z.string().optional().describe('It is installed, but the site has been down since.'),
    }),
  ]),
);

/** Members of an answer only if the site has problems since the updates, one is doubtful, or a job does the rest. */
export const besides = once(() => ({
  errors: z
    .array(z.object({ site_id: z.number().int(), slug: z.string(), code: z.string(), message: z.string() }))
    .optional(),
  ...aboutUpdates(),
  ...continuedFields(),
  http_code: z
    .number()
    .int()
    .optional()
    .describe('Of the front page afterwards, 0 = no answer; only if it was visited.'),
}));

const int = () => z.number().int();
const plannedEntry = once(() =>
  z.object({
    site_id: int(),
    site_url: z.string(),
    site_name: z.string(),
    type: z.enum(['core', 'plugin', 'theme', 'translation']),
    slug: z.string(),
    name: z.string(),
    current_version: z.string(),
    new_version: z.string(),
  }),
);

/**
 * The answer of an update run. Preview: would_affect and would_update. Finished within the call: summary and data.
 * Queued or still running: job_id and status_url.
 */
export const updateRunShape = once(() =>
  z.object({
    message: z.string(),
    summary: runSummary().optional(),
    data: z.array(appliedEntry()).optional(),
    ...aboutUpdates(),
    last_time_start_batch_updates: z.string().optional(),
    dry_run: z.literal(true).optional(),
    would_affect: z
      .object({
        sites: int(),
        core: int(),
        plugins: int(),
        themes: int(),
        translations: int(),
        total: int(),
        unguarded_sites: int().describe('Of the sites of which a plugin or theme is updated.'),
        ...previewCounts(),
      })
      .optional(),
    will_be_skipped: skippedUpdates(),
    would_update: z.array(plannedEntry()).optional().describe('The first 200.'),
    guidance: guidanceLines(),
    already_running: z.boolean().optional(),
    queued_count: z.number().int().optional(),
    total: z.number().int().optional(),
    ...queuedShape(),
  }),
);
