/** Posts of the child sites, read live (child protocol §6.4, REST §6.12). */

import { listOf } from '../../../schemas/loose.js';
import type { PostDetail, PostItem, PostStatus, SearchOn } from '../../../schemas/post.js';
import { plainText } from '../../../schemas/text.js';
import { type EditablePost, editableOf, postItemOf, toBase64 } from '../../child/posts.js';
import { ServiceError } from '../../core/errors.js';
import type { SiteConnection, SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { bySiteUrl, type ContentAnswer, newestFirst, timeOf } from './comments.js';
import { type DayRange, requireRange, siteRange } from './day-range.js';
import { type LiveFilter, readFromSites, resolveLiveSites, unexpectedAnswer, withLiveSite } from './live-content.js';

export interface PostQuery extends Partial<DayRange> {
  /** Substring of title, text or both; blank = no filter. */
  search?: string | undefined;
  search_on: SearchOn;
  /** Empty = every state but the trash. */
  status: readonly PostStatus[];
  post_type: string;
  /** Posts per site at most. */
  maximum: number;
}

const ALL_BUT_TRASH: readonly PostStatus[] = ['publish', 'pending', 'private', 'future', 'draft'];
const SEARCHED: Record<SearchOn, string> = { title: 'title', body: 'content', 'Title and Body': 'all' };

/** Posts of many sites, newest first in each. A site that failed stands in `errors`. */
export async function listPosts(ctx: Ctx, choice: LiveFilter, query: PostQuery): Promise<ContentAnswer<PostItem>> {
  requireRange(query);
  const selection = await resolveLiveSites(ctx, choice);
  const { answers, errors } = await readFromSites(ctx, selection, async (limited, target, connection) => {
    const value = await postsOf(limited, target, connection, query);
    return { value, weight: value.reduce((sum, item) => sum + item.title.length + 300, 0) };
  });
  return { ...bySiteUrl(answers), errors };
}

async function postsOf(
  ctx: Ctx,
  target: LoadedSite,
  connection: SiteConnection,
  query: PostQuery,
): Promise<PostItem[]> {
  const statuses = query.status.length === 0 ? ALL_BUT_TRASH : query.status;
  const searching = query.search !== undefined && query.search !== '';
  const posts = await fetchPosts(ctx, target.site, connection, {
    status: statuses.join(','),
    maxRecords: query.maximum,
    post_type: query.post_type,
    // Days mean the date of the post, not of its last change.
    where_post_date: 1,
    ...(searching ? { keyword: query.search ?? '', search_on: SEARCHED[query.search_on] } : {}),
    ...(await siteRange(ctx, target.site, query)),
  });
  return posts.sort((a, b) => newestFirst(a.post_date, b.post_date) || b.id - a.id).slice(0, query.maximum);
}

const MAX_ITEMS = 10_000;

async function fetchPosts(
  ctx: Ctx,
  site: SiteRow,
  connection: SiteConnection,
  params: Record<string, string | number>,
): Promise<PostItem[]> {
  const answer = await ctx.child.call(connection, 'get_all_posts', params, { signal: ctx.signal });
  const items = listOf(answer, MAX_ITEMS);
  if (items === null) throw unexpectedAnswer('the list of posts');
  return items.flatMap((item) => postItemOf(item, site) ?? []);
}

/** One post whole. Throws `post_not_exist` 404. */
export async function getPost(caller: Ctx, site: SiteRow, id: number): Promise<PostDetail> {
  return withLiveSite(caller, site.id, 'read', async (ctx, connection) => {
    const post = await readPost(ctx, connection, id);
    const { thumbnail_id: _id, edit_lock, state_before_trash: _state, ...shown } = post;
    const [facts] = await Promise.all([
      listFacts(ctx, site, connection, post),
      releaseLock(ctx, connection, id, edit_lock),
    ]);
    return { ...shown, ...facts };
  });
}

/** The post as `get_edit` tells it. That call puts our user's edit lock on the post: `releaseLock` takes it off. */
export async function readPost(ctx: Ctx, connection: SiteConnection, id: number): Promise<EditablePost> {
  const post = await findPost(ctx, connection, id);
  if (post === null) throw postNotFound(id);
  return post;
}

/** The same; null when the site has no such post. */
export async function findPost(ctx: Ctx, connection: SiteConnection, id: number): Promise<EditablePost | null> {
  // With any other type than `post` the child leaves categories and tags out, and calls everything a page.
  const params = { action: 'get_edit', id, post_type: 'post' };
  return editableOf(await ctx.child.call(connection, 'post_action', params, { signal: ctx.signal }));
}

export function postNotFound(id: number): ServiceError {
  return new ServiceError('post_not_exist', `The site has no post ${id}.`, {
    field: 'post_id',
    advice: 'Find the right id with GET /v2/posts.',
  });
}

/** Puts the edit lock back as it was before we read the post, so that nobody is locked out of the editor by a look. */
export async function releaseLock(ctx: Ctx, connection: SiteConnection, id: number, before: string): Promise<void> {
  const values = toBase64(JSON.stringify({ meta_key: ['_edit_lock'], meta_value: [before], check_prev: [0] }));
  try {
    await ctx.child.call(connection, 'post_action', { action: 'update_meta', id, values }, { signal: ctx.signal });
  } catch (error) {
    // It falls off by itself after 150 s.
    ctx.log.debug({ err: error, site_id: connection.site_id }, 'the edit lock of a post could not be taken off');
  }
}

/** Address, author and last change, which only a list tells. */
export async function listFacts(
  ctx: Ctx,
  site: SiteRow,
  connection: SiteConnection,
  post: Pick<EditablePost, 'id' | 'post_type' | 'post_status'>,
): Promise<{ link: string; author: string; modified: string | null }> {
  const answer = await ctx.child.call(
    connection,
    'get_all_posts',
    {
      postId: post.id,
      post_type: post.post_type,
      status: post.post_status,
      extract_tokens: toBase64(JSON.stringify([LINK])),
      extract_post_type: 0,
    },
    { signal: ctx.signal },
  );
  const [item] = listOf(answer, 1) ?? [];
  const found = item === undefined ? null : postItemOf(item, site);
  const link = plainText(typeof item === 'object' && item !== null ? Reflect.get(item, LINK) : '', 2048);
  return {
    link: link === '' ? shortLink(site, post.id) : link,
    author: found?.author ?? '',
    // Of a scheduled post the list tells the date it is scheduled for.
    modified: found === null || post.post_status === 'future' ? null : timeOf(found.dts),
  };
}

const LINK = '[post.url]';

/** WordPress answers it with a redirect to the address of the post, whatever its type. */
export function shortLink(site: SiteRow, id: number): string {
  return `${site.url}?p=${id}`;
}
