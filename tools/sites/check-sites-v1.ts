import { queuedFields, siteError, siteRefs } from '../../schemas/common.js';
import { siteHead } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { answerOnSites, chooseSites } from '../../src/domain/actions/run-on-sites.js';
import { checkHandler } from '../../src/domain/connection/handlers.js';
import { allSites } from '../../src/domain/sites/sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/check-sites-v1',
  title: 'Check several sites',
  about: 'Empty site list = ALL sites. Visits front pages and stores the results.',
  instructions: 'Over 200 sites: a job.',
  effect: 'write',
  change: 'refresh',
  idempotent: true,
  multi: true,

  input: () => z.object({ site_ids_or_domains: siteRefs('Empty = ALL.').default([]) }),

  output: () =>
    z.object({
      ...queuedFields(),
      results: z
        .array(
          z.object({
            ...siteHead(),
            reachable: z.boolean(),
            response_time_ms: z.number().int(),
            http_status: z.number().int().describe('0 = no answer.'),
            reason: z.string().optional(),
          }),
        )
        .optional(),
      summary: z
        .object({
          total_checked: z.number().int(),
          reachable: z.number().int(),
          unreachable: z.number().int(),
          still_running: z.number().int().optional().describe('Too slow for this call; the job continues with them.'),
        })
        .optional(),
      errors: z.array(siteError()),
      total_errors: z.number().int(),
    }),

  async handle({ site_ids_or_domains }, ctx) {
    const selection = await chooseSites(ctx, site_ids_or_domains, {
      whenEmpty: () => allSites(ctx),
      failWhenNothingResolves: true,
    });
    const answer = await answerOnSites(ctx, checkHandler, selection);
    if (answer.queued) return answer;
    const results = answer.done.map(({ result }) => result);
    const reachable = results.filter((result) => result.reachable).length;
    const slow = answer.failures.filter(({ error }) => error.code === 'svc_still_running').length;
    return {
      ...answer,
      results,
      summary: {
        total_checked: results.length,
        reachable,
        unreachable: results.length - reachable,
        ...(slow === 0 ? {} : { still_running: slow }),
      },
    };
  },
});
