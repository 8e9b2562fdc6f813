import { client, clientDetails, clientEmail, clientNameInput, ids } from '../../schemas/client.js';
import { z } from '../../schemas/zod.js';
import { addClient } from '../../src/domain/clients/clients.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/add-client-v1',
  title: 'Create a client',
  about: 'Creates a client and moves selected_sites to it, even from another client.',
  effect: 'write',
  change: 'other',
  idempotent: false,
  input: () =>
    z.object({
      name: clientNameInput().describe('Need not be unique.'),
      client_email: clientEmail().optional().describe('Unique among clients.'),
      ...clientDetails(),
      selected_sites: ids().optional().describe('Site ids.'),
    }),
  output: client,
  handle: (input, ctx) => addClient(ctx, input),
});
