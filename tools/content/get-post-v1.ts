import { siteRef, timestamp } from '../../schemas/common.js';
import { postId } from '../../schemas/content-tools.js';
import { z } from '../../schemas/zod.js';
import { getPost } from '../../src/domain/content/posts.js';
import { getSite } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-post-v1',
  title: 'Read a post',
  about: 'Reads a whole post or page from its site.',
  run: 'POST',
  effect: 'read',
  live: true,

  input: () => z.object({ site_id_or_domain: siteRef(), post_id: postId() }),

  output: () =>
    z.object({
      site_id: z.number().int(),
      id: z.number().int(),
      link: z.string(),
      author: z.string(),
      modified: timestamp().nullable(),
      post_type: z.string(),
      post_title: z.string(),
      post_content: z.string(),
      post_excerpt: z.string(),
      post_status: z.string(),
      post_name: z.string(),
      post_date: z.string().nullable().describe("In the site's time zone."),
      post_category: z.array(z.string()),
      post_tags: z.array(z.string()),
      comment_status: z.string(),
      post_featured_image: z.string().nullable(),
    }),

  async handle({ site_id_or_domain, post_id }, ctx) {
    const site = await getSite(ctx, site_id_or_domain);
    return { site_id: site.id, ...(await getPost(ctx, site, post_id)) };
  },
});
