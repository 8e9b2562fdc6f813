import { siteRef } from '../../schemas/common.js';
import { postId } from '../../schemas/content-tools.js';
import { z } from '../../schemas/zod.js';
import { changePostStatus } from '../../src/domain/content/post-status.js';
import { getSite } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/set-post-status-v1',
  title: 'Publish or trash a post',
  about: 'Publishes or unpublishes a post, or moves it to or out of the trash.',
  effect: 'write',
  change: 'content',
  idempotent: true,

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      post_id: postId(),
      step: z.enum(['publish', 'unpublish', 'trash', 'restore']).describe('unpublish makes it a draft.'),
    }),

  output: () =>
    z.object({
      site_id: z.number().int(),
      post_id: z.number().int(),
      post_status: z.string(),
      changed: z.boolean().describe('false = it already was.'),
    }),

  async handle({ site_id_or_domain, post_id, step }, ctx) {
    const site = await getSite(ctx, site_id_or_domain);
    return { site_id: site.id, ...(await changePostStatus(ctx, site, post_id, step)) };
  },
});
