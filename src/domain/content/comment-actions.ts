/**
 * Changes the state of comments. The child always says SUCCESS, and dies on an unknown comment (child protocol §6.4),
 * so every step is looked up before and after.
 */

import { COMMENT_STATUSES, type Comment, type CommentAction, type CommentStatus } from '../../../schemas/comment.js';
import { ServiceError } from '../../runtime/errors.js';
import { tally } from '../../runtime/tally.js';
import type { SiteConnection, SiteRow } from '../../store/sites/sites.js';
import { mayHaveRun } from '../connection/attempt.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import { fetchComments } from './comments.js';
import { withLiveSite } from './live-content.js';

/** `deleted`: permanently. */
export type CommentOutcome = CommentStatus | 'deleted';

interface Step {
  /** States from which the step is allowed. */
  from: readonly CommentStatus[];
  /** States in which the step has nothing to do. */
  done: readonly CommentOutcome[];
}

/** The transition table (REST §6.4). Unspam and restore return to the state that WordPress has stored. */
const STEPS: Record<CommentAction, Step> = {
  approve: { from: ['pending'], done: ['approved'] },
  unapprove: { from: ['approved'], done: ['pending'] },
  spam: { from: ['approved', 'pending'], done: ['spam'] },
  unspam: { from: ['spam'], done: ['approved', 'pending'] },
  // A site without a trash deletes permanently.
  trash: { from: ['approved', 'pending', 'spam'], done: ['trash', 'deleted'] },
  restore: { from: ['trash'], done: ['approved', 'pending', 'spam'] },
  delete: { from: ['spam', 'trash'], done: ['deleted'] },
};

export interface CommentChange {
  comment_id: number;
  action: CommentAction;
  comment_status: CommentOutcome;
  /** False if the comment was already in the wanted state. */
  changed: boolean;
}

/**
 * Acts on one comment. Throws `svc_rest_comment_not_found`, `svc_rest_conflict` for a step that the table does not
 * allow, or `svc_child_error`.
 */
export async function actOnComment(ctx: Ctx, site: SiteRow, id: number, action: CommentAction): Promise<CommentChange> {
  const [result] = await actOnComments(ctx, site, [id], action);
  if (result === undefined) throw notFound(id);
  if ('error' in result) throw result.error;
  return result;
}

type Result = CommentChange | { comment_id: number; error: ServiceError };

/** Acts on many comments of one site, each with its own outcome. Throws the first failure if none succeeded. */
export async function actOnCommentsInBulk(ctx: Ctx, site: SiteRow, ids: readonly number[], action: CommentAction) {
  const results = await actOnComments(ctx, site, ids, action);
  const done = results.flatMap((result) => ('error' in result ? [] : [result.comment_id]));
  const failed = results.flatMap((result) => ('error' in result ? [result] : []));
  const errors = failed.map(({ comment_id, error }) => ({ id: comment_id, code: error.code, message: error.message }));
  const [first] = failed;
  if (done.length === 0 && first !== undefined) {
    const { code, message, advice, data } = first.error;
    throw new ServiceError(code, message, { ...(advice === undefined ? {} : { advice }), data: { ...data, errors } });
  }
  return { processed: done.length, comment_ids: done, errors };
}

async function actOnComments(
  caller: Ctx,
  site: SiteRow,
  ids: readonly number[],
  action: CommentAction,
): Promise<Result[]> {
  requireModule(caller, 'comments');
  return withLiveSite(caller, site.id, 'write', async (ctx, connection) => {
    const before = await findComments(ctx, site, connection, ids, 0);
    const results = new Map<number, Result>(ids.map((id) => [id, plan(id, before.get(id), action)]));
    const open = ids.filter((id) => isOpen(results.get(id)));
    if (open.length > 0) {
      const failure = await send(ctx, connection, open, action);
      const after = await findComments(ctx, site, connection, open, commonPost(open, before));
      for (const id of open) results.set(id, judge(id, action, after.get(id)?.comment_status ?? 'deleted', failure));
    }
    for (const id of open) emitOutcome(ctx, site.id, action, before.get(id), results.get(id));
    return [...results.values()];
  });
}

/** Emits an event for what was sent to the site, with its outcome. */
function emitOutcome(
  ctx: Ctx,
  site_id: number,
  action: CommentAction,
  comment: Comment | undefined,
  result?: Result,
): void {
  if (result === undefined) return;
  const { comment_id } = result;
  const facts = {
    comment_id,
    action,
    author: comment?.comment_author ?? '',
    post_title: comment?.post_title ?? '',
  };
  if ('error' in result)
    ctx.events.emit({ name: 'comment.failed', site_id, facts: { ...facts, code: result.error.code } });
  else if (result.changed)
    ctx.events.emit({
      name: 'comment.changed',
      site_id,
      facts: { ...facts, comment_status: result.comment_status },
      ...(comment !== undefined && { changed: { comment_status: [comment.comment_status, result.comment_status] } }),
    });
}

/** The post that all of them belong to, to keep the second list small; 0 if they do not share one. */
function commonPost(ids: readonly number[], comments: ReadonlyMap<number, Comment>): number {
  const posts = new Set(ids.map((id) => comments.get(id)?.post_id ?? 0));
  const [post] = posts;
  return posts.size === 1 && post !== undefined ? post : 0;
}

function isOpen(result: Result | undefined): boolean {
  return result !== undefined && !('error' in result) && result.changed;
}

/** The outcome if the site performs the step. */
function plan(id: number, comment: Comment | undefined, action: CommentAction): Result {
  if (comment === undefined) return { comment_id: id, error: notFound(id) };
  const { comment_status } = comment;
  const { from, done } = STEPS[action];
  if (done.includes(comment_status)) return { comment_id: id, action, comment_status, changed: false };
  if (from.includes(comment_status)) return { comment_id: id, action, comment_status, changed: true };
  return {
    comment_id: id,
    error: new ServiceError(
      'svc_rest_conflict',
      `Comment ${id} is ${named(comment_status)}: ${action} needs one that is ${from.map(named).join(' or ')}.`,
      {
        advice: comment_status === 'trash' ? 'Restore it first.' : 'Read the comments for their current states.',
        data: { comment_status },
      },
    ),
  };
}

function named(status: CommentStatus): string {
  return status === 'trash' ? 'in the trash' : status;
}

/** Returns a failure after which the step may still have happened. */
async function send(
  ctx: Ctx,
  connection: SiteConnection,
  ids: readonly number[],
  action: CommentAction,
): Promise<unknown> {
  try {
    await ctx.child.actOnComments(connection, ids, action, { signal: ctx.signal });
    return null;
  } catch (error) {
    if (!mayHaveRun(error) || ctx.signal.aborted) throw error;
    return error;
  }
}

function judge(id: number, action: CommentAction, status: CommentOutcome, failure: unknown): Result {
  if (STEPS[action].done.includes(status)) return { comment_id: id, action, comment_status: status, changed: true };
  const reason = failure instanceof Error ? failure.message : 'The site reported success.';
  return {
    comment_id: id,
    error: new ServiceError(
      'svc_child_error',
      `Comment ${id} is ${status} after ${action}: the step had no effect. ${reason}`,
      {
        advice: "A plugin on the site may prevent it: try it in the site's WordPress admin.",
        data: { comment_status: status },
      },
    ),
  };
}

/**
 * How many of the newest comments of each state are searched, step by step; 0 = all. Most work is done on new comments.
 */
const DEPTHS = [100, 2000, 0] as const;

/** The comments with these ids that exist. The child cannot look one up by id, only list them. */
export async function findComments(
  ctx: Ctx,
  site: SiteRow,
  connection: SiteConnection,
  ids: readonly number[],
  /** Only of this post; 0 = of any. */
  postId: number,
): Promise<Map<number, Comment>> {
  let found = new Map<number, Comment>();
  for (const depth of DEPTHS) {
    const post_id = postId === 0 ? undefined : postId;
    const comments = await fetchComments(ctx, site, connection, {
      statuses: COMMENT_STATUSES,
      maximum: depth,
      post_id,
    });
    found = new Map(comments.map((comment) => [comment.comment_id, comment]));
    if (ids.every((id) => found.has(id)) || !reaches(comments, depth)) break;
  }
  return found;
}

/** At least one state returned as many comments as requested, so there may be more. */
function reaches(comments: readonly Comment[], depth: number): boolean {
  if (depth === 0) return false;
  const counts = tally(comments.map(({ comment_status }) => comment_status));
  return [...counts.values()].some((count) => count >= depth);
}

function notFound(id: number): ServiceError {
  return new ServiceError('svc_rest_comment_not_found', `The site has no comment ${id}.`, {
    field: 'id_comment',
    advice: "Read the site's comments for the right ids.",
  });
}
