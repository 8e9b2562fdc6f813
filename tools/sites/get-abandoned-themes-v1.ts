import { paging } from '../../schemas/common.js';
import { abandonedItem } from '../../schemas/extension.js';
import { z } from '../../schemas/zod.js';
import { listAbandoned } from '../../src/domain/sites/findings.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-abandoned-themes-v1',
  title: 'List abandoned themes',
  about: 'Lists themes without a release for two years or more, across all sites.',
  run: 'GET',
  effect: 'read',

  input: () => z.object({ ...paging(50, 200) }),

  output: () =>
    z.object({
      items: z.array(abandonedItem()),
      total: z.number().int(),
      checked_at: z.string().nullable().describe('The oldest look; null while a site was not looked at.'),
      sites_not_checked: z.number().int().describe('Of these nothing is known yet.'),
    }),

  handle: ({ page, per_page }, ctx) => listAbandoned(ctx, 'theme', page, per_page),
});
