import { siteRef } from '../../schemas/common.js';
import { postCreate } from '../../schemas/content-tools.js';
import { newPost } from '../../schemas/post.js';
import { z } from '../../schemas/zod.js';
import { createPost } from '../../src/domain/content/post-create.js';
import { getSite } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/create-post-v1',
  title: 'Create a post',
  about: 'Creates a post or page on a site, as a draft by default.',
  effect: 'write',
  change: 'content',
  idempotent: false,

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      ...z.object(postCreate()).partial().shape,
      post_title: postCreate().post_title,
      post_content: postCreate().post_content,
      post_status: postCreate().post_status,
      post_type: postCreate().post_type,
    }),

  output: () =>
    z.object({
      site_id: z.number().int(),
      post_id: z.number().int(),
      link: z.string(),
      status: z.string().describe('As the site has it.'),
      warning: z.string().optional().describe('What was left out.'),
    }),

  async handle({ site_id_or_domain, ...given }, ctx) {
    const site = await getSite(ctx, site_id_or_domain);
    const post = newPost().parse(withoutNulls(given));
    const { without_image, ...made } = await createPost(ctx, site, post);
    const warning = without_image ? { warning: 'Created without its image: the site could not download it.' } : {};
    return { site_id: site.id, ...made, ...warning };
  },
});

/** Drops null fields: a new post has nothing to clear. */
function withoutNulls(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
}
