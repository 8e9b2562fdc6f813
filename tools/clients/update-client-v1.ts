import { client, clientDetails, clientEmailOrNone, clientNameInput, ids } from '../../schemas/client.js';
import { clientRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { updateClient } from '../../src/domain/clients.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/update-client-v1',
  title: 'Change a client',
  about:
    'Changes the given fields of a client and leaves the rest; "" clears a text field. selected_sites replaces the whole set of its sites, [] unassigns all: send the complete list. An e-mail in use is svc_already_exists.',
  run: 'POST',
  effect: 'write',
  idempotent: true,
  input: z.object({
    client_id_or_email: clientRef,
    name: clientNameInput.optional().describe('New name; must not be blank.'),
    client_email: clientEmailOrNone.optional().describe('New e-mail address; "" removes it.'),
    ...clientDetails,
    selected_sites: ids().optional().describe('Ids of all sites of the client from now on; [] = none.'),
  }),
  output: client,
  handle: ({ client_id_or_email, ...input }, ctx) => updateClient(ctx, client_id_or_email, input),
});
