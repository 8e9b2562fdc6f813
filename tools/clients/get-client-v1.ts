import { client } from '../../schemas/client.js';
import { clientRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { getClient } from '../../src/domain/clients.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/get-client-v1',
  title: 'Read one client',
  about:
    'Reads one client in full: contact, address, note, status and number of sites. Answers svc_client_not_found for an unknown id or e-mail; list-clients-v1 finds the right one.',
  run: 'POST',
  effect: 'read',
  idempotent: true,
  input: z.object({ client_id_or_email: clientRef }),
  output: client,
  handle: ({ client_id_or_email }, ctx) => getClient(ctx, client_id_or_email),
});
