/** Posts of the child sites, read live (child protocol §6.4, REST §6.12). */

import type { PostDetail, PostItem, PostStatus, SearchOn } from '../../../schemas/post.js';
import type { EditablePost } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import type { SiteConnection, SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import {
  bySiteUrl,
  type ContentAnswer,
  dateOf,
  firstOf,
  newestFirst,
  ONE_MORE,
  type Shown,
  siteFields,
} from './comments.js';
import { type DayRange, requireRange, siteRange } from './day-range.js';
import { type LiveFilter, readFromSites, resolveLiveSites, withLiveSite } from './live-content.js';
import { inTurn } from './reading-turns.js';

export interface PostQuery extends Partial<DayRange> {
  /** Substring of title, text or both; blank = no filter. */
  search?: string | undefined;
  search_on: SearchOn;
  /** Empty = every state except the trash. */
  status: readonly PostStatus[];
  post_type: string;
  /** Maximum number of posts per site. */
  maximum: number;
}

const ALL_BUT_TRASH: readonly PostStatus[] = ['publish', 'pending', 'private', 'future', 'draft'];

/** Posts of many sites, newest first in each. A failed site is listed in `errors`. */
export async function listPosts(ctx: Ctx, choice: LiveFilter, query: PostQuery): Promise<ContentAnswer<PostItem>> {
  requireRange(query);
  const selection = await resolveLiveSites(ctx, choice);
  const { answers, errors } = await readFromSites(ctx, selection, async (limited, target, connection) => {
    const value = await postsOf(limited, target, connection, query);
    return { value, weight: value.items.reduce((sum, item) => sum + item.title.length + 300, 0) };
  });
  return { ...bySiteUrl(answers), errors };
}

async function postsOf(
  ctx: Ctx,
  target: LoadedSite,
  connection: SiteConnection,
  query: PostQuery,
): Promise<Shown<PostItem>> {
  const statuses = query.status.length === 0 ? ALL_BUT_TRASH : query.status;
  const posts = await ctx.child.posts(
    connection,
    {
      statuses,
      maximum: query.maximum + ONE_MORE,
      post_type: query.post_type,
      search:
        query.search === undefined || query.search === '' ? undefined : { text: query.search, on: query.search_on },
      range: await siteRange(ctx, target.site, query),
    },
    { signal: ctx.signal },
  );
  const found = posts
    .map((post) => ({ ...post, post_date: dateOf(post.dts), ...siteFields(target.site) }))
    .sort((a, b) => newestFirst(a.post_date, b.post_date) || b.id - a.id);
  return firstOf(found, query.maximum);
}

/**
 * One complete post. Throws `post_not_exist` 404. The child shows one only as its editor does, which locks it for others
 * until `releaseLock`: for the site this is a write, refused on trial, and two at once would each restore the other's lock.
 */
export function getPost(caller: Ctx, site: SiteRow, id: number): Promise<PostDetail> {
  return inTurn(caller, 'one', () =>
    withLiveSite(caller, site.id, 'write', async (ctx, connection) => {
      const post = await readPost(ctx, connection, id);
      const { thumbnail_id: _id, edit_lock, status_before_trash: _status, ...shown } = post;
      const [facts] = await Promise.all([
        listFacts(ctx, site, connection, post),
        releaseLock(ctx, connection, id, edit_lock),
      ]);
      return { ...shown, ...facts };
    }),
  );
}

/** The post as an editor opens it. Reading sets our user's edit lock on it: `releaseLock` removes it. */
export async function readPost(ctx: Ctx, connection: SiteConnection, id: number): Promise<EditablePost> {
  const post = await findPost(ctx, connection, id);
  if (post === null) throw postNotFound(id);
  return post;
}

/** The same; null if the site has no such post. */
export function findPost(ctx: Ctx, connection: SiteConnection, id: number): Promise<EditablePost | null> {
  return ctx.child.postForEditing(connection, id, { signal: ctx.signal });
}

export function postNotFound(id: number): ServiceError {
  return new ServiceError('post_not_exist', `The site has no post ${id}.`, {
    field: 'post_id',
    advice: 'Find the right id with list-posts-v1.',
  });
}

/** Restores the edit lock from before we read the post, so that reading locks no one out of the editor. */
export async function releaseLock(ctx: Ctx, connection: SiteConnection, id: number, before: string): Promise<void> {
  try {
    await ctx.child.setEditLock(connection, id, before, { signal: ctx.signal });
  } catch (error) {
    // The lock expires after 150 s anyway.
    ctx.log.debug({ err: error, site_id: connection.site_id }, 'the edit lock of a post could not be removed');
  }
}

/** URL, author and last change, which only a list contains. */
export async function listFacts(
  ctx: Ctx,
  site: SiteRow,
  connection: SiteConnection,
  post: Pick<EditablePost, 'id' | 'post_type' | 'post_status'>,
): Promise<{ link: string; author: string; modified: string | null }> {
  const listing = await ctx.child.postListing(connection, post, { signal: ctx.signal });
  const link = listing?.link ?? '';
  return {
    link: link === '' ? shortLink(site, post.id) : link,
    author: listing?.author ?? '',
    // For a scheduled post the list has the date it is scheduled for.
    modified: post.post_status === 'future' ? null : dateOf(listing?.dts ?? null),
  };
}

/** WordPress redirects it to the URL of the post, for any type. */
export function shortLink(site: SiteRow, id: number): string {
  return `${site.url}?p=${id}`;
}
