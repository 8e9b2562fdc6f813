/** Edits posts. The result is read back: the child says SUCCESS when nothing happened (child protocol §6.4). */

import { POST_COLUMNS, type PostChange, type PostRef } from '../../../schemas/post.js';
import type { EditablePost } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import { slugOf } from '../../runtime/slugs.js';
import type { SiteConnection, SiteRow } from '../../store/sites/sites.js';
import { changesOf } from '../action-log/fields.js';
import type { Ctx } from '../context.js';
import { withLiveSite } from './live-content.js';
import { withDates } from './post-dates.js';
import { withFailureEvent, withPostError } from './post-errors.js';
import { listFacts, readPost, releaseLock } from './posts.js';

/**
 * Only the given fields change. Throws `post_not_exist`, `svc_rest_conflict` while someone is editing it,
 * `edit_post_error`, `edit_post_failed`.
 */
export async function editPost(caller: Ctx, site: SiteRow, id: number, change: PostChange): Promise<PostRef> {
  return withLiveSite(caller, site.id, 'write', async (ctx, connection, target) => {
    const before = await readPost(ctx, connection, id);
    try {
      requireFree(ctx, before);
      requirePossible(before, change);
      const wanted = withDates(ctx, target.site, { ...change, ...namedSlug(change) }, before);
      const { post_title, post_type } = before;
      const facts = { post_id: id, post_title, post_type, fields: Object.keys(change) };
      const after = await withFailureEvent(ctx, site.id, facts, async () => {
        await withPostError('edit_post_error', site.id, () => write(ctx, connection, before, wanted));
        const read = await readPost(ctx, connection, id);
        requireEffect(before, read, wanted);
        return read;
      });
      const texts = facts.fields.filter((field) => field !== 'post_status');
      ctx.events.emit({
        name: 'post.changed',
        site_id: site.id,
        facts: { ...facts, post_title: after.post_title },
        changed: {
          ...Object.fromEntries(texts.map((field) => [field, null])),
          ...changesOf(before, after, ['post_status']),
        },
      });
      const { link } = await listFacts(ctx, site, connection, after);
      return { post_id: id, link };
    } finally {
      await releaseLock(ctx, connection, id, isHeld(ctx, before) ? before.edit_lock : '');
    }
  });
}

/** WordPress' own limit: a lock that has not been renewed for this long has expired. */
const LOCK_SECONDS = 150;

function isHeld(ctx: Ctx, post: EditablePost): boolean {
  const [since] = post.edit_lock.split(':');
  const age = ctx.clock.now() / 1000 - Number(since === '' ? Number.NaN : since);
  return age < LOCK_SECONDS && age > -LOCK_SECONDS;
}

function requireFree(ctx: Ctx, post: EditablePost): void {
  if (!isHeld(ctx, post)) return;
  throw new ServiceError('svc_rest_conflict', `Someone has post ${post.id} open in the site's editor.`, {
    advice: 'Try again once it is closed; the lock expires 150 s after the editor is left.',
  });
}

/** The child can pin a post, but has no way to unpin one. */
function requirePossible(before: EditablePost, change: PostChange): void {
  if (change.is_sticky === 0 && before.is_sticky === 1) {
    throw new ServiceError('svc_rest_conflict', 'The child plugin cannot make a sticky post unsticky.', {
      field: 'is_sticky',
      advice: "Do it in the site's WordPress admin.",
    });
  }
}

async function write(ctx: Ctx, connection: SiteConnection, before: EditablePost, wanted: PostChange): Promise<void> {
  const { post_category, ...fields } = wanted;
  const update = { ...fields, ...(post_category?.length === 0 ? { post_category: [] as const } : {}) };
  await ctx.child.updatePost(connection, before.id, update, { signal: ctx.signal });
  if (hasNames(post_category) || wanted.post_featured_image !== undefined || wanted.is_sticky === 1)
    await rewrite(ctx, connection, before, wanted);
}

function hasNames(categories: PostChange['post_category']): boolean {
  return categories !== undefined && categories.length > 0;
}

/**
 * Named categories, the featured image and the sticky flag can only be set through `newpost`, which makes the connected user
 * the author and removes the featured image: both are restored.
 */
async function rewrite(ctx: Ctx, connection: SiteConnection, before: EditablePost, wanted: PostChange): Promise<void> {
  const now = await readPost(ctx, connection, before.id);
  const { post_title, post_content } = now;
  const post_status = now.post_status as NonNullable<PostChange['post_status']>;
  const { post_category, post_featured_image, featured_image_data, is_sticky } = wanted;
  const fields = {
    post_title,
    post_content,
    post_status,
    ...(hasNames(post_category) ? { post_category } : {}),
    ...(post_featured_image === undefined ? {} : { post_featured_image }),
    ...(featured_image_data === undefined ? {} : { featured_image_data }),
    ...(is_sticky === 1 ? { is_sticky } : {}),
  };
  const over = { id: now.id, post_type: now.post_type, author: await authorLogin(ctx, connection, now) };
  await ctx.child.savePost(connection, fields, over, { signal: ctx.signal });
  const asked = post_featured_image !== undefined;
  const failed = asked && (await readPost(ctx, connection, now.id)).post_featured_image === null;
  // A new image that could not be downloaded must not cost the old one.
  if (now.thumbnail_id !== '' && (failed || !asked))
    await ctx.child.updatePost(connection, now.id, { thumbnail_id: now.thumbnail_id }, { signal: ctx.signal });
  if (!failed) return;
  throw new ServiceError('edit_post_failed', 'The site could not download the featured image. The rest was changed.', {
    field: 'post_featured_image',
    advice: "Check that the site can reach the image's URL.",
    data: { fields: ['post_featured_image'] },
  });
}

/** Roles that can write posts; there may be many thousands of subscribers. */
const WRITERS = ['administrator', 'editor', 'author', 'contributor'] as const;

/**
 * Login of the author, who is listed by nice name. Throws if it cannot be determined: otherwise the post would change
 * its author.
 */
async function authorLogin(ctx: Ctx, connection: SiteConnection, post: EditablePost): Promise<string> {
  const options = { signal: ctx.signal };
  const nicename = (await ctx.child.postListing(connection, post, options))?.author ?? '';
  // The child's value for an author whose account was deleted.
  if (nicename === 'removed') return '';
  const users = nicename === '' ? [] : await ctx.child.users(connection, WRITERS, options);
  const login = users.find((user) => user.nicename === nicename)?.login ?? '';
  if (login !== '') return login;
  throw new ServiceError(
    'edit_post_error',
    `The author of post ${post.id} could not be determined, and would be lost.`,
    {
      advice: "Change categories, featured image and stickiness in the site's WordPress admin.",
    },
  );
}

const COMPARED = [...POST_COLUMNS, 'post_tags', 'post_category'] as const;

/**
 * A field that keeps its old value although another was sent did not take effect. The site's filters may alter a value
 * that did.
 */
function requireEffect(before: EditablePost, after: EditablePost, wanted: PostChange): void {
  const asText = (value: unknown) => (Array.isArray(value) ? [...value].sort().join(',') : String(value ?? ''));
  const failed = COMPARED.filter((name) => {
    const value = wanted[name];
    if (value === undefined || asText(value) === asText(before[name])) return false;
    // Without any other a post has its site's default category, which may be the one that it had.
    if (name === 'post_category' && asText(value) === '' && before.post_category.length === 1) return false;
    return asText(after[name]) === asText(before[name]);
  });
  // WordPress itself publishes a scheduled post when its time has come, and the reverse.
  const real = failed.filter((name) => name !== 'post_status' || !isScheduling(before.post_status, wanted.post_status));
  if (real.length === 0) return;
  throw new ServiceError('edit_post_failed', `The site reported success, but did not change ${real.join(', ')}.`, {
    ...(real[0] === undefined ? {} : { field: real[0] }),
    advice: "A plugin on the site may prevent it: try it in the site's WordPress admin.",
    data: { fields: real },
  });
}

function isScheduling(before: string, wanted: string | undefined): boolean {
  return [before, wanted].every((status) => status === 'publish' || status === 'future');
}

function namedSlug(change: PostChange): { post_name?: string } {
  return change.post_name === undefined ? {} : { post_name: slugOf(change.post_name) };
}
