import { confirmation } from '../../schemas/common.js';
import { costId } from '../../schemas/cost-tools.js';
import { siteWord } from '../../schemas/site-text.js';
import { z } from '../../schemas/zod.js';
import { deleteCost, getCost, requireCost } from '../../src/domain/costs/records.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/delete-cost-v1',
  title: 'Delete a cost',
  about: 'Deletes a cost record.',
  effect: 'destroy',
  change: 'deletions',
  idempotent: false,

  input: () => z.object({ cost_id: costId(), ...confirmation() }),

  output: () =>
    z.object({
      deleted: z.boolean(),
      id: z.number().int(),
      name: z.string(),
      dry_run: z.boolean().optional().describe('True for a preview.'),
    }),

  question: ({ name }) => ({ text: `Delete the cost ${siteWord(name)}? This cannot be undone.` }),

  async preview({ cost_id }, ctx) {
    const { id, name } = requireCost(await getCost(ctx, cost_id), cost_id);
    return { deleted: false, dry_run: true, id, name };
  },

  async handle({ cost_id }, ctx) {
    const { id, name } = requireCost(await deleteCost(ctx, cost_id), cost_id);
    return { deleted: true, id, name };
  },
});
