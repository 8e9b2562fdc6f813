import { queuedFields, siteError, siteRefs } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { answerOnSites, chooseSites } from '../../src/domain/actions/run-on-sites.js';
import { disconnectHandler } from '../../src/domain/connection/handlers.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/disconnect-sites-v1',
  title: 'Disconnect several sites',
  about: 'Stops contacting sites until they are reconnected.',
  instructions: 'Over 200 sites: a job.',
  effect: 'write',
  change: 'disconnections',
  idempotent: true,
  multi: true,

  input: () => z.object({ site_ids_or_domains: siteRefs('At least one.') }),

  output: () =>
    z.object({
      ...queuedFields(),
      disconnected: z.array(z.object({ id: z.number().int(), url: z.string() })).optional(),
      errors: z.array(siteError()),
      total_disconnected: z.number().int().optional(),
      total_errors: z.number().int(),
    }),

  async handle({ site_ids_or_domains }, ctx) {
    const selection = await chooseSites(ctx, site_ids_or_domains, { failWhenNothingResolves: true });
    const answer = await answerOnSites(ctx, disconnectHandler, selection);
    if (answer.queued) return answer;
    return { ...answer, disconnected: answer.sites, total_disconnected: answer.sites.length };
  },
});
