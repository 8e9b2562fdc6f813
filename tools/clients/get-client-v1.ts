import { client } from '../../schemas/client.js';
import { clientRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { getClient } from '../../src/domain/clients/clients.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-client-v1',
  title: 'Read one client',
  about: 'Reads a client: contact, address, note, status, number of sites.',
  run: 'POST',
  effect: 'read',
  input: () => z.object({ client_id_or_email: clientRef() }),
  output: client,
  handle: ({ client_id_or_email }, ctx) => getClient(ctx, client_id_or_email),
});
