import { int, list } from '../../schemas/common.js';
import { contentErrors, contentFilters, contentTotal, sitePosts } from '../../schemas/content-tools.js';
import { newPost, POST_STATUSES } from '../../schemas/post.js';
import { searchText } from '../../schemas/search.js';
import { z } from '../../schemas/zod.js';
import { contentChoice, contentCount, MOST_PER_SITE, postEntries } from '../../src/domain/content/entries.js';
import { listPosts } from '../../src/domain/content/posts.js';
import { defineOperation } from '../../src/operation/operation.js';

const NO_PAGES = 'Pages and custom types; for pages send post_type: "page".';

export default defineOperation({
  id: 'svc/list-posts-v1',
  title: 'List posts',
  about: 'Fetches posts or pages from sites, newest first. Sites that failed are in errors.',
  run: 'GET',
  effect: 'read',
  live: true,

  input: () =>
    z.object({
      ...contentFilters(),
      search: searchText().describe('Part of title or text.'),
      status: list(z.enum(POST_STATUSES)).default([]).describe('Any of them; empty = all but trash.'),
      post_type: newPost().shape.post_type.describe('post, page or a custom type.'),
      per_site: int(1, MOST_PER_SITE).default(10).describe('Maximum per site.'),
    }),

  output: () =>
    z.object({
      sites: z.array(sitePosts()),
      ...contentTotal(),
      not_looked_at: z.string().optional(),
      errors: contentErrors(),
    }),

  async handle({ search, status, post_type, per_site, start_date, end_date, ...chosen }, ctx) {
    const range = { dtsstart: start_date, dtsstop: end_date };
    const asked = { search, search_on: 'Title and Body' as const, status, post_type, maximum: per_site, ...range };
    const { data, errors, ...count } = await listPosts(ctx, contentChoice(chosen), asked);
    const others = post_type === 'post' ? { not_looked_at: NO_PAGES } : {};
    return { sites: postEntries(data), ...contentCount(count, per_site), ...others, errors };
  },
});
