import { paged, paging } from '../../schemas/common.js';
import { costRecord } from '../../schemas/cost.js';
import { z } from '../../schemas/zod.js';
import { listCosts } from '../../src/domain/costs/records.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-costs-v1',
  title: 'List costs',
  about: 'Lists costs by name. For one site or client use get-site-costs-v1 or get-client-costs-v1.',
  run: 'GET',
  effect: 'read',

  input: () => z.object({ ...paging(20, 100) }),

  output: () =>
    z.object({
      costs: z.array(
        costRecord().pick({
          id: true,
          name: true,
          price: true,
          type: true,
          renewal_type: true,
          license_type: true,
          cost_status: true,
          next_renewal: true,
          sites: true,
          groups: true,
          clients: true,
        }),
      ),
      ...paged(),
    }),

  async handle({ page, per_page }, ctx) {
    const { items, total } = await listCosts(ctx, page, per_page);
    return { costs: items, total, page, per_page };
  },
});
