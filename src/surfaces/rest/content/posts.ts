/** Routes of the posts (REST §6.12). */

import { liveErrors } from '../../../../schemas/comment.js';
import {
  newPost,
  POST_STATUSES,
  POST_STEPS,
  postChange,
  postDetail,
  postItem,
  postRef,
  SEARCH_ON,
} from '../../../../schemas/post.js';
import { z } from '../../../../schemas/zod.js';
import { createPost } from '../../../domain/content/post-create.js';
import { editPost } from '../../../domain/content/post-edit.js';
import { changePostStatus, deletePost, type StatusChange } from '../../../domain/content/post-status.js';
import { getPost, listPosts } from '../../../domain/content/posts.js';
import { once } from '../../../runtime/once.js';
import { ownMember } from '../../../runtime/own-member.js';
import { csv, flag, int, sitePath, text } from '../params.js';
import { type Route, route } from '../route.js';
import { writtenOf } from '../schemas/records.js';
import { simpleSite, siteOf, siteRoute } from '../sites/references.js';
import { moreOn } from './more.js';
import { contentChoice, DATE_CODES, dayRange } from './params.js';

const where = { post_id: /^\d+$/ };

const NO_IMAGE = 'The post was created without its featured image: the site could not download it.';

const written = once(() => z.object({ message: z.string(), data: postRef() }));

const moved = once(() => writtenOf(z.object({ post_id: z.number().int(), post_status: z.string() })));

const STATES: Readonly<Record<string, string>> = { publish: 'published', draft: 'a draft', trash: 'in the trash' };

function movedAnswer({ post_id, post_status, changed }: StatusChange) {
  const state = ownMember(STATES, post_status) ?? post_status;
  const message = changed ? `The post is ${state} now.` : `The post was ${state} already.`;
  return { message, data: { post_id, post_status } };
}

export const posts: readonly Route[] = [
  route({
    on: 'GET /posts',
    live: true,
    fails: [404],
    summary: 'List posts of many sites',
    description:
      'Asks the sites during the call, within its time limit. Covers the union of websites, groups and clients; without any of them, all sites. A site that is suspended, disconnected or fails is listed in errors.',
    inner: DATE_CODES,
    params: () =>
      z.object({
        ...contentChoice(),
        search: text(255).optional().describe('Only posts containing this.'),
        search_on: z
          .preprocess(
            (value) => SEARCH_ON.find((name) => name.toLowerCase() === String(value).toLowerCase()) ?? value,
            z.enum(SEARCH_ON),
          )
          .default('Title and Body')
          .describe('Where to search.'),
        status: csv(z.enum(POST_STATUSES)).default([]).describe('States, separated by commas; default: all but trash.'),
        ...dayRange(),
        maximum: int(1, 200).default(50).describe('Posts per site, 1 to 200.'),
        post_type: z
          .string()
          .regex(/^[a-z0-9_-]{1,20}$/, 'must be the name of a post type')
          .default('post')
          .describe('post, page or a custom type.'),
      }),
    returns: () =>
      z.object({
        total: z.number().int().describe('Posts in this answer; sites do not report how many more there are.'),
        more: moreOn(),
        data: z.record(z.array(postItem())).describe('By site URL, newest first.'),
        errors: liveErrors(),
      }),
    async answer({ websites, groups, clients, ...asked }, ctx) {
      const { data, total, more, errors } = await listPosts(ctx, { websites, groups, clients }, asked);
      return { total, more, data, errors };
    },
  }),
  siteRoute({
    on: 'GET /posts/{id_or_domain}/{post_id}',
    live: true,
    summary: 'Read a whole post of a site',
    where,
    params: () => ({ post_id: int(1) }),
    returns: () => z.object({ data: postDetail() }),
    answer: async (ctx, site, { post_id }) => ({ data: await getPost(ctx, site, post_id) }),
  }),
  siteRoute({
    on: 'PUT|PATCH /posts/{id_or_domain}/{post_id}/update-status',
    change: ({ status }: { status: string }) => [{ kind: status === 'delete' ? 'deletions' : 'content' }],
    live: true,
    summary: 'Publish, unpublish, trash, restore or delete a post',
    description:
      'unpublish makes a draft; restore returns a post from the trash to its previous state; delete is permanent.',
    where,
    params: () => ({ post_id: int(1), status: z.enum(POST_STEPS) }),
    returns: moved,
    answer: async (ctx, site, { post_id, status }) => movedAnswer(await changePostStatus(ctx, site, post_id, status)),
  }),
  route({
    on: 'PUT|PATCH /posts/{id_or_domain}/{post_id}/edit',
    change: 'content',
    live: true,
    body: 'required',
    summary: 'Change a post',
    description:
      "Only the fields sent change. Refused with 409 while someone has the post open in the site's editor. The sticky flag can be set but not removed.",
    where,
    inner: DATE_CODES,
    params: () => postChange().extend({ ...sitePath(), post_id: int(1) }),
    returns: written,
    async answer({ id_or_domain, post_id, ...change }, ctx) {
      const site = await siteOf(ctx, id_or_domain);
      const data = await editPost(ctx, site, post_id, change);
      return { message: 'The post was changed.', data, site: await simpleSite(ctx, site) };
    },
  }),
  route({
    on: 'POST /posts/{id_or_domain}/create',
    change: 'content',
    live: true,
    body: 'required',
    summary: 'Create a post',
    inner: DATE_CODES,
    params: () => newPost().extend(sitePath()),
    returns: written,
    async answer({ id_or_domain, ...post }, ctx) {
      const site = await siteOf(ctx, id_or_domain);
      const { without_image, status, ...data } = await createPost(ctx, site, post);
      const errors = without_image ? [{ id: data.post_id, code: 'create_post_error', message: NO_IMAGE }] : [];
      const message = status === 'publish' ? 'The post was created.' : `The post was created. Its status: ${status}.`;
      return { message, data, site: await simpleSite(ctx, site), errors };
    },
  }),
  siteRoute({
    on: 'DELETE /posts/{id_or_domain}/{post_id}/delete',
    change: 'deletions',
    live: true,
    summary: 'Move a post to the trash, or delete it permanently',
    where,
    params: () => ({ post_id: int(1), force: flag().default(false).describe('True deletes permanently.') }),
    returns: moved,
    answer: async (ctx, site, { post_id, force }) => movedAnswer(await deletePost(ctx, site, post_id, force)),
  }),
];
