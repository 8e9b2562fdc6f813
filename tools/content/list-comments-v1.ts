import { commentStatusFilter } from '../../schemas/comment.js';
import { int } from '../../schemas/common.js';
import { contentErrors, contentFilters, contentTotal, siteComments } from '../../schemas/content-tools.js';
import { searchText } from '../../schemas/search.js';
import { z } from '../../schemas/zod.js';
import { listComments } from '../../src/domain/content/comments.js';
import { commentEntries, contentChoice, contentCount, MOST_PER_SITE } from '../../src/domain/content/entries.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-comments-v1',
  title: 'List comments',
  about: 'Fetches comments from sites, newest first. Sites that failed are in errors.',
  run: 'GET',
  effect: 'read',
  live: true,

  input: () =>
    z.object({
      ...contentFilters(),
      status: commentStatusFilter().describe('Only in this state.'),
      search: searchText().describe('Part of the text.'),
      per_site: int(1, MOST_PER_SITE).default(10).describe('Maximum per site.'),
    }),

  output: () => z.object({ sites: z.array(siteComments()), ...contentTotal(), errors: contentErrors() }),

  async handle({ status, search, per_site, start_date, end_date, ...chosen }, ctx) {
    const asked = { status, keyword: search, maximum: per_site, dtsstart: start_date, dtsstop: end_date };
    const { data, errors, ...count } = await listComments(ctx, contentChoice(chosen), asked);
    return { sites: commentEntries(data), ...contentCount(count, per_site), errors };
  },
});
