import { client, clientDetails, clientEmail, clientNameInput, ids } from '../../schemas/client.js';
import { z } from '../../schemas/zod.js';
import { addClient } from '../../src/domain/clients.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/add-client-v1',
  title: 'Create a client',
  about:
    'Creates a client and, with selected_sites, moves those sites to it, even from another client. An e-mail in use is svc_already_exists; an unknown site is svc_site_not_found and nothing is created.',
  run: 'POST',
  effect: 'write',
  idempotent: false,
  input: z.object({
    name: clientNameInput.describe('Name of the client; need not be unique.'),
    client_email: clientEmail.optional().describe('E-mail address; no two clients share one.'),
    ...clientDetails,
    selected_sites: ids().optional().describe('Ids of the sites that belong to the client.'),
  }),
  output: client,
  handle: (input, ctx) => addClient(ctx, input),
});
