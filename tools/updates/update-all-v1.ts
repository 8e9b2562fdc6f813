import { queuedFields, siteRefs } from '../../schemas/common.js';
import { applyError, runSummary } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { runUpdates, sitesNotSuspended } from '../../src/domain/updates/updates.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-all-v1',
  title: 'Apply every available update',
  about: 'Applies every update on offer, core included, and verifies each.',
  instructions: 'Show the user list-updates-v1 first. Over 200 sites: a job.',
  run: 'POST',
  effect: 'write',
  idempotent: false,
  multi: true,

  input: z.object({ site_ids_or_domains: siteRefs('empty = all but suspended').default([]) }),

  output: z.object({
    ...queuedFields,
    updated: z
      .object({
        core: z.number().int(),
        plugins: z.number().int(),
        themes: z.number().int(),
        translations: z.number().int(),
      })
      .optional(),
    errors: z.array(applyError),
    summary: runSummary.optional(),
    total_errors: z.number().int().optional(),
  }),

  async handle({ site_ids_or_domains }, ctx) {
    const answer = await runUpdates(ctx, site_ids_or_domains, [], [], sitesNotSuspended);
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
