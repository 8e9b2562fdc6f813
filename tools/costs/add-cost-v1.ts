import { costRecord, newCost } from '../../schemas/cost.js';
import { costWrite } from '../../schemas/cost-tools.js';
import { z } from '../../schemas/zod.js';
import { addCost } from '../../src/domain/costs/records.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/add-cost-v1',
  title: 'Create a cost',
  about: 'Records a cost or an income for sites, tags or clients. A subscription needs renewal_type.',
  effect: 'write',
  change: 'other',
  idempotent: false,

  input: () =>
    z.object({
      ...z.object(costWrite()).partial().shape,
      name: costWrite().name,
      price: costWrite().price,
    }),

  output: costRecord,

  handle: (input, ctx) => addCost(ctx, newCost().parse(input)),
});
