import { id, list, siteRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { actOnCommentsInBulk } from '../../src/domain/content/comment-actions.js';
import { requireIds } from '../../src/domain/content/entries.js';
import { getSite } from '../../src/domain/sites/resolve.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/moderate-comments-v1',
  title: 'Moderate comments',
  about:
    'Approves, unapproves, trashes or restores comments of a site, or marks them as spam or not, and verifies each.',
  effect: 'write',
  change: 'content',
  idempotent: true,

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      comment_ids: list(id()).describe('From list-comments-v1; at most 500.'),
      action: z
        .enum(['approve', 'unapprove', 'spam', 'unspam', 'trash', 'restore'])
        .describe('restore: out of the trash.'),
    }),

  output: () =>
    z.object({
      site_id: z.number().int(),
      done: z.array(z.number().int()).describe('Comments now in that state.'),
      errors: z.array(z.object({ id: z.number().int(), code: z.string(), message: z.string() })),
    }),

  async handle({ site_id_or_domain, comment_ids, action }, ctx) {
    const wanted = requireIds(comment_ids, 'comment_ids', 500);
    const site = await getSite(ctx, site_id_or_domain);
    const { comment_ids: done, errors } = await actOnCommentsInBulk(ctx, site, wanted, action);
    return { site_id: site.id, done, errors };
  },
});
