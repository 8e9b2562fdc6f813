import { siteRef } from '../../schemas/common.js';
import { siteHead, siteStatus } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { runOnSite } from '../../src/domain/actions/run-on-site.js';
import { reconnectHandler } from '../../src/domain/connection/handlers.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/reconnect-site-v1',
  title: 'Reconnect one site',
  about: 'Restores a lost connection, with a new key if needed. No password.',
  effect: 'write',
  change: 'connections',
  idempotent: true,

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: () => z.object({ reconnected: z.boolean(), ...siteHead(), status: siteStatus() }),

  async handle({ site_id_or_domain }, ctx) {
    return { reconnected: true, ...(await runOnSite(ctx, reconnectHandler, site_id_or_domain)) };
  },
});
