import { clientHead } from '../../schemas/client.js';
import { clientRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { countClientSites } from '../../src/domain/clients/clients.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/count-client-sites-v1',
  title: "Count a client's sites",
  about: "Counts a client's sites of any status.",
  run: 'POST',
  effect: 'read',
  input: () => z.object({ client_id_or_email: clientRef() }),
  output: () => z.object({ ...clientHead(), sites_count: z.number().int() }),
  handle: ({ client_id_or_email }, ctx) => countClientSites(ctx, client_id_or_email),
});
