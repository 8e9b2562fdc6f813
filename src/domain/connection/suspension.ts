/** The end of a suspension: a connection that was off is restored with it (operations §5.2). */

import { ServiceError } from '../../runtime/errors.js';
import type { SiteRecord } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { type LoadedSite, siteCallError } from '../sites/load.js';
import { reconnectSite } from './connection.js';

/** The last visit of the front page got no answer. */
const SILENT = 2;

/** Whether lifting the suspension leaves the site disconnected: the reasons are those of the status (`reasonOf`). */
function isDisconnected({ disconnected, sync_error, unreached }: SiteRecord): boolean {
  return disconnected > 0 || sync_error !== '' || unreached === SILENT;
}

/**
 * Restores the connection of a suspended site if it is off. Returns why that failed, in the words of a call that lifts
 * the suspension all the same, or null. Throws only if the call was cut off: the site then stays suspended, so that a
 * job which continues the call finds it as it was.
 */
export async function reconnectSuspended(ctx: Ctx, target: LoadedSite): Promise<ServiceError | null> {
  const { site } = target;
  if (site.suspended === 0 || !isDisconnected(site)) return null;
  try {
    await ctx.locks.exclusive(site.id, ctx.signal, () => reconnectSite(ctx, target));
    return null;
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    return notReconnected(site.id, siteCallError(error, site.id, 'svc_reconnect_failed'));
  }
}

/** The error of a site whose suspension is lifted and whose connection could not be restored. */
export function notReconnected(siteId: number, { code, message, advice, data, cause }: ServiceError): ServiceError {
  const repeat = 'reconnect-site-v1 tries again.';
  return new ServiceError(
    code,
    `The suspension of site ${siteId} is lifted, but it could not be reconnected: ${message}`,
    { advice: advice === undefined ? repeat : `${advice} ${repeat}`, data, cause },
  );
}
