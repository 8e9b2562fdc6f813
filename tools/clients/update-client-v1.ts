import { client, clientDetails, clientEmailOrNone, clientNameInput, ids } from '../../schemas/client.js';
import { clientRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { plannedSites, updateClient } from '../../src/domain/clients/clients.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-client-v1',
  title: 'Change a client',
  about: 'Changes the given fields of a client; "" clears a text.',
  effect: 'write',
  change: 'other',
  plan: ({ client_id_or_email, ...input }, ctx) => plannedSites(ctx, client_id_or_email, input),
  idempotent: true,
  input: () =>
    z.object({
      client_id_or_email: clientRef(),
      name: clientNameInput().optional().describe('Not blank.'),
      client_email: clientEmailOrNone().optional().describe('"" removes it.'),
      ...clientDetails(),
      selected_sites: ids().optional().describe('All its site ids; [] = none.'),
    }),
  output: client,
  handle: ({ client_id_or_email, ...input }, ctx) => updateClient(ctx, client_id_or_email, input),
});
