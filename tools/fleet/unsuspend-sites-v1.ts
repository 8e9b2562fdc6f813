import { queuedFields, siteError, siteRefs } from '../../schemas/common.js';
import { siteStatus } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { answerOnSites, chooseSites } from '../../src/domain/actions/run-on-sites.js';
import { unsuspendHandler } from '../../src/domain/connection/handlers.js';
import { sitesNow } from '../../src/domain/sites/sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/unsuspend-sites-v1',
  title: 'Lift several site suspensions',
  about: 'Lifts suspensions; reconnects if needed.',
  instructions: 'Over 200 sites: a job.',
  effect: 'write',
  change: 'connections',
  idempotent: true,
  multi: true,

  input: () => z.object({ site_ids_or_domains: siteRefs('At least one.') }),

  output: () =>
    z.object({
      ...queuedFields(),
      unsuspended: z.array(z.object({ id: z.number().int(), url: z.string(), status: siteStatus() })).optional(),
      errors: z.array(siteError()),
      total_unsuspended: z.number().int().optional(),
      total_errors: z.number().int(),
    }),

  async handle({ site_ids_or_domains }, ctx) {
    const selection = await chooseSites(ctx, site_ids_or_domains, { failWhenNothingResolves: true });
    const answer = await answerOnSites(ctx, unsuspendHandler, selection);
    if (answer.queued) return answer;
    const now = new Map((await sitesNow(ctx, answer.sites)).map(({ id, status }) => [id, status]));
    const unsuspended = answer.sites.map(({ id, url, status }) => ({ id, url, status: now.get(id) ?? status }));
    return { ...answer, unsuspended, total_unsuspended: unsuspended.length };
  },
});
