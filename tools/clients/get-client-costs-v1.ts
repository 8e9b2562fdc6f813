import { clientHead } from '../../schemas/client.js';
import { clientRef } from '../../schemas/common.js';
import { clientCostEntry, costTotals } from '../../schemas/cost.js';
import { z } from '../../schemas/zod.js';
import { clientCosts } from '../../src/domain/costs/costs.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-client-costs-v1',
  title: "Read a client's costs",
  about: "Lists what a client's sites cost, one entry per cost and site.",
  instructions: 'Take totals from the answer.',
  run: 'POST',
  effect: 'read',
  input: () => z.object({ client_id_or_email: clientRef() }),
  output: () => z.object({ ...clientHead(), costs: z.array(clientCostEntry()), ...costTotals() }),
  handle: ({ client_id_or_email }, ctx) => clientCosts(ctx, client_id_or_email),
});
