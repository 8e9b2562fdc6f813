import { clientHead } from '../../schemas/client.js';
import { clientRef, continuedFields, siteError } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { previewSuspension, unsuspendClient } from '../../src/domain/clients/suspension.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/unsuspend-client-v1',
  title: 'Lift a client suspension',
  about: 'Reactivates a client and its sites; reconnects if needed.',
  effect: 'write',
  change: 'connections',
  idempotent: true,
  input: () => z.object({ client_id_or_email: clientRef() }),
  output: () =>
    z.object({
      unsuspended: z.boolean(),
      ...clientHead(),
      sites_unsuspended: z.number().int(),
      sites_reconnected: z.number().int().optional().describe('Only if some were disconnected.'),
      errors: z.array(siteError()).optional().describe('Sites that could not be reconnected.'),
      ...continuedFields(),
      sites_queued: z.number().int().optional(),
    }),
  plan: ({ client_id_or_email }, ctx) => previewSuspension(ctx, client_id_or_email),
  handle: async ({ client_id_or_email }, ctx) => {
    const { sites, reconnected, ...head } = await unsuspendClient(ctx, client_id_or_email);
    return { unsuspended: true, ...head, sites_unsuspended: sites, ...reconnected };
  },
});
