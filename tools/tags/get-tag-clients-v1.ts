import { pageNumbers, paging } from '../../schemas/common.js';
import { tagHead, tagRef } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { listTagClients } from '../../src/domain/tags/tags.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-tag-clients-v1',
  title: "List a tag's clients",
  about: 'Lists clients that own sites with the tag, and how many.',
  run: 'POST',
  effect: 'read',
  input: () => z.object({ tag_id: tagRef(), ...paging(20, 100) }),
  output: () =>
    z.object({
      ...tagHead(),
      clients: z.array(
        z.object({ id: z.number().int(), name: z.string(), email: z.string(), sites_with_tag: z.number().int() }),
      ),
      ...pageNumbers(),
      total: z.number().int(),
    }),
  handle: ({ tag_id, page, per_page }, ctx) => listTagClients(ctx, tag_id, page, per_page),
});
