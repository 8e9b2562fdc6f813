/** Routes of the comments (REST §6.4). */

import type { Change } from '../../../../schemas/approval.js';
import {
  type CommentAction,
  comment,
  commentAction,
  commentStatusFilter,
  liveErrors,
} from '../../../../schemas/comment.js';
import { z } from '../../../../schemas/zod.js';
import { actOnComment, actOnCommentsInBulk } from '../../../domain/content/comment-actions.js';
import { listComments, siteComments } from '../../../domain/content/comments.js';
import { once } from '../../../runtime/once.js';
import { missingParams } from '../parameter-errors.js';
import { ids, int, sitePath, text } from '../params.js';
import { ofModule, route } from '../route.js';
import { writtenOf } from '../schemas/records.js';
import { simpleSite, siteOf, siteRoute } from '../sites/references.js';
import { moreOn } from './more.js';
import { contentChoice, DATE_CODES, dayRange } from './params.js';

const query = once(() => ({
  status: commentStatusFilter(),
  keyword: text(255).optional().describe('Only comments whose text contains this.'),
  ...dayRange(),
  maximum: int(1, 500).default(50).describe('Comments per site, 1 to 500.'),
}));

const list = once(() =>
  z.object({
    message: z.string(),
    total: z.number().int().describe('Comments in this answer; sites do not report how many more there are.'),
    more: moreOn(),
    data: z.record(z.array(comment())).describe('By site URL, newest first.'),
    errors: liveErrors(),
  }),
);

function found(total: number, more: readonly number[]): string {
  const comments = total === 1 ? '1 comment' : `${total} comments`;
  if (more.length === 0) return `${comments}.`;
  return `${comments} shown; ${more.length === 1 ? '1 site has' : `${more.length} sites have`} more than maximum.`;
}

/** What is deleted for good is a deletion. */
const moderation = ({ action }: { action: CommentAction }): Change[] => [
  { kind: action === 'delete' ? 'deletions' : 'content' },
];

export const comments = ofModule('comments', [
  route({
    on: 'GET /comments',
    live: true,
    fails: [404],
    summary: 'List comments of many sites',
    description:
      'Asks the sites during the call, within its time limit. Covers the union of websites, groups and clients; without any of them, all sites. A site that is suspended, disconnected or fails is listed in errors.',
    inner: DATE_CODES,
    params: () => z.object({ ...contentChoice(), ...query() }),
    returns: list,
    async answer({ websites, groups, clients, ...asked }, ctx) {
      const { data, total, more, errors } = await listComments(ctx, { websites, groups, clients }, asked);
      return { message: found(total, more), total, more, data, errors };
    },
  }),
  route({
    on: 'GET /comments/{id_or_domain}',
    live: true,
    summary: 'List comments of one site',
    inner: DATE_CODES,
    params: () => z.object({ ...sitePath(), ...query() }),
    returns: list,
    async answer({ id_or_domain, ...asked }, ctx) {
      const site = await siteOf(ctx, id_or_domain);
      const { data, total, more, errors } = await siteComments(ctx, site, asked);
      return { message: found(total, more), total, more, data, site: await simpleSite(ctx, site), errors };
    },
  }),
  siteRoute({
    on: 'PUT|PATCH /comments/{id_or_domain}/{id_comment}/action',
    change: moderation,
    live: true,
    summary: 'Change the state of a comment',
    description: 'A step that is already done succeeds and changes nothing; a step from the wrong state is 409.',
    where: { id_comment: /^\d+$/ },
    params: () => ({ id_comment: int(1), action: commentAction() }),
    returns: () =>
      writtenOf(z.object({ comment_id: z.number().int(), action: commentAction(), comment_status: z.string() })),
    async answer(ctx, site, { id_comment, action }) {
      const { comment_id, comment_status, changed } = await actOnComment(ctx, site, id_comment, action);
      const state = comment_status === 'trash' ? 'in the trash' : comment_status;
      const message = changed ? `The comment is ${state} now.` : `The comment was ${state} already.`;
      return { message, data: { comment_id, action, comment_status } };
    },
  }),
  route({
    on: 'PUT|PATCH /comments/{id_or_domain}/bulk-action',
    change: moderation,
    live: true,
    summary: 'Change the state of many comments of a site',
    description: 'Each comment has its own result; the call fails only if all of them do.',
    params: () =>
      z.object({
        ...sitePath(),
        action: commentAction(),
        comment_ids: ids(500).describe('Comma-separated ids, at most 500.'),
      }),
    returns: () =>
      writtenOf(z.object({ processed: z.number().int(), comment_ids: z.array(z.number().int()) })).extend({
        errors: liveErrors(),
      }),
    async answer({ id_or_domain, action, comment_ids }, ctx) {
      if (comment_ids.length === 0) throw missingParams(['comment_ids']);
      const site = await siteOf(ctx, id_or_domain);
      const { processed, comment_ids: done, errors } = await actOnCommentsInBulk(ctx, site, comment_ids, action);
      const message = `${processed} of ${comment_ids.length} comments are in the requested state.`;
      return { message, data: { processed, comment_ids: done }, site: await simpleSite(ctx, site), errors };
    },
  }),
]);
