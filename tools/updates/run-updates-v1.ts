import { list, queuedFields, siteRefs } from '../../schemas/common.js';
import { slug } from '../../schemas/extension.js';
import { appliedEntry, runSummary, updateError, updateTypes } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { runUpdates } from '../../src/domain/updates.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/run-updates-v1',
  title: 'Apply selected updates',
  about:
    'Applies updates on sites, by type and slug, and verifies each version. No list = all sites with updates. Over 200 sites a job is queued.',
  instructions:
    'Show the user what list-updates-v1 says before you run this. When queued is true, poll get-batch-job-status-v1.',
  run: 'POST',
  effect: 'write',
  idempotent: false,
  multi: true,

  input: z.object({
    site_ids_or_domains: siteRefs.default([]).describe('Empty = all sites with updates.'),
    types: updateTypes,
    specific_items: list(slug).default([]).describe('Exact slugs; empty = all.'),
  }),

  output: z.object({
    ...queuedFields,
    updated: z.array(appliedEntry).optional(),
    errors: z.array(updateError),
    summary: runSummary.optional(),
    total_errors: z.number().int().optional(),
  }),

  handle: ({ site_ids_or_domains, types, specific_items }, ctx) =>
    runUpdates(ctx, site_ids_or_domains, types, specific_items),
});
