import { clientHead } from '../../schemas/client.js';
import { clientRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { previewSuspension, suspendClient } from '../../src/domain/clients/suspension.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/suspend-client-v1',
  title: 'Suspend a client and its sites',
  about: 'Suspends a client and all its sites, excluding them from syncs and updates.',
  effect: 'write',
  change: 'connections',
  idempotent: true,
  input: () => z.object({ client_id_or_email: clientRef() }),
  output: () => z.object({ suspended: z.boolean(), ...clientHead(), sites_suspended: z.number().int() }),
  plan: ({ client_id_or_email }, ctx) => previewSuspension(ctx, client_id_or_email),
  handle: async ({ client_id_or_email }, ctx) => {
    const { client_id, client_name, suspended } = await suspendClient(ctx, client_id_or_email);
    return { suspended: true, client_id, client_name, sites_suspended: suspended };
  },
});
