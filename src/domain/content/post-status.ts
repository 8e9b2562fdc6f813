/** Changes the status of posts, and deletes them (child protocol §6.4, REST §6.12). */

import type { PostStep } from '../../../schemas/post.js';
import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { FieldChanges } from '../../runtime/events.js';
import type { SiteConnection, SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { withLiveSite } from './live-content.js';
import { withFailureEvent, withPostError } from './post-errors.js';
import { findPost, postNotFound, readPost, releaseLock } from './posts.js';

/** `deleted`: permanently. */
export interface StatusChange {
  post_id: number;
  post_status: string;
  /** False if the post was already in the wanted state. */
  changed: boolean;
}

/** Throws `post_not_exist`, `svc_rest_conflict` for a step from the wrong state, `update_post_status_error`. */
export function changePostStatus(ctx: Ctx, site: SiteRow, id: number, step: PostStep): Promise<StatusChange> {
  return take(ctx, site, id, step, 'update_post_status_error');
}

/**
 * Moves the post to the trash, or with `force` deletes it permanently. A post in the trash stays there unless forced.
 */
export function deletePost(ctx: Ctx, site: SiteRow, id: number, force: boolean): Promise<StatusChange> {
  return take(ctx, site, id, force ? 'delete' : 'trash', 'delete_post_error');
}

/** States in which a step has nothing to do. */
const DONE: Partial<Record<PostStep, readonly string[]>> = {
  publish: ['publish'],
  approve: ['publish'],
  unpublish: ['draft'],
  trash: ['trash'],
};

async function take(caller: Ctx, site: SiteRow, id: number, step: PostStep, code: ErrorCode): Promise<StatusChange> {
  return withLiveSite(caller, site.id, 'write', async (ctx, connection) => {
    const before = await statusOf(ctx, connection, id);
    if (before === null) throw postNotFound(id);
    if (DONE[step]?.includes(before.post_status) === true)
      return { post_id: id, post_status: before.post_status, changed: false };
    requireFit(id, before.post_status, step);
    const facts = { post_id: id, post_title: before.title, post_type: before.post_type, step };
    const post_status = await withFailureEvent(ctx, site.id, facts, async () => {
      const after = await withPostError(code, site.id, () => run(ctx, connection, id, step));
      requireReached(id, step, code, before.post_status, after);
      return after ?? 'deleted';
    });
    const changed: FieldChanges = { post_status: [before.post_status, post_status] };
    ctx.events.emit({ name: 'post.changed', site_id: site.id, facts: { ...facts, post_status }, changed });
    return { post_id: id, post_status, changed: true };
  });
}

function requireReached(id: number, step: PostStep, code: ErrorCode, before: string, after: string | null): void {
  if (isReached(step, before, after)) return;
  const post_status = after ?? 'deleted';
  throw new ServiceError(code, `The site reported success, but post ${id} is ${post_status} after ${step}.`, {
    advice: "A plugin on the site may prevent it: try it in the site's WordPress admin.",
    data: { post_status },
  });
}

function requireFit(id: number, before: string, step: PostStep): void {
  const inTrash = before === 'trash';
  if (inTrash && step !== 'restore' && step !== 'delete') {
    throw new ServiceError('svc_rest_conflict', `Post ${id} is in the trash.`, { advice: 'Restore it first.' });
  }
  if (!inTrash && step === 'restore') {
    throw new ServiceError('svc_rest_conflict', `Post ${id} is not in the trash, it is ${before}.`, {
      advice: 'There is nothing to restore.',
      data: { post_status: before },
    });
  }
}

/** Performs the step and returns the state afterwards, null if the post is gone. */
async function run(ctx: Ctx, connection: SiteConnection, id: number, step: PostStep): Promise<string | null> {
  const former = step === 'restore' ? await statusBeforeTrash(ctx, connection, id) : '';
  const action = step === 'approve' ? 'publish' : step;
  await ctx.child.actOnPost(connection, id, action, { signal: ctx.signal });
  // WordPress restores as a draft; the original state is in the post's meta data.
  const restorable = RESTORABLE.find((status) => status === former);
  if (restorable !== undefined)
    await ctx.child.updatePost(connection, id, { post_status: restorable }, { signal: ctx.signal });
  return (await statusOf(ctx, connection, id))?.post_status ?? null;
}

const RESTORABLE = ['publish', 'pending', 'private', 'future'] as const;

async function statusBeforeTrash(ctx: Ctx, connection: SiteConnection, id: number): Promise<string> {
  const post = await readPost(ctx, connection, id);
  await releaseLock(ctx, connection, id, post.edit_lock);
  return post.status_before_trash;
}

function isReached(step: PostStep, before: string, after: string | null): boolean {
  switch (step) {
    case 'delete':
      return after === null;
    // A site without a trash deletes permanently.
    case 'trash':
      return after === null || after === 'trash';
    case 'restore':
      return after !== null && after !== 'trash';
    case 'unpublish':
      return after === 'draft';
    default:
      return after === 'publish' && before !== 'trash';
  }
}

/** Status and title of the post, null if the site has no post with this id. */
export async function statusOf(ctx: Ctx, connection: SiteConnection, id: number) {
  const listed = await ctx.child.postStatus(connection, id, { signal: ctx.signal });
  if (listed !== null) return listed;
  // "any" does not include types that are excluded from searches.
  const post = await findPost(ctx, connection, id);
  if (post === null) return null;
  await releaseLock(ctx, connection, id, post.edit_lock);
  return { post_status: post.post_status, post_type: post.post_type, title: post.post_title };
}
