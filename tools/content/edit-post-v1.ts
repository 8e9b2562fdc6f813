import { siteRef } from '../../schemas/common.js';
import { postId, postWrite } from '../../schemas/content-tools.js';
import { z } from '../../schemas/zod.js';
import { editPost } from '../../src/domain/content/post-edit.js';
import { getSite } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/edit-post-v1',
  title: 'Change a post',
  about:
    'Changes the given fields of a post or page; "" clears a text. Refused while someone is editing it on the site.',
  effect: 'write',
  change: 'content',
  idempotent: true,
  replaces: true,

  input: () => z.object({ site_id_or_domain: siteRef(), post_id: postId(), ...z.object(postWrite()).partial().shape }),

  output: () => z.object({ site_id: z.number().int(), post_id: z.number().int(), link: z.string() }),

  async handle({ site_id_or_domain, post_id, ...change }, ctx) {
    const site = await getSite(ctx, site_id_or_domain);
    return { site_id: site.id, ...(await editPost(ctx, site, post_id, change)) };
  },
});
