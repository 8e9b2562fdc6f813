import { dryRun, queuedFields, siteRefs } from '../../schemas/common.js';
import { offerFilters } from '../../schemas/search.js';
import { runOutcome, updatePreview, updateSummary } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { previewUpdates } from '../../src/domain/updates/preview.js';
import { updatesQuestion } from '../../src/domain/updates/question.js';
import { runUpdates, sitesNotSuspended } from '../../src/domain/updates/updates.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-all-v1',
  title: 'Apply every available update',
  about:
    'Empty site list = ALL sites except suspended ones. Applies every update on offer, core included, and verifies each.',
  instructions: 'Show the user a dry_run first. Over 200 sites: a job.',
  effect: 'write',
  change: 'updates',
  idempotent: false,
  replaces: true,
  multi: true,

  input: () =>
    z.object({
      site_ids_or_domains: siteRefs('Empty = ALL.').default([]),
      ...offerFilters(),
      dry_run: dryRun(),
    }),

  output: () =>
    z.object({
      ...queuedFields(),
      updated: updateSummary().omit({ total: true }).optional(),
      ...runOutcome(),
      ...updatePreview(),
    }),

  question: updatesQuestion,

  preview: ({ site_ids_or_domains, dry_run: _, ...filters }, ctx) =>
    previewUpdates(ctx, site_ids_or_domains, [], [], sitesNotSuspended, filters),

  async handle({ site_ids_or_domains, dry_run: _, ...filters }, ctx) {
    const answer = await runUpdates(ctx, site_ids_or_domains, [], [], sitesNotSuspended, filters);
    if (answer.queued) return answer;
    const count = (type: string) => answer.updated.filter((item) => item.type === type).length;
    return {
      ...answer,
      updated: {
        core: count('core'),
        plugins: count('plugin'),
        themes: count('theme'),
        translations: count('translation'),
      },
    };
  },
});
