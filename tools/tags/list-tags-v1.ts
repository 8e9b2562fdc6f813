import { ids } from '../../schemas/client.js';
import { page, perPage } from '../../schemas/common.js';
import { tagListItem } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { listTags } from '../../src/domain/tags.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/list-tags-v1',
  title: 'List tags',
  about:
    'Lists tags in name order, a page at a time, with the number of sites that carry each. Use it to find the tag id that the other operations take; total counts all matches.',
  run: 'GET',
  effect: 'read',
  idempotent: true,
  input: z.object({
    page: page(),
    per_page: perPage(20, 100),
    search: z.string().max(255).default('').describe('Part of the name or of the id, in any case; blank = all.'),
    include: ids().default([]).describe('Only these tag ids; empty = all.'),
    exclude: ids().default([]).describe('Not these tag ids.'),
  }),
  output: z.object({
    items: z.array(tagListItem),
    page: z.number().int(),
    per_page: z.number().int(),
    total: z.number().int(),
  }),
  handle: ({ page, per_page, ...filter }, ctx) => listTags(ctx, filter, page, per_page),
});
