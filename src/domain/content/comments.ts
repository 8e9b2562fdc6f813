/** Comments of the child sites, read live (child protocol §6.4, REST §6.4). */

import { COMMENT_STATUSES, type Comment, type CommentStatus } from '../../../schemas/comment.js';
import { get, listOf, numberOf } from '../../../schemas/loose.js';
import { decodeEntities, plainText, richText } from '../../../schemas/text.js';
import type { SiteConnection, SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import type { LoadedSite } from '../sites/load.js';
import { isoTime } from '../sites/sites.js';
import { type DayRange, requireRange, siteRange } from './day-range.js';
import {
  type LiveError,
  type LiveFilter,
  liveSiteError,
  readFromSites,
  resolveLiveSites,
  unexpectedAnswer,
  withLiveSite,
} from './live-content.js';

export interface CommentQuery extends Partial<DayRange> {
  status: CommentStatus | 'all';
  /** Substring of the text; blank = no filter. */
  keyword?: string | undefined;
  /** Comments per site at most. */
  maximum: number;
}

export interface ContentAnswer<T> {
  /** Items by URL of their site. */
  data: Record<string, T[]>;
  /** Items in this answer; sites do not tell how many more they have. */
  total: number;
  errors: LiveError[];
}

/** Comments of many sites, newest first in each. A site that failed stands in `errors`. */
export async function listComments(ctx: Ctx, choice: LiveFilter, query: CommentQuery): Promise<ContentAnswer<Comment>> {
  requireModule(ctx, 'comments');
  requireRange(query);
  const selection = await resolveLiveSites(ctx, choice);
  const { answers, errors } = await readFromSites(ctx, selection, async (limited, target, connection) => {
    const value = await commentsOf(limited, target, connection, query);
    return { value, weight: value.reduce((sum, item) => sum + item.comment_content.length + 200, 0) };
  });
  return { ...bySiteUrl(answers), errors };
}

/** Comments of one site; throws when it cannot be asked. */
export async function siteComments(caller: Ctx, site: SiteRow, query: CommentQuery): Promise<ContentAnswer<Comment>> {
  requireModule(caller, 'comments');
  requireRange(query);
  const value = await withLiveSite(caller, site.id, 'read', (ctx, connection, target) =>
    commentsOf(ctx, target, connection, query),
  );
  return { ...bySiteUrl([{ site, value }]), errors: [] };
}

export function bySiteUrl<T>(answers: readonly { site: SiteRow; value: T[] }[]): {
  data: Record<string, T[]>;
  total: number;
} {
  return {
    data: Object.fromEntries(answers.map(({ site, value }) => [site.url, value])),
    total: answers.reduce((sum, { value }) => sum + value.length, 0),
  };
}

/** The child's names of the states. */
const CHILD_STATUS: Record<CommentStatus, string> = {
  approved: 'approve',
  pending: 'hold',
  spam: 'spam',
  trash: 'trash',
};

async function commentsOf(
  ctx: Ctx,
  target: LoadedSite,
  connection: SiteConnection,
  query: CommentQuery,
): Promise<Comment[]> {
  const statuses = query.status === 'all' ? COMMENT_STATUSES : [query.status];
  const found = await fetchComments(ctx, target.site, connection, {
    status: statuses.map((status) => CHILD_STATUS[status]).join(','),
    maxRecords: query.maximum,
    ...(query.keyword === undefined || query.keyword === '' ? {} : { keyword: query.keyword }),
    ...(await siteRange(ctx, target.site, query)),
  });
  return found.slice(0, query.maximum);
}

/** Longest text of a comment that is passed on. WordPress allows 65,525 bytes. */
const MAX_CONTENT = 65_535;
const MAX_ITEMS = 400_000;

/** One `get_all_comments` call, newest first. */
export async function fetchComments(
  ctx: Ctx,
  site: SiteRow,
  connection: SiteConnection,
  params: Record<string, string | number>,
): Promise<Comment[]> {
  const answer = await ctx.child.call(connection, 'get_all_comments', params, { signal: ctx.signal });
  const items = listOf(answer, MAX_ITEMS);
  if (items === null) throw liveSiteError(unexpectedAnswer('the list of comments'), site.id);
  const comments = items.flatMap((item) => commentOf(item, site) ?? []);
  return comments.sort((a, b) => newestFirst(a.comment_date, b.comment_date) || b.comment_id - a.comment_id);
}

export function newestFirst(a: string | null, b: string | null): number {
  return (b ?? '') < (a ?? '') ? -1 : (b ?? '') > (a ?? '') ? 1 : 0;
}

function commentOf(item: unknown, site: SiteRow): Comment | null {
  const id = numberOf(get(item, 'id'));
  const status = statusOf(get(item, 'status'));
  if (id === null || status === null) return null;
  return {
    comment_id: id,
    comment_author: plainText(get(item, 'author'), 250),
    // The child writes addresses in entities against harvesters, differently each time.
    comment_author_email: plainText(decodeEntities(textOf(get(item, 'author_email'))), 254),
    comment_author_url: plainText(get(item, 'author_url'), 2048),
    comment_author_ip: plainText(get(item, 'author_ip'), 100),
    comment_content: richText(textOf(get(item, 'content')), MAX_CONTENT),
    comment_status: status,
    comment_date: timeOf(get(item, 'dts')),
    post_id: numberOf(get(item, 'postId')) ?? 0,
    post_title: plainText(get(item, 'postName'), 500),
    website_id: site.id,
    website_url: site.url,
    website_name: site.name,
  };
}

function statusOf(value: unknown): CommentStatus | null {
  if (value === 'unapproved') return 'pending';
  return COMMENT_STATUSES.find((status) => status === value) ?? null;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Unix seconds as ISO time; null for what is no time, such as WordPress' zero date, which arrives as -62169984000. */
export function timeOf(value: unknown): string | null {
  const seconds = numberOf(value);
  if (seconds === null || seconds <= 0 || seconds > 253_402_300_799) return null;
  return isoTime(Math.round(seconds) * 1000);
}
