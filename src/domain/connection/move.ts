/** Changes the address of a site: accepted only if the same site answers there, so that its history stays with it. */

import { ChildFailure, type Snapshot } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';
import { loadSite, requireConnection, requireContactable } from '../sites/load.js';
import { bareHost, ownAddress, type StoredUrl, storedUrl } from '../sites/urls.js';
import { otherRecords } from './other-records.js';
import { askSnapshot } from './sync.js';

/** Settings that change along with the address, and are needed to reach it. */
export interface Reach {
  http_user?: string | null | undefined;
  http_pass?: string | null | undefined;
  ssl_verify?: boolean | undefined;
}

export interface VerifiedMove {
  to: StoredUrl;
  /** The site's answer at its new address. */
  snapshot: Snapshot;
}

/**
 * Asks the child at the address by a signed call: only the site itself accepts the stored key. Null if that already is
 * the site's address. Throws `svc_invalid_url`, `svc_site_already_exists`, `svc_connection_failed`, and the errors that
 * forbid contacting the site.
 */
export async function verifyMove(ctx: Ctx, siteId: number, text: string, reach: Reach): Promise<VerifiedMove | null> {
  const to = storedUrl(text);
  const target = await loadSite(ctx, siteId);
  if (to.url === target.site.url) return null;
  await refuseTaken(ctx, siteId, to);
  requireContactable(target);
  const connection = requireConnection(target);
  const given = Object.fromEntries(Object.entries(reach).filter(([, value]) => value !== undefined));
  const kept = isSameServer(connection.url, to.url) ? {} : { http_user: null, http_pass: null };
  try {
    const there = { ...connection, ...kept, ...given, url: to.url, door: undefined };
    const snapshot = await askSnapshot(ctx, there, target.site);
    const moved = ownAddress(to, snapshot.site_url);
    const other = (await otherRecords(ctx, snapshot.site_url)).find((id) => id !== siteId);
    if (other !== undefined) throw addressTaken(moved.url, other);
    if (moved.url === target.site.url) throw ownSpelling(to.url, moved.url, siteId);
    return { to: moved, snapshot };
  } catch (error) {
    throw moveError(error, siteId, to.url);
  }
}

/**
 * Whether the stored login, which was given for one address, may be sent to another: not to another server, nor without
 * encryption where it had it.
 */
export function isSameServer(from: string, to: string): boolean {
  const [was, is] = [new URL(from), new URL(to)];
  return bareHost(was.host) === bareHost(is.host) && !(was.protocol === 'https:' && is.protocol === 'http:');
}

/** Otherwise each sync would restore the spelling that the site itself uses. */
function ownSpelling(asked: string, own: string, siteId: number): ServiceError {
  return new ServiceError(
    'svc_invalid_url',
    `${asked} leads to site ${siteId}, which calls itself ${own}. Nothing changed.`,
    {
      field: 'url',
      advice: 'Change the address in WordPress (Settings, General) first; the next sync picks it up.',
      data: { site_id: siteId, site_url: own },
    },
  );
}

async function refuseTaken(ctx: Ctx, siteId: number, to: StoredUrl): Promise<void> {
  const other = (await ctx.store.sites.candidates([], [to.url_key])).find(({ id }) => id !== siteId);
  if (other !== undefined) throw addressTaken(to.url, other.id);
}

export function addressTaken(url: string, otherId?: number): ServiceError {
  return new ServiceError('svc_site_already_exists', `Another site has the address ${url}. Nothing changed.`, {
    field: 'url',
    advice: 'Remove the other record first.',
    ...(otherId === undefined ? {} : { data: { site_id: otherId } }),
  });
}

function moveError(error: unknown, siteId: number, url: string): unknown {
  if (!(error instanceof ChildFailure)) return error;
  if (error.kind === 'cancelled') return new ServiceError('svc_cancelled', error.message, { cause: error });
  if (error.kind === 'blocked_address')
    return new ServiceError('svc_invalid_url', error.message, { field: 'url', advice: error.advice, cause: error });
  const message =
    error.kind === 'refused'
      ? `At ${url} the key of site ${siteId} is not accepted, so that is another site. Nothing changed.`
      : `Site ${siteId} does not answer at ${url}. Nothing changed. ${error.message}`;
  const advice = error.kind === 'refused' ? 'Connect another site with add-site-v1.' : error.advice;
  return new ServiceError('svc_connection_failed', message, {
    field: 'url',
    ...(advice === '' ? {} : { advice }),
    data: { site_id: siteId, failure: error.kind },
    cause: error,
  });
}
