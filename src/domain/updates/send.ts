/** Sends updates of one type to a site. */

import type { ChildActionAnswer, CoreUpdateAnswer, ExtensionKind, Snapshot } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import type { ExtensionRow } from '../../store/sites/inventory.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { type Attempt, attempt } from '../connection/attempt.js';
import type { Ctx } from '../context.js';
import { installedBySlug, listOf } from '../sites/inventory.js';
import { type LoadedSite, requireConnection, siteCallError } from '../sites/load.js';
import type { UpdateType } from './results.js';

/** Updates may unpack large archives on slow hosts: 10 minutes, where any other call has 30 s. */
const TIMES_LONGER = 20;

/** The call ran out of time, or the caller gave up. */
export function isCancelled(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'svc_cancelled';
}

/** Anything but a failure of the site is ours: it gets its own code, and the cause is logged. */
export function updateError(ctx: Ctx, target: LoadedSite, type: UpdateType, error: unknown): ServiceError {
  const failure = siteCallError(error, target.site.id, 'svc_update_failed');
  if (failure.code !== 'svc_internal_error') return failure;
  ctx.log.error({ err: failure.cause ?? error, site_id: target.site.id, type }, 'unexpected failure of an update');
  return new ServiceError('svc_update_exception', 'Something unexpected stopped the update. The log has the details.', {
    cause: error,
  });
}

/** A call that updates items of one type, and what came with its answer. */
export type Sent =
  | (SentCall<ChildActionAnswer> & { type: ExtensionKind; before: ReadonlyMap<string, ExtensionRow> })
  | (SentCall<ChildActionAnswer> & { type: 'translation' })
  | (SentCall<CoreUpdateAnswer> & { type: 'core' });

interface SentCall<T> {
  offers: readonly FleetOffer[];
  call: Attempt<T>;
  /** The inventory that came with the answer, if it reports this type. */
  came: Snapshot | null;
}

/**
 * Sends the updates of one type in one call. A connection that breaks afterwards is part of the result, because the
 * site may have done the work.
 * @throws ServiceError or ChildFailure if nothing can have happened
 */
export async function send(
  ctx: Ctx,
  target: LoadedSite,
  type: UpdateType,
  offers: readonly FleetOffer[],
): Promise<Sent> {
  const connection = requireConnection(target);
  const options = { signal: ctx.signal, timeoutMs: TIMES_LONGER * ctx.config.site_timeout_ms };
  if (type === 'core') {
    const call = await attempt(ctx, () => ctx.child.upgradeCore(connection, options));
    return { type, offers, call, came: null };
  }
  const slugs = [...new Set(offers.map(({ slug }) => slug))];
  if (type === 'translation') {
    const call = await attempt(ctx, () => ctx.child.upgradeTranslations(connection, slugs, options));
    const brought = call.answer?.snapshot ?? null;
    return { type, offers, call, came: brought?.translation_updates === undefined ? null : brought };
  }
  const before = await installedBySlug(ctx, target.site.id, type);
  const call = await attempt(ctx, () => ctx.child.upgradeExtensions(connection, type, slugs, options));
  const brought = call.answer?.snapshot ?? null;
  return { type, offers, call, came: listOf(brought, type) === undefined ? null : brought, before };
}
