import { dryRun, queuedFields, siteError, siteRefs } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { answerOnSites, chooseSites } from '../../src/domain/actions/run-on-sites.js';
import { counted, namesOf, sentences } from '../../src/domain/common/question.js';
import { reconnectHandler } from '../../src/domain/connection/handlers.js';
import type { Ctx } from '../../src/domain/context.js';
import type { SiteRef } from '../../src/domain/sites/resolve.js';
import { allSites } from '../../src/domain/sites/sites.js';
import { siteAddress } from '../../src/domain/sites/urls.js';
import { defineOperation } from '../../src/operation/operation.js';

const chosenSites = (ctx: Ctx, refs: readonly SiteRef[]) =>
  chooseSites(ctx, refs, {
    whenEmpty: () => allSites(ctx, { status: 'disconnected', not_suspended: true }),
    failWhenNothingResolves: true,
  });

export default defineOperation({
  id: 'svc/reconnect-sites-v1',
  title: 'Reconnect several sites',
  about: 'Empty site list = ALL disconnected sites. Restores lost connections.',
  instructions: 'Over 200 sites: a job.',
  effect: 'write',
  change: 'connections',
  idempotent: true,
  multi: true,

  input: () => z.object({ site_ids_or_domains: siteRefs('Empty = ALL.').default([]), dry_run: dryRun() }),

  output: () =>
    z.object({
      ...queuedFields(),
      reconnected: z.array(z.object({ id: z.number().int(), url: z.string() })).optional(),
      errors: z.array(siteError()),
      total_reconnected: z.number().int().optional(),
      total_errors: z.number().int(),
      dry_run: z.literal(true).optional(),
      would_affect: z.object({ sites: z.number().int() }).optional(),
      would_reconnect: z.array(z.object({ id: z.number().int(), url: z.string() })).optional(),
    }),

  question: ({ would_reconnect: sites = [], would_affect, errors }) => ({
    text: sentences(
      `Restore the connection of ${namesOf(
        sites.map(({ url }) => siteAddress(url)),
        would_affect?.sites,
      )}?`,
      errors.length > 0 && `${counted(errors.length, 'site')} cannot be reconnected.`,
    ),
  }),

  async preview({ site_ids_or_domains }, ctx) {
    const { sites, errors } = await chosenSites(ctx, site_ids_or_domains);
    return {
      dry_run: true as const,
      queued: false,
      would_affect: { sites: sites.length },
      would_reconnect: sites,
      errors,
      total_errors: errors.length,
    };
  },

  async handle({ site_ids_or_domains }, ctx) {
    const selection = await chosenSites(ctx, site_ids_or_domains);
    const answer = await answerOnSites(ctx, reconnectHandler, selection);
    if (answer.queued) return answer;
    return { ...answer, reconnected: answer.sites, total_reconnected: answer.sites.length };
  },
});
