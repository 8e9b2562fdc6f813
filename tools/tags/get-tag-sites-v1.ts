import { page, perPage } from '../../schemas/common.js';
import { siteOfOwner } from '../../schemas/site.js';
import { tagHead, tagRef } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { listTagSites } from '../../src/domain/sites/tags.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-tag-sites-v1',
  title: "List a tag's sites",
  about: 'Lists the sites that carry a tag with status, in URL order.',
  run: 'POST',
  effect: 'read',
  idempotent: true,
  input: z.object({ tag_id: tagRef, page: page(), per_page: perPage(20, 100) }),
  output: z.object({
    ...tagHead,
    sites: z.array(siteOfOwner),
    page: z.number().int(),
    per_page: z.number().int(),
    total: z.number().int(),
  }),
  handle: ({ tag_id, page, per_page }, ctx) => listTagSites(ctx, tag_id, page, per_page),
});
