/** Schemas of updates: available ones, ignored ones, and the results of applying them. */

import { list } from './common.js';
import { z } from './zod.js';

/** Update types in filters and summaries (operations §5.5). */
export const updateTypes = list(z.enum(['core', 'plugins', 'themes', 'translations']))
  .default([])
  .describe('Empty = all types.');

/** Update types in entries. */
const updateType = z.enum(['core', 'plugin', 'theme', 'translation']);

/** Puts on an ignore list, or takes off. */
export const ignoreAction = z.enum(['add', 'remove']).describe('add = ignore, remove = restore.');

export const updateEntry = z.object({
  type: updateType,
  slug: z.string(),
  name: z.string(),
  current_version: z.string(),
  new_version: z.string(),
});

export const siteFields = { site_id: z.number().int(), site_url: z.string(), site_name: z.string() };

export const fleetUpdateEntry = z.object(siteFields).merge(updateEntry);

export const updateSummary = z.object({
  core: z.number().int(),
  plugins: z.number().int(),
  themes: z.number().int(),
  translations: z.number().int(),
  total: z.number().int(),
});

export const appliedEntry = z.object({
  ...siteFields,
  type: updateType,
  slug: z.string(),
  name: z.string(),
  old_version: z.string(),
  new_version: z.string(),
});

export const appliedExtension = z.object({
  slug: z.string(),
  name: z.string(),
  old_version: z.string(),
  new_version: z.string(),
});

/** A failed update; `type` is `site` and `slug` empty for what concerns the whole site (operations §6). */
export const updateError = z.object({
  ...siteFields,
  type: z.enum(['core', 'plugin', 'theme', 'translation', 'site']),
  slug: z.string(),
  code: z.string(),
  message: z.string(),
});

/** The same of an update that was tried: of a guarded one also its record, and what was seen on the site. */
export const applyError = updateError.extend({
  change_id: z.string().optional(),
  evidence: z.array(z.string()).optional(),
});

export const runSummary = z.object({
  total_updated: z.number().int(),
  total_errors: z.number().int(),
  sites_updated: z.number().int(),
});
