import { queuedFields, siteRefs } from '../../schemas/common.js';
import { slugs } from '../../schemas/extension.js';
import { appliedEntry, applyError, runSummary, updateTypes } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { runUpdates } from '../../src/domain/updates/updates.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/run-updates-v1',
  title: 'Apply selected updates',
  about: 'Applies updates on offer and verifies each.',
  instructions: 'Show the user list-updates-v1 first. Over 200 sites: a job.',
  run: 'POST',
  effect: 'write',
  idempotent: false,
  multi: true,

  input: z.object({
    site_ids_or_domains: siteRefs('empty = all with updates').default([]),
    types: updateTypes,
    specific_items: slugs.default([]).describe('Exact slugs; empty = all.'),
  }),

  output: z.object({
    ...queuedFields,
    updated: z.array(appliedEntry).optional(),
    errors: z.array(applyError),
    summary: runSummary.optional(),
    total_errors: z.number().int().optional(),
  }),

  handle: ({ site_ids_or_domains, types, specific_items }, ctx) =>
    runUpdates(ctx, site_ids_or_domains, types, specific_items),
});
