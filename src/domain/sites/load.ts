/** Loads sites for work, with record and connection; and the rules on which may be contacted (operations §5.2). */

import { siteWord } from '../../../schemas/site-text.js';
import { ChildFailure } from '../../outbound/child/port.js';
import { type ErrorCode, ServiceError, storageFailure } from '../../runtime/errors.js';
import type { SiteConnection, SiteRecord } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { getSite, removedMeanwhile, type SiteRef } from './resolve.js';
import { compareVersions } from './versions.js';

export interface LoadedSite {
  site: SiteRecord;
  /** Null if no key is stored for the site, or none that can be unsealed. */
  connection: SiteConnection | null;
}

/** Oldest supported child plugin (operations §5.14). */
const MINIMUM_CHILD_VERSION = '4.0.0';

/** Loads any number of sites in two round trips; sites deleted in the meantime are absent. */
export async function loadSites(ctx: Ctx, ids: readonly number[]): Promise<Map<number, LoadedSite>> {
  const [records, connections] = await Promise.all([ctx.store.sites.records(ids), ctx.store.sites.connections(ids)]);
  return new Map(records.map((site) => [site.id, { site, connection: connections.get(site.id) ?? null }]));
}

export async function loadSite(ctx: Ctx, id: number): Promise<LoadedSite> {
  const target = (await loadSites(ctx, [id])).get(id);
  if (target === undefined) throw removedMeanwhile(id);
  return target;
}

/** The site that a caller names. Throws as `getSite`. */
export async function loadNamed(ctx: Ctx, ref: SiteRef): Promise<LoadedSite> {
  const site = await getSite(ctx, ref);
  return loadSite(ctx, site.id);
}

/** The same, for a call that changes the site. Throws as `requireWritable`, too. */
export async function loadWritable(ctx: Ctx, ref: SiteRef): Promise<LoadedSite> {
  const target = await loadNamed(ctx, ref);
  requireWritable(target);
  return target;
}

/** Throws unless the site may be contacted: neither suspended nor manually disconnected. Any other site is tried. */
export function requireContactable(target: LoadedSite): void {
  const { site } = target;
  // Of the two states the later one is shown, so that is the one to name.
  if (site.disconnected !== 2) requireNotSuspended(target);
  if (site.disconnected > 0) {
    throw new ServiceError('svc_site_offline', `Site ${site.id} is disconnected and is not contacted.`, {
      advice: 'Reconnect it with reconnect-site-v1.',
      data: { site_id: site.id },
    });
  }
}

/** Throws `svc_site_suspended`: such a site is never contacted. */
export function requireNotSuspended({ site }: LoadedSite): void {
  if (site.suspended === 0) return;
  throw new ServiceError('svc_site_suspended', `Site ${site.id} is suspended and is not contacted.`, {
    advice: 'Lift the suspension with unsuspend-site-v1 first.',
    data: { site_id: site.id },
  });
}

/**
 * Throws `svc_site_on_trial`: another dashboard changes such a site, and two dashboards would interfere with each
 * other.
 */
export function requireNotOnTrial({ site }: LoadedSite): void {
  if (site.on_trial === 1) throw onTrial(site.id);
}

function onTrial(siteId: number, cause?: unknown): ServiceError {
  return new ServiceError(
    'svc_site_on_trial',
    `Site ${siteId} is on trial beside another dashboard and is read-only here. Nothing changed.`,
    {
      advice: 'End the trial with "sitefleet import finish", or make the change in the other dashboard.',
      data: { site_id: siteId },
      cause,
    },
  );
}

/**
 * Throws if the child plugin is known to be too old for actions. One whose version is unknown is tried: it refuses
 * itself what it does not know.
 */
export function requireVersion({ site }: LoadedSite): void {
  if (!isOutdated(site.child_version)) return;
  throw outdated(site.id, site.child_version);
}

/** Whether this version of the child plugin is known to be too old for actions. */
export function isOutdated(version: string): boolean {
  return version !== '' && compareVersions(version, MINIMUM_CHILD_VERSION) < 0;
}

export function outdated(siteId: number, version: string): ServiceError {
  return new ServiceError(
    'svc_child_version_outdated',
    `Site ${siteId} runs MainWP Child ${siteWord(version)}; ${MINIMUM_CHILD_VERSION} or newer is needed.`,
    { advice: 'Update the child plugin on the site, then sync it.', data: { site_id: siteId } },
  );
}

/** Checks before a write on one site, before anything is sent (operations §8.1 REACH, CHILD). */
export function requireWritable(target: LoadedSite): void {
  requireNotOnTrial(target);
  requireVersion(target);
  requireContactable(target);
}

/** Of these sites those that may be changed, and why the others may not; sites deleted in the meantime are in neither. */
export async function writableOf<Site extends { id: number }>(
  ctx: Ctx,
  sites: readonly Site[],
): Promise<{ writable: Site[]; refused: { site: Site; error: ServiceError }[] }> {
  const records = new Map((await ctx.store.sites.records(sites.map(({ id }) => id))).map((site) => [site.id, site]));
  const writable: Site[] = [];
  const refused: { site: Site; error: ServiceError }[] = [];
  for (const row of sites) {
    const site = records.get(row.id);
    if (site === undefined) continue;
    try {
      requireWritable({ site, connection: null });
      writable.push(row);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      refused.push({ site: row, error });
    }
  }
  return { writable, refused };
}

export function requireConnection(target: LoadedSite): SiteConnection {
  if (target.connection !== null) return target.connection;
  throw new ServiceError('svc_site_offline', `Site ${target.site.id} has no connection key that can be opened.`, {
    advice: 'If "sitefleet check" lists this site, restore its secret key; otherwise remove the site and add it again.',
    data: { site_id: target.site.id },
  });
}

/** The site could not be reached at all, as opposed to a late or an unexpected response. */
const UNREACHED: ReadonlySet<string> = new Set(['unreachable', 'timed_out', 'tls', 'blocked_address']);

/** Statuses of a gateway that timed out. */
const GATEWAY_LATE: ReadonlySet<number> = new Set([408, 504, 524]);

/** The request reached the site, but no response arrived in time: the site may be merely slow. */
export function isLate(failure: unknown): boolean {
  if (!(failure instanceof ChildFailure)) return false;
  const { kind, mayHaveRun, httpStatus } = failure;
  return (kind === 'timed_out' && mayHaveRun) || (kind === 'unframed' && GATEWAY_LATE.has(httpStatus));
}

/** Converts a failed child call to a known error code; `otherwise` is used if the site did answer. */
export function siteCallError(error: unknown, siteId: number, otherwise: ErrorCode): ServiceError {
  if (error instanceof ServiceError) return error;
  if (!(error instanceof ChildFailure)) {
    const storage = storageFailure(error);
    if (storage !== null) return storage;
    return new ServiceError('svc_internal_error', 'Something unexpected went wrong. The log has the details.', {
      cause: error,
      data: { site_id: siteId },
    });
  }
  if (error.kind === 'cancelled')
    return new ServiceError('svc_cancelled', 'The call was cancelled before the site answered.', {
      data: { site_id: siteId },
      cause: error,
    });
  if (error.kind === 'reads_only') return onTrial(siteId, error);
  const code: ErrorCode =
    error.kind === 'outdated'
      ? 'svc_child_version_outdated'
      : isLate(error)
        ? 'svc_still_running'
        : UNREACHED.has(error.kind)
          ? 'svc_site_offline'
          : otherwise;
  return new ServiceError(code, error.message, {
    ...(error.advice === '' ? {} : { advice: error.advice }),
    data: { site_id: siteId, failure: error.kind },
    cause: error,
  });
}
