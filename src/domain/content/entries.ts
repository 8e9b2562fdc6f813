/** Posts and comments as returned to assistants: grouped by site, with its address once. */

import type { Comment } from '../../../schemas/comment.js';
import type { siteComments, sitePosts } from '../../../schemas/content-tools.js';
import type { PostItem } from '../../../schemas/post.js';
import { cut, decodeEntities } from '../../../schemas/text.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';

/** Maximum length of a comment's text in a list, in characters. */
const LONGEST = 400;

/** Sites without items are left out. */
function bySite<T extends { website_id: number }>(data: Readonly<Record<string, readonly T[]>>) {
  return Object.entries(data).flatMap(([url, items]) =>
    items[0] === undefined ? [] : [{ site_id: items[0].website_id, url, items }],
  );
}

export function postEntries(
  data: Readonly<Record<string, readonly PostItem[]>>,
): z.output<ReturnType<typeof sitePosts>>[] {
  return bySite(data).map(({ site_id, url, items }) => ({
    site_id,
    url,
    posts: items.map(({ id, title, post_status, author, post_date, comment_count }) => ({
      id,
      title,
      status: post_status,
      author,
      date: post_date,
      comments: comment_count,
    })),
  }));
}

export function commentEntries(
  data: Readonly<Record<string, readonly Comment[]>>,
): z.output<ReturnType<typeof siteComments>>[] {
  return bySite(data).map(({ site_id, url, items }) => ({
    site_id,
    url,
    comments: items.map(
      ({ comment_id, comment_status, comment_author, comment_date, post_title, comment_content }) => ({
        id: comment_id,
        status: comment_status,
        author: comment_author,
        date: comment_date,
        post: post_title,
        text: cut(decodeEntities(comment_content), LONGEST),
      }),
    ),
  }));
}

/** Most items of a site in an answer to a tool. */
export const MOST_PER_SITE = 200;
const NAMED = 10;

/** How many there are, if that is known, and what is left out. */
export function contentCount({ total, more }: { total: number; more: readonly number[] }, perSite: number) {
  if (more.length === 0) return { total };
  const named = more.slice(0, NAMED).join(', ');
  const sites = `${more.length === 1 ? 'site' : 'sites'} ${named}${more.length > NAMED ? ', …' : ''}`;
  const how = perSite < MOST_PER_SITE ? `a higher per_site (up to ${MOST_PER_SITE})` : 'dates, or a search';
  const has = more.length === 1 ? 'has' : 'have';
  return {
    total: null,
    truncated: `${total} are shown, and there are at least ${total + more.length}: ${sites} ${has} more than ${perSite}, which sites do not count. Send ${how}.`,
  };
}

/** Translates the tools' filters to those of the verbs. */
export function contentChoice(asked: {
  site_ids_or_domains: readonly (string | number)[];
  tags: readonly string[];
  client_ids: readonly number[];
}) {
  return { websites: asked.site_ids_or_domains, groups: asked.tags, clients: asked.client_ids };
}

/** Distinct ids; throws `svc_invalid_input` if there are none, or more than `most`. */
export function requireIds(ids: readonly number[], field: string, most: number): number[] {
  const distinct = [...new Set(ids)];
  if (distinct.length > 0 && distinct.length <= most) return distinct;
  const what = distinct.length === 0 ? 'must name at least one' : `names ${distinct.length}, and may name ${most}`;
  throw new ServiceError('svc_invalid_input', `${field} ${what}. Nothing changed.`, {
    field,
    advice: distinct.length === 0 ? 'Read the ids with list-comments-v1.' : 'Send them in several calls.',
  });
}
