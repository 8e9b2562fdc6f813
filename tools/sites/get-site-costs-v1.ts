import { siteRef } from '../../schemas/common.js';
import { costEntry, costTotals } from '../../schemas/cost.js';
import { z } from '../../schemas/zod.js';
import { siteCosts } from '../../src/domain/costs/costs.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-site-costs-v1',
  title: "Read a site's costs",
  about: "Lists a site's costs by due date, with totals.",
  run: 'POST',
  effect: 'read',
  input: () => z.object({ site_id_or_domain: siteRef() }),
  output: () => z.object({ site_id: z.number().int(), costs: z.array(costEntry()), ...costTotals() }),
  handle: ({ site_id_or_domain }, ctx) => siteCosts(ctx, site_id_or_domain),
});
