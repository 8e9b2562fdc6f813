import { clientStatusFilter } from '../../schemas/client.js';
import { z } from '../../schemas/zod.js';
import { countClients } from '../../src/domain/clients/clients.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/count-clients-v1',
  title: 'Count clients',
  about: 'Counts clients, all or by status.',
  run: 'GET',
  effect: 'read',
  input: () => z.object({ status: clientStatusFilter() }),
  output: () => z.object({ total: z.number().int() }),
  handle: async (input, ctx) => ({ total: await countClients(ctx, input) }),
});
