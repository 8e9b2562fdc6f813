/** Comments of the child sites, read live (child protocol §6.4, REST §6.4). */

import { COMMENT_STATUSES, type Comment, type CommentStatus } from '../../../schemas/comment.js';
import type { CommentsQuery } from '../../outbound/child/port.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { SiteConnection, SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import type { LoadedSite } from '../sites/load.js';
import { type DayRange, requireRange, siteRange } from './day-range.js';
import { type LiveError, type LiveFilter, readFromSites, resolveLiveSites, withLiveSite } from './live-content.js';
import { inTurn } from './reading-turns.js';

export interface CommentQuery extends Partial<DayRange> {
  status: CommentStatus | 'all';
  /** Substring of the text; blank = no filter. */
  keyword?: string | undefined;
  /** Maximum number of comments per site. */
  maximum: number;
}

export interface ContentAnswer<T> {
  /** Items by URL of their site. */
  data: Record<string, T[]>;
  /** Items in this answer. */
  total: number;
  /** Sites that have more than they were asked for; they do not report how many. */
  more: number[];
  errors: LiveError[];
}

/** Comments of many sites, newest first in each. A failed site is listed in `errors`. */
export async function listComments(ctx: Ctx, choice: LiveFilter, query: CommentQuery): Promise<ContentAnswer<Comment>> {
  requireModule(ctx, 'comments');
  requireRange(query);
  const selection = await resolveLiveSites(ctx, choice);
  const { answers, errors } = await readFromSites(ctx, selection, async (limited, target, connection) => {
    const value = await commentsOf(limited, target, connection, query);
    return { value, weight: value.items.reduce((sum, item) => sum + item.comment_content.length + 200, 0) };
  });
  return { ...bySiteUrl(answers), errors };
}

/** Comments of one site; throws if it cannot be asked. */
export async function siteComments(caller: Ctx, site: SiteRow, query: CommentQuery): Promise<ContentAnswer<Comment>> {
  requireModule(caller, 'comments');
  requireRange(query);
  const value = await inTurn(caller, 'one', () =>
    withLiveSite(caller, site.id, 'read', (ctx, connection, target) => commentsOf(ctx, target, connection, query)),
  );
  return { ...bySiteUrl([{ site, value }]), errors: [] };
}

/** Some items of a site, and whether it has others. */
export interface Shown<T> {
  items: T[];
  more: boolean;
}

/** One more is asked for than is shown, to learn whether there are others. */
export const ONE_MORE = 1;

export function firstOf<T>(found: readonly T[], maximum: number): Shown<T> {
  return { items: found.slice(0, maximum), more: found.length > maximum };
}

export function bySiteUrl<T>(answers: readonly { site: SiteRow; value: Shown<T> }[]): Omit<ContentAnswer<T>, 'errors'> {
  return {
    data: Object.fromEntries(answers.map(({ site, value }) => [site.url, value.items])),
    total: answers.reduce((sum, { value }) => sum + value.items.length, 0),
    more: answers.filter(({ value }) => value.more).map(({ site }) => site.id),
  };
}

async function commentsOf(
  ctx: Ctx,
  target: LoadedSite,
  connection: SiteConnection,
  query: CommentQuery,
): Promise<Shown<Comment>> {
  const statuses = query.status === 'all' ? COMMENT_STATUSES : [query.status];
  const range = await siteRange(ctx, target.site, query);
  const search = query.keyword === '' ? undefined : query.keyword;
  const found = await fetchComments(ctx, target.site, connection, {
    statuses,
    maximum: query.maximum + ONE_MORE,
    search,
    range,
  });
  return firstOf(found, query.maximum);
}

/** One list of comments from the site, newest first. */
export async function fetchComments(
  ctx: Ctx,
  site: SiteRow,
  connection: SiteConnection,
  query: CommentsQuery,
): Promise<Comment[]> {
  const found = await ctx.child.comments(connection, query, { signal: ctx.signal });
  const comments = found.map(({ dts, ...comment }) => ({ ...comment, comment_date: dateOf(dts), ...siteFields(site) }));
  return comments.sort((a, b) => newestFirst(a.comment_date, b.comment_date) || b.comment_id - a.comment_id);
}

/** The members of an item that identify its site, as lists show them. */
export function siteFields({ id, url, name }: SiteRow) {
  return { website_id: id, website_url: url, website_name: name };
}

/** ISO 8601 for unix seconds. */
export function dateOf(seconds: number | null): string | null {
  return seconds === null ? null : isoTime(Math.round(seconds) * 1000);
}

export function newestFirst(a: string | null, b: string | null): number {
  return (b ?? '') < (a ?? '') ? -1 : (b ?? '') > (a ?? '') ? 1 : 0;
}
