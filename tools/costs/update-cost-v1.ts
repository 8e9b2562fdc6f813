import { costRecord } from '../../schemas/cost.js';
import { costId, costWrite } from '../../schemas/cost-tools.js';
import { z } from '../../schemas/zod.js';
import { requireCost, updateCost } from '../../src/domain/costs/records.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-cost-v1',
  title: 'Change a cost',
  about: 'Changes the given fields of a cost. Lists of sites, tags and clients replace the current ones.',
  effect: 'write',
  change: 'other',
  idempotent: true,
  replaces: true,

  input: () => z.object({ cost_id: costId(), ...z.object(costWrite()).partial().shape }),

  output: costRecord,

  handle: async ({ cost_id, ...change }, ctx) => requireCost(await updateCost(ctx, cost_id, change), cost_id),
});
