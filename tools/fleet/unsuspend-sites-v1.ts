import { queuedFields, siteError, siteRefs } from '../../schemas/common.js';
import { siteStatus } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { unsuspendHandler } from '../../src/domain/jobs/handlers.js';
import { chooseSites, errorEntries, NO_PARAMS, runOrQueue } from '../../src/domain/sites/run-on-sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/unsuspend-sites-v1',
  title: 'Lift several site suspensions',
  about: 'Lifts suspensions; disconnected sites stay so.',
  instructions: 'Over 200 sites: a job.',
  effect: 'write',
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
    const answer = await runOrQueue(ctx, unsuspendHandler, selection, NO_PARAMS);
    if (answer.queued) return answer;
    const now = await ctx.store.sites.candidates(
      answer.done.map(({ target }) => target.site.id),
      [],
    );
    const status = new Map(now.map((site) => [site.id, site.status]));
    const unsuspended = answer.done.map(({ target: { site } }) => ({
      id: site.id,
      url: site.url,
      status: status.get(site.id) ?? site.status,
    }));
    const errors = errorEntries(selection, answer.failures);
    return { queued: false, unsuspended, errors, total_unsuspended: unsuspended.length, total_errors: errors.length };
  },
});
