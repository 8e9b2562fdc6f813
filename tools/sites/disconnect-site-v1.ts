import { siteRef } from '../../schemas/common.js';
import { siteHead, siteStatus } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { runOnSite } from '../../src/domain/actions/run-on-site.js';
import { disconnectHandler } from '../../src/domain/connection/handlers.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/disconnect-site-v1',
  title: 'Disconnect one site',
  about: 'Stops contacting a site until reconnect-site-v1. The site is not notified.',
  effect: 'write',
  change: 'disconnections',
  idempotent: true,

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: () => z.object({ disconnected: z.boolean(), ...siteHead(), status: siteStatus() }),

  async handle({ site_id_or_domain }, ctx) {
    return { disconnected: true, ...(await runOnSite(ctx, disconnectHandler, site_id_or_domain)) };
  },
});
