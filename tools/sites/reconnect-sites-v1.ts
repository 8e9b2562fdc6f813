import { queuedFields, siteError, siteRefs } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { reconnectHandler } from '../../src/domain/jobs/handlers.js';
import { chooseSites, errorEntries, NO_PARAMS, runOrQueue } from '../../src/domain/sites/run-on-sites.js';
import { allSites } from '../../src/domain/sites/sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/reconnect-sites-v1',
  title: 'Reconnect several sites',
  about: 'Restores lost connections.',
  instructions: 'Over 200 sites: a job.',
  run: 'POST',
  effect: 'write',
  idempotent: true,
  multi: true,

  input: z.object({ site_ids_or_domains: siteRefs('empty = all disconnected').default([]) }),

  output: z.object({
    ...queuedFields,
    reconnected: z.array(z.object({ id: z.number().int(), url: z.string() })).optional(),
    errors: z.array(siteError),
    total_reconnected: z.number().int().optional(),
    total_errors: z.number().int(),
  }),

  async handle({ site_ids_or_domains }, ctx) {
    const selection = await chooseSites(ctx, site_ids_or_domains, {
      whenEmpty: () => allSites(ctx, { status: 'disconnected' }),
      failWhenNothingResolves: true,
    });
    const answer = await runOrQueue(ctx, reconnectHandler, selection, NO_PARAMS);
    if (answer.queued) return answer;
    const reconnected = answer.done.map(({ target: { site } }) => ({ id: site.id, url: site.url }));
    const errors = errorEntries(selection, answer.failures);
    return {
      queued: false,
      ...answer.continued,
      reconnected,
      errors,
      total_reconnected: reconnected.length,
      total_errors: errors.length,
    };
  },
});
