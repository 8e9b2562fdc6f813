/** Live calls to one site: which sites may be called, and what a failure means to the caller. */

import { ChildFailure } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import { type LoadedSite, siteCallError } from './load.js';

/**
 * Throws for a site that is suspended or was disconnected manually (REST §5). A site whose last sync failed is tried if
 * the call names it, and skipped if the call covers the whole fleet.
 */
export function requireLive({ site }: LoadedSite, named = true): void {
  const suspended = site.suspended === 1;
  const tried = site.status === 'connected' || (named && site.status === 'disconnected' && site.disconnected === 0);
  if (tried && !suspended) return;
  throw suspended
    ? new ServiceError('svc_site_suspended', `Site ${site.id} is suspended, so it is not contacted.`, {
        advice: 'Lift the suspension first.',
        data: { site_id: site.id },
      })
    : new ServiceError('svc_site_disconnected', `Site ${site.id} is disconnected, so it is not contacted.`, {
        advice: 'Reconnect the site, or sync it once it is back.',
        data: { site_id: site.id },
      });
}

/** Converts a failed live call to a known error code; what the child said is in `data` (REST §2.3). */
export function liveSiteError(error: unknown, siteId: number): ServiceError {
  const known = siteCallError(error, siteId, 'svc_child_error');
  if (!(error instanceof ChildFailure) || error.kind !== 'child_error') return known;
  return new ServiceError(known.code, known.message, {
    ...(known.advice === undefined ? {} : { advice: known.advice }),
    data: { ...known.data, ...childWords(error) },
    cause: error,
  });
}

/** Members of an error's data for what the child said, if it said anything. */
export function childWords(failure: unknown): { child_code?: string; child_message?: string } {
  if (!(failure instanceof ChildFailure) || failure.kind !== 'child_error') return {};
  return { child_code: failure.childCode, child_message: failure.message };
}
