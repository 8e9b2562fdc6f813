import { queuedFields, siteError, siteRefs } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { answerOnSites, chooseSites } from '../../src/domain/actions/run-on-sites.js';
import { suspendHandler } from '../../src/domain/connection/handlers.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/suspend-sites-v1',
  title: 'Suspend several sites',
  about: 'Excludes sites from syncs and updates.',
  instructions: 'Over 200 sites: a job.',
  effect: 'write',
  change: 'connections',
  idempotent: true,
  multi: true,

  input: () => z.object({ site_ids_or_domains: siteRefs('At least one.') }),

  output: () =>
    z.object({
      ...queuedFields(),
      suspended: z.array(z.object({ id: z.number().int(), url: z.string() })).optional(),
      errors: z.array(siteError()),
      total_suspended: z.number().int().optional(),
      total_errors: z.number().int(),
    }),

  async handle({ site_ids_or_domains }, ctx) {
    const selection = await chooseSites(ctx, site_ids_or_domains, { failWhenNothingResolves: true });
    const answer = await answerOnSites(ctx, suspendHandler, selection);
    if (answer.queued) return answer;
    return { ...answer, suspended: answer.sites, total_suspended: answer.sites.length };
  },
});
