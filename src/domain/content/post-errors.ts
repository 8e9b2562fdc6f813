/** Errors of a site with the codes of the posts routes. */

import { ChildFailure } from '../../outbound/child/port.js';
import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { EventFacts } from '../../runtime/events.js';
import type { Ctx } from '../context.js';
import { liveSiteError } from '../sites/live.js';

/** A refusal by the site gets the code of the route; an unreachable site keeps its own code (REST §6.12). */
export async function withPostError<T>(code: ErrorCode, siteId: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ChildFailure)) throw error;
    const known = liveSiteError(error, siteId);
    if (known.code !== 'svc_child_error') throw known;
    throw new ServiceError(code, known.message, {
      ...(known.advice === undefined ? {} : { advice: known.advice }),
      data: known.data,
      cause: error,
    });
  }
}

/**
 * Changes a post and emits an event if the site failed. A refusal before the site was asked to change anything emits
 * none.
 */
export async function withFailureEvent<T>(
  ctx: Ctx,
  siteId: number,
  facts: EventFacts['post.changed'],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, status } = liveSiteError(error, siteId);
    if (status >= 500) ctx.events.emit({ name: 'post.failed', site_id: siteId, facts: { ...facts, code } });
    throw error;
  }
}
