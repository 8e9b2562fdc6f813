import { bool, paged, paging } from '../../schemas/common.js';
import { COST_GROUPS, costGroups, costNames, costRecord } from '../../schemas/cost.js';
import { z } from '../../schemas/zod.js';
import { checkLosing, groupedCosts } from '../../src/domain/costs/grouped.js';
import { listNamedCosts } from '../../src/domain/costs/records.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-costs-v1',
  title: 'List costs',
  about:
    'Lists costs and income by name; with group_by, what all subscriptions cost and bring in. For one site or client: get-site-costs-v1, get-client-costs-v1.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      group_by: z.enum(COST_GROUPS).optional().describe('month = what is due in the next 12.'),
      losing: bool().default(false).describe('By client or site: only what costs more than it brings in.'),
      ...paging(20, 100),
    }),

  output: () =>
    z.object({
      costs: z.array(
        costRecord()
          .pick({
            id: true,
            kind: true,
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
          })
          .extend(costNames()),
      ),
      ...costGroups(),
      ...paged(),
    }),

  async handle({ group_by, losing, page, per_page }, ctx) {
    checkLosing(group_by, losing);
    if (group_by !== undefined) return groupedCosts(ctx, group_by, page, per_page, losing);
    return listNamedCosts(ctx, page, per_page);
  },
});
