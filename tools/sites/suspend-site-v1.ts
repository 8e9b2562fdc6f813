import { siteRef } from '../../schemas/common.js';
import { siteHead, siteStatus } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { runOnSite } from '../../src/domain/actions/run-on-site.js';
import { suspendHandler } from '../../src/domain/connection/handlers.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/suspend-site-v1',
  title: 'Suspend one site',
  about: 'Excludes a site from syncs, updates and alerts until unsuspend-site-v1; its monitors pause.',
  effect: 'write',
  change: 'connections',
  idempotent: true,

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: () => z.object({ suspended: z.boolean(), ...siteHead(), status: siteStatus() }),

  async handle({ site_id_or_domain }, ctx) {
    return { suspended: true, ...(await runOnSite(ctx, suspendHandler, site_id_or_domain)) };
  },
});
