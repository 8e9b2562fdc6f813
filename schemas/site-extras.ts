/** Details that lists of sites return on request, so that they need not be requested per site. */

import { once } from '../src/runtime/once.js';
import { list } from './common.js';
import { z } from './zod.js';

const SITE_EXTRAS = ['tags', 'status_reason', 'last_sync', 'php_version'] as const;
export type SiteExtra = (typeof SITE_EXTRAS)[number];

export const include = () => list(z.enum(SITE_EXTRAS)).default([]).describe('Adds these members.');

/** Absent unless requested; null = unknown. */
export const siteExtras = once(() => ({
  tags: z.array(z.object({ id: z.number().int(), name: z.string() })).optional(),
  status_reason: z.string().nullable().optional(),
  last_sync: z.string().nullable().optional(),
  php_version: z.string().nullable().optional(),
}));
