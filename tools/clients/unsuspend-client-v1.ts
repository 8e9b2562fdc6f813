import { clientHead } from '../../schemas/client.js';
import { clientRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { markClient } from '../../src/domain/clients/clients.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/unsuspend-client-v1',
  title: 'Lift a client suspension',
  about: 'Makes a client active and lifts the suspension of all its sites.',
  effect: 'write',
  idempotent: true,
  input: () => z.object({ client_id_or_email: clientRef() }),
  output: () => z.object({ unsuspended: z.boolean(), ...clientHead(), sites_unsuspended: z.number().int() }),
  handle: async ({ client_id_or_email }, ctx) => {
    const { sites, ...head } = await markClient(ctx, client_id_or_email, false);
    return { unsuspended: true, ...head, sites_unsuspended: sites };
  },
});
