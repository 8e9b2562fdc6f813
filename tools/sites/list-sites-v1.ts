import { cursorText, id, pageNumbers, paging } from '../../schemas/common.js';
import { siteListItem, siteStatusFilter } from '../../schemas/site.js';
import { include, siteExtras } from '../../schemas/site-extras.js';
import { z } from '../../schemas/zod.js';
import { withExtras } from '../../src/domain/sites/extras.js';
import { listSitesFrom, listStandingSites } from '../../src/domain/sites/sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-sites-v1',
  title: 'List sites',
  about: 'Lists sites with their status. Filters combine. Start here to find a site id.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      ...paging(20, 100),
      status: siteStatusFilter(),
      search: z.string().max(255).default('').describe('Part of the name or URL.'),
      client_id: id().optional().describe('Only sites of this client.'),
      tag_id: id().optional().describe('Only sites with this tag.'),
      include: include(),
      cursor: cursorText().describe('"" starts; then next_cursor.'),
    }),

  output: () =>
    z.object({
      items: z.array(siteListItem().extend(siteExtras())),
      ...pageNumbers(),
      total: z.number().int(),
      next_cursor: z.string().optional(),
    }),

  async handle({ page, per_page, status, search, client_id, tag_id, include, cursor }, ctx) {
    const filter = { status: status === 'any' ? undefined : status, search, client_id, tag_id };
    if (cursor !== undefined) {
      const { items, ...paging } = await listSitesFrom(ctx, filter, cursor, page, per_page);
      return { items: await withExtras(ctx, items, include), per_page, ...paging };
    }
    const { items, total } = await listStandingSites(ctx, filter, page, per_page);
    return { items: await withExtras(ctx, items, include), page, per_page, total };
  },
});
