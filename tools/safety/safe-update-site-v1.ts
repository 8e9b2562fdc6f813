import { bool, siteRef, token } from '../../schemas/common.js';
import { slugs } from '../../schemas/extension.js';
import { protection, safeUpdate } from '../../schemas/safety.js';
import { updateTypes } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { bounded } from '../../schemas/zod-internals.js';
import { safeUpdateSite } from '../../src/domain/updates/safe/safe-update-site.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/safe-update-site-v1',
  title: 'Update one site safely',
  about:
    'Updates a site item by item, checks it before and after each, and rolls back what breaks it. Weaker without a guard.',
  instructions: 'Start with dry_run: it shows what protects each item.',
  effect: 'write',
  change: 'updates',
  idempotent: false,
  replaces: true,

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      types: updateTypes(),
      specific_items: slugs().default([]).describe('Exact slugs; empty = all.'),
      on_suspect: z
        .enum(['keep', 'roll_back'])
        .default('keep')
        .describe('What to do if pages look different, or other files or data changed.'),
      least_protection: protection().default('reinstall').describe('Items with less protection are skipped.'),
      paths: bounded(z.array(token(300)).max(10))
        .default([])
        .describe('More pages to check.'),
      dry_run: bool().default(false).describe('Plan only.'),
    }),

  output: safeUpdate,

  handle: ({ site_id_or_domain, ...input }, ctx) => safeUpdateSite(ctx, site_id_or_domain, input),
});
