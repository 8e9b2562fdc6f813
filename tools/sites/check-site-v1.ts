import { siteRef } from '../../schemas/common.js';
import { siteHead } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { resultOnSite } from '../../src/domain/actions/run-on-site.js';
import { checkHandler } from '../../src/domain/connection/handlers.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/check-site-v1',
  title: "Check one site's reachability",
  about: 'Visits the front page once. Unreachable is a result, not an error.',
  effect: 'write',
  change: 'refresh',
  idempotent: true,

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: () =>
    z.object({
      ...siteHead(),
      reachable: z.boolean(),
      response_time_ms: z.number().int(),
      http_status: z.number().int().describe('0 = no answer.'),
      reason: z.string().optional(),
    }),

  handle: ({ site_id_or_domain }, ctx) => resultOnSite(ctx, checkHandler, site_id_or_domain),
});
