/** Schemas of posts and comments as assistants read and write them: fewer fields than the records of the REST interface. */

import { once } from '../src/runtime/once.js';
import { COMMENT_STATUSES, liveErrors } from './comment.js';
import { id, list, siteRefs, timestamp } from './common.js';
import { calendarDate } from './cost.js';
import { newPost, postChange } from './post.js';
import { idList } from './search.js';
import { z } from './zod.js';

const int = () => z.number().int();

/** Which sites are queried, and for which days. */
export const contentFilters = once(() => ({
  site_ids_or_domains: siteRefs('Empty = ALL sites, unless tags or clients are named.').default([]),
  tags: list(z.string().trim().min(1).max(255)).default([]).describe('Sites with any of these: names or ids.'),
  client_ids: idList().describe('Sites of any of these.'),
  start_date: calendarDate().optional().describe('First day, YYYY-MM-DD; needs end_date.'),
  end_date: calendarDate().optional().describe('Last day, inclusive.'),
}));

const site = once(() => ({ site_id: int(), url: z.string() }));

export const sitePosts = once(() =>
  z.object({
    ...site(),
    posts: z.array(
      z.object({
        id: int(),
        title: z.string(),
        status: z.string(),
        author: z.string(),
        date: timestamp().nullable(),
        comments: int(),
      }),
    ),
  }),
);

export const siteComments = once(() =>
  z.object({
    ...site(),
    comments: z.array(
      z.object({
        id: int(),
        status: z.enum(COMMENT_STATUSES),
        author: z.string(),
        date: timestamp().nullable(),
        post: z.string(),
        text: z.string(),
      }),
    ),
  }),
);

export const contentErrors = liveErrors;

/** Sites do not count what they have. */
export const contentTotal = once(() => ({
  total: int().nullable().describe('null = unknown, there are more.'),
  truncated: z.string().optional(),
}));

export const postId = () => id().describe('From list-posts-v1.');

/** Writable fields of a post; omitted ones stay unchanged. */
export const postWrite = once(() => {
  const change = postChange().shape;
  return {
    post_title: change.post_title.describe('Title.'),
    post_content: change.post_content.describe('HTML; the site filters it.'),
    post_excerpt: change.post_excerpt.describe('Short text.'),
    post_status: change.post_status.describe('State.'),
    post_name: change.post_name.describe('Last part of the URL.'),
    post_date: change.post_date.describe("YYYY-MM-DD HH:MM:SS in the site's time zone."),
    post_category: change.post_category.describe('Names; missing ones are created.'),
    post_tags: change.post_tags.describe('Names; missing ones are created.'),
    comment_status: change.comment_status.describe('Whether visitors may comment.'),
    post_featured_image: change.post_featured_image.describe('URL; the site downloads it.'),
  };
});

/** A new post. */
export const postCreate = once(() => {
  const fields = newPost().shape;
  return {
    ...postWrite(),
    post_title: fields.post_title.describe('Title.'),
    post_content: fields.post_content.describe('HTML; the site filters it.'),
    post_status: fields.post_status.default('draft').describe('Visitors do not see a draft.'),
    post_type: fields.post_type.describe('post, page or a custom type.'),
  };
});
