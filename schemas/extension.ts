/** Schemas of plugins and themes. */

import { once } from '../src/runtime/once.js';
import { continuedFields, list, slugError } from './common.js';
import { siteHead } from './site.js';
import { z } from './zod.js';

/** A plugin or theme on a site. */
export const extensionEntry = once(() =>
  z.object({
    slug: z.string(),
    name: z.string(),
    version: z.string(),
    active: z.boolean(),
    update_version: z.string().nullable(),
    must_use: z.literal(true).optional().describe('Always active.'),
  }),
);

/** `folder/file.php` of a plugin, folder name of a theme: exact and case-sensitive. */
export const slug = once(() =>
  z
    .string()
    .max(512)
    .refine((text) => !text.includes('\0'), 'must not contain control characters'),
);

export const slugs = once(() => list(slug()).describe('Exact slugs.'));

/** What became of deleted plugins or themes, or would on a preview. */
export const deletedExtensions = once(() =>
  z.object({
    dry_run: z.boolean().optional(),
    site_id: z.number().int(),
    site_url: z.string().optional(),
    deleted: z.array(z.string()).optional(),
    errors: z.array(slugError()).optional(),
    would_affect: z.array(extensionEntry()).optional(),
    count: z.number().int().optional(),
    warnings: z.array(z.string()).optional(),
    ...continuedFields(),
  }),
);

export const abandonedExtensions = once(() =>
  z.object({
    items: z.array(
      z.object({
        ...siteHead(),
        slug: z.string(),
        name: z.string(),
        version: z.string(),
        last_updated: z.string().describe('YYYY-MM-DD'),
      }),
    ),
    total: z.number().int(),
    checked_at: z.string().nullable().describe('The oldest check; null while a site is unchecked.'),
    sites_not_checked: z.number().int().describe('Sites about which nothing is known yet.'),
  }),
);
