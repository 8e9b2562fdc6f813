/** Schemas of plugins and themes. */

import { once } from '../src/core/once.js';
import { list } from './common.js';
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
    must_use: z.literal(true).optional().describe('Always active, cannot be changed.'),
  }),
);

/** `folder/file.php` of a plugin, folder name of a theme: exact and case-sensitive. */
export const slug = once(() =>
  z
    .string()
    .max(512)
    .refine((text) => !text.includes('\0'), 'must not hold control characters'),
);

export const slugs = once(() => list(slug()).describe('Exact slugs.'));

export const abandonedItem = once(() =>
  z.object({
    ...siteHead(),
    slug: z.string(),
    name: z.string(),
    version: z.string(),
    last_updated: z.string().describe('YYYY-MM-DD'),
  }),
);
