import { dryRun, queuedFields, siteRefs } from '../../schemas/common.js';
import { slugs } from '../../schemas/extension.js';
import { offerFilters } from '../../schemas/search.js';
import { appliedEntry, runOutcome, updatePreview, updateTypes } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { previewUpdates } from '../../src/domain/updates/preview.js';
import { updatesQuestion } from '../../src/domain/updates/question.js';
import { runUpdates } from '../../src/domain/updates/updates.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/run-updates-v1',
  title: 'Apply selected updates',
  about: 'Empty site list = ALL sites with updates. Applies updates on offer and verifies each.',
  instructions: 'Show the user a dry_run first. Over 200 sites: a job.',
  effect: 'write',
  change: 'updates',
  idempotent: false,
  replaces: true,
  multi: true,

  input: () =>
    z.object({
      site_ids_or_domains: siteRefs('Empty = ALL.').default([]),
      types: updateTypes(),
      ...offerFilters(),
      specific_items: slugs().default([]).describe('Exact slugs; empty = all.'),
      dry_run: dryRun(),
    }),

  output: () =>
    z.object({
      ...queuedFields(),
      updated: z.array(appliedEntry()).optional(),
      ...runOutcome(),
      ...updatePreview(),
    }),

  question: updatesQuestion,

  preview: ({ site_ids_or_domains, types, specific_items, dry_run: _, ...filters }, ctx) =>
    previewUpdates(ctx, site_ids_or_domains, types, specific_items, undefined, filters),

  handle: ({ site_ids_or_domains, types, specific_items, dry_run: _, ...filters }, ctx) =>
    runUpdates(ctx, site_ids_or_domains, types, specific_items, undefined, filters),
});
