import { ids } from '../../schemas/client.js';
import { pageNumbers, paging } from '../../schemas/common.js';
import { tagListItem } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { listTags } from '../../src/domain/tags/tags.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-tags-v1',
  title: 'List tags',
  about: 'Lists tags by name with their number of sites. Start here to find a tag id.',
  run: 'GET',
  effect: 'read',
  input: () =>
    z.object({
      ...paging(20, 100),
      search: z.string().max(255).default('').describe('Part of name or id.'),
      include: ids().default([]).describe('Only these ids; empty = all.'),
      exclude: ids().default([]).describe('Not these ids.'),
    }),
  output: () =>
    z.object({
      items: z.array(tagListItem()),
      ...pageNumbers(),
      total: z.number().int(),
    }),
  handle: ({ page, per_page, ...filter }, ctx) => listTags(ctx, filter, page, per_page),
});
