/** Steps that the service takes on its own, in the action log: an entry is stored in the transaction of its step. */

import { asServiceError, ServiceError } from '../../runtime/errors.js';
import type { NewEvent } from '../../runtime/events.js';
import type { Ctx } from '../context.js';
import { entryOf } from './recorder.js';

/**
 * Takes a step, and tells listeners of it if it happened. Throws `svc_storage_unavailable` if the step cannot be stored with
 * its entry: then it did not happen, and can be tried again.
 * @param take one conditional write, whose last statement changes nothing if the step does not happen
 * @param happened whether it did, by what `take` returns
 */
export async function loggedStep<T>(
  ctx: Ctx,
  event: NewEvent,
  take: () => Promise<T>,
  happened: (result: T) => boolean = Boolean,
): Promise<T> {
  const result = await storedStep(ctx, event, take);
  if (happened(result)) ctx.events.emit({ ...event, logged: true });
  return result;
}

/** The same, for a step that is told afterwards. */
export async function storedStep<T>(ctx: Ctx, event: NewEvent, take: () => Promise<T>): Promise<T> {
  const { origin } = ctx.events;
  const entry = entryOf({ ...event, at: ctx.clock.now(), ...(origin === undefined ? {} : { origin }) });
  if (entry === null) throw new Error(`${event.name} is not logged`);
  try {
    return await ctx.store.actionLog.step(entry, take);
  } catch (error) {
    const failure = asServiceError(error);
    if (failure.code !== 'svc_internal_error') throw failure;
    throw new ServiceError('svc_storage_unavailable', 'The step could not be stored with its entry in the log.', {
      advice: 'The log of the service has the details.',
      cause: error,
    });
  }
}
