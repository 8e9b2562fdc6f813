import { pageNumbers, paging } from '../../schemas/common.js';
import { siteOfOwner } from '../../schemas/site.js';
import { include, siteExtras } from '../../schemas/site-extras.js';
import { tagHead, tagRef } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { withExtras } from '../../src/domain/sites/extras.js';
import { listTagSites } from '../../src/domain/tags/tags.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-tag-sites-v1',
  title: "List a tag's sites",
  about: 'Lists the sites with a tag and their status, in URL order.',
  run: 'POST',
  effect: 'read',
  input: () => z.object({ tag_id: tagRef(), ...paging(20, 100), include: include() }),
  output: () =>
    z.object({
      ...tagHead(),
      sites: z.array(siteOfOwner().extend(siteExtras())),
      ...pageNumbers(),
      total: z.number().int(),
    }),
  async handle({ tag_id, page, per_page, include }, ctx) {
    const found = await listTagSites(ctx, tag_id, page, per_page);
    return { ...found, sites: await withExtras(ctx, found.sites, include) };
  },
});
