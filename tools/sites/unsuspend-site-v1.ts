import { siteRef } from '../../schemas/common.js';
import { siteHead, siteStatus } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { runOnSite } from '../../src/domain/actions/run-on-site.js';
import { unsuspendHandler } from '../../src/domain/connection/handlers.js';
import { statusReasons } from '../../src/domain/sites/status.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/unsuspend-site-v1',
  title: 'Lift a site suspension',
  about: 'Lifts a suspension; reconnects if needed.',
  effect: 'write',
  change: 'connections',
  idempotent: true,

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: () =>
    z.object({
      unsuspended: z.boolean(),
      ...siteHead(),
      status: siteStatus(),
      status_reason: z.string().optional(),
    }),

  async handle({ site_id_or_domain }, ctx) {
    const answer = await runOnSite(ctx, unsuspendHandler, site_id_or_domain);
    const { status_reason } =
      (await statusReasons(ctx, [{ id: answer.site_id, status: answer.status }])).get(answer.site_id) ?? {};
    return { unsuspended: true, ...answer, ...(status_reason === undefined ? {} : { status_reason }) };
  },
});
