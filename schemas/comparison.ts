/** Schemas of the comparison of sites. */

import { once } from '../src/runtime/once.js';
import { paged, timestamp } from './common.js';
import { siteBasic, siteStatus } from './site.js';
import { z } from './zod.js';

/** In the order of the rows. */
export const COMPARED = ['version', 'site', 'setting', 'administrator', 'plugin', 'theme'] as const;
export type Compared = (typeof COMPARED)[number];

/** How the values of a row differ; `none` = they are the same, as far as they are known. */
const DIFFERENCES = ['missing', 'version', 'active', 'value', 'none'] as const;

const areaCount = once(() => z.object({ area: z.enum(COMPARED), count: z.number().int() }));

export const comparison = once(() =>
  z.object({
    sites: z
      .array(siteBasic().extend({ status: siteStatus(), last_sync: timestamp().nullable() }))
      .describe('In the order of values.'),
    rows: z.array(
      z.object({
        area: z.enum(COMPARED),
        what: z.string(),
        slug: z.string().optional(),
        difference: z.enum(DIFFERENCES),
        values: z.array(z.string().nullable()).describe('null = unknown.'),
      }),
    ),
    different: z.array(areaCount()),
    same: z.array(areaCount()),
    errors: z
      .array(z.object({ site_id: z.number().int(), code: z.string(), message: z.string() }))
      .describe('Sites that did not name their administrators.'),
    ...paged(),
  }),
);
