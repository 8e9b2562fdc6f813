import type { ChildFunction } from '../answer.js';
import { integer, list, type Params, text } from '../params.js';
import type { PostState, SiteState } from '../state.js';
import { approvedCount } from './comments.js';
import { dateFilter, newestFirst } from './dates.js';

const RECENT_STATUSES = ['publish', 'draft', 'pending', 'trash', 'future'];

/** `get_all_posts` (child protocol §6.4). */
export const getAllPosts: ChildFunction = ({ state, params }) =>
  findPosts(state, params, text(params, 'post_type') || 'post');

/** `get_all_pages` (child protocol §6.4). */
export const getAllPages: ChildFunction = ({ state, params }) => findPosts(state, params, 'page');

/** The array of posts, or empty text when no status was named, as the real child does. */
function findPosts(state: SiteState, params: Params, type: string): unknown {
  const statuses = list(params, 'status', ',');
  if (statuses.length === 0) return '';
  const limit = integer(params, 'maxRecords', 50);
  const matching = newestFirst(state.posts).filter((post) => post.type === type && matches(post, state, params));
  return statuses.flatMap((status) => {
    const found = matching.filter((post) => (status === 'any' ? post.status !== 'trash' : post.status === status));
    return found.slice(0, limit > 0 ? limit : found.length).map((post) => postItem(state, post));
  });
}

function matches(post: PostState, state: SiteState, params: Params): boolean {
  const postId = integer(params, 'postId');
  if (postId !== 0 && post.id !== postId) return false;
  const userId = integer(params, 'userId');
  if (userId !== 0 && state.users.find((user) => user.id === userId)?.login !== post.author) return false;
  const when = text(params, 'where_post_date') === '1' ? post.date : post.modified;
  if (!dateFilter(params, state.gmtOffset)(when)) return false;
  return searched(post, text(params, 'search_on')).includes(text(params, 'keyword').toLowerCase());
}

function searched(post: PostState, where: string): string {
  if (where === 'title') return post.title.toLowerCase();
  if (where === 'content') return post.content.toLowerCase();
  return `${post.title}\n${post.content}`.toLowerCase();
}

/** The newest of every status, for stats. */
export function recentPosts(state: SiteState, type: string, perStatus: number): Record<string, unknown>[] {
  const all = newestFirst(state.posts).filter((post) => post.type === type);
  return RECENT_STATUSES.flatMap((status) =>
    all
      .filter((post) => post.status === status)
      .slice(0, perStatus)
      .map((post) => postItem(state, post)),
  );
}

function postItem(state: SiteState, post: PostState): Record<string, unknown> {
  return {
    id: post.id,
    post_type: post.type,
    status: post.status,
    title: post.title,
    comment_count: String(approvedCount(state, post.id)),
    dts: post.modified,
    author: post.author,
    authorEmail: state.users.find((user) => user.login === post.author)?.email ?? '',
    categories: post.categories.join(', '),
    tags: post.tags.join(', '),
  };
}
