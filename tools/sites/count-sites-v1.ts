import { siteStatusFilter } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { countSites } from '../../src/domain/sites/sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/count-sites-v1',
  title: 'Count sites',
  about: 'Counts sites, all or by status.',
  run: 'GET',
  effect: 'read',

  input: () => z.object({ status: siteStatusFilter() }),

  output: () => z.object({ total: z.number().int() }),

  async handle({ status }, ctx) {
    return { total: await countSites(ctx, { status: status === 'any' ? undefined : status }) };
  },
});
