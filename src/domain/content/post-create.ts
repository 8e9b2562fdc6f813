/** Creates posts. The post is read back: the child always says that it added one (child protocol §6.4). */

import type { NewPost, PostRef } from '../../../schemas/post.js';
import { ServiceError } from '../../runtime/errors.js';
import { slugOf } from '../../runtime/slugs.js';
import type { SiteConnection, SiteRow } from '../../store/sites/sites.js';
import { mayHaveRun } from '../connection/attempt.js';
import type { Ctx } from '../context.js';
import { withLiveSite } from './live-content.js';
import { withDates } from './post-dates.js';
import { withFailureEvent, withPostError } from './post-errors.js';
import { findPost, releaseLock, shortLink } from './posts.js';

/**
 * Creates a post; `without_image` if the site could not fetch the featured image. Throws `create_post_error` if the
 * site refuses, `rest_invalid_param` for a date that does not fit.
 */
export async function createPost(
  caller: Ctx,
  site: SiteRow,
  post: NewPost,
): Promise<PostRef & { status: string; without_image: boolean }> {
  return withLiveSite(caller, site.id, 'write', async (ctx, connection, target) => {
    const dated = withDates(ctx, target.site, post);
    const fields = {
      comment_status: 'open' as const,
      ping_status: 'closed' as const,
      ...dated,
      post_name: slugOf(post.post_name || post.post_title),
    };
    const facts = { post_title: post.post_title, post_type: post.post_type ?? 'post' };
    const { id, link, made } = await withFailureEvent(ctx, site.id, { post_id: 0, ...facts, step: 'created' }, () =>
      create(ctx, connection, site.id, fields),
    );
    const { post_status } = made;
    ctx.events.emit({
      name: 'post.created',
      site_id: site.id,
      facts: { post_id: id, ...facts, post_status },
      changed: { post_status: [null, post_status] },
    });
    await releaseLock(ctx, connection, id, made.edit_lock);
    return {
      post_id: id,
      link: link === '' ? shortLink(site, id) : link,
      status: post_status,
      without_image: post.post_featured_image !== undefined && made.post_featured_image === null,
    };
  });
}

async function create(ctx: Ctx, connection: SiteConnection, siteId: number, fields: NewPost) {
  const { id, link } = await withPostError('create_post_error', siteId, () =>
    ctx.child.savePost(connection, fields, null, { signal: ctx.signal }),
  ).catch((error: unknown) => {
    throw error instanceof ServiceError && mayHaveRun(error.cause) ? perhapsCreated(error) : error;
  });
  if (id === null) throw new ServiceError('create_post_error', 'The site did not create the post and gave no reason.');
  // A post that cannot be read back was not created, regardless of the child's answer.
  const made = await findPost(ctx, connection, id);
  if (made === null)
    throw new ServiceError('create_post_error', `The site reported post ${id}, but has no post with this id.`);
  return { id, link, made };
}

/** A second try would be a second post. */
function perhapsCreated({ code, message, data, cause }: ServiceError): ServiceError {
  return new ServiceError(code, `${message} The post may have been created all the same.`, {
    advice: 'Look for it among the posts of the site before you repeat the call.',
    data,
    cause,
  });
}
