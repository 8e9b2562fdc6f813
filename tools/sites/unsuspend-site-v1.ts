import { siteRef } from '../../schemas/common.js';
import { siteStatus } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { unsuspendHandler } from '../../src/domain/jobs/handlers.js';
import { runOnSite } from '../../src/domain/sites/run-on-site.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/unsuspend-site-v1',
  title: 'Lift a site suspension',
  about: 'Lifts a suspension. A site that was disconnected too stays so until reconnected.',
  run: 'POST',
  effect: 'write',
  idempotent: true,

  input: z.object({ site_id_or_domain: siteRef }),

  output: z.object({ unsuspended: z.boolean(), site_id: z.number().int(), site_url: z.string(), status: siteStatus }),

  async handle({ site_id_or_domain }, ctx) {
    return { unsuspended: true, ...(await runOnSite(ctx, unsuspendHandler, site_id_or_domain)) };
  },
});
