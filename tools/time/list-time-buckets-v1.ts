import { paged, paging } from '../../schemas/common.js';
import { searchText } from '../../schemas/search.js';
import { clientId, timeBucket } from '../../schemas/time-tools.js';
import { z } from '../../schemas/zod.js';
import { requireModule } from '../../src/domain/settings/modules.js';
import { listBuckets } from '../../src/domain/time-tracker/buckets.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-time-buckets-v1',
  title: 'List hour buckets',
  about: 'Lists hours that clients bought, with what is used and left in the current period.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      client_id: clientId(),
      search: searchText().describe('Part of the title.'),
      ...paging(20, 100),
    }),

  output: () =>
    z.object({
      buckets: z.array(timeBucket()),
      ...paged(),
    }),

  async handle({ page, per_page, ...filter }, ctx) {
    requireModule(ctx, 'time-tracker');
    const { items, total } = await listBuckets(ctx, filter, page, per_page);
    return { buckets: items, total, page, per_page };
  },
});
