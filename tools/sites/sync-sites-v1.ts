import { queuedFields, siteError, siteRefs } from '../../schemas/common.js';
import { siteBasic } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { answerOnSites, chooseSites } from '../../src/domain/actions/run-on-sites.js';
import { syncHandler } from '../../src/domain/connection/handlers.js';
import { allSites } from '../../src/domain/sites/sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/sync-sites-v1',
  title: 'Synchronise sites',
  about: 'Empty site list = ALL sites except suspended ones. Fetches fresh data from sites.',
  instructions: 'Over 200 sites: a job.',
  effect: 'write',
  change: 'refresh',
  idempotent: true,
  multi: true,

  input: () => z.object({ site_ids_or_domains: siteRefs('Empty = ALL.').default([]) }),

  output: () =>
    z.object({
      ...queuedFields(),
      synced: z.array(siteBasic()).optional(),
      errors: z.array(siteError()),
      total_synced: z.number().int().optional(),
      total_errors: z.number().int(),
    }),

  async handle({ site_ids_or_domains }, ctx) {
    const selection = await chooseSites(ctx, site_ids_or_domains, {
      whenEmpty: () => allSites(ctx, { not_suspended: true }),
    });
    const answer = await answerOnSites(ctx, syncHandler, selection);
    if (answer.queued) return answer;
    return { ...answer, synced: answer.sites, total_synced: answer.sites.length };
  },
});
