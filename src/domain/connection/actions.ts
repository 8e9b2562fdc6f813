/** Actions on one site for REST's routes and batch: runs the job handlers, and returns the site's record afterwards. */

import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { JobHandler } from '../actions/handler.js';
import { runOnOne } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import { siteSecurity } from '../sites/findings.js';
import { childWords } from '../sites/live.js';
import { type LoadedSite, loadSite, requireConnection, requireNotSuspended, siteCallError } from '../sites/load.js';
import { loadRecord } from '../sites/sites.js';
import type { CheckResult } from './check.js';
import {
  checkHandler,
  disconnectHandler,
  reconnectHandler,
  suspendHandler,
  syncHandler,
  unsuspendHandler,
} from './handlers.js';
import { removeSite } from './notify-child.js';
import { notReconnected } from './suspension.js';
import { storeSnapshot } from './sync.js';

/** Runs a handler within the time of a direct call; failures carry its error code. Throws as `runOnOne` does. */
async function run<P extends object, R>(ctx: Ctx, site: SiteRow, handler: JobHandler<P, R>, params: P): Promise<R> {
  return (await runOnOne(ctx, handler, site, params)).result;
}

/**
 * A disconnected site is contacted, too. Throws as `syncHandler` does, and `svc_child_error` for an answer that could not
 * be used, as any other live call of REST (REST §6.3).
 */
export async function syncOne(ctx: Ctx, site: SiteRow): Promise<SiteRow> {
  await run(ctx, site, syncHandler, { even_disconnected: true }).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.code !== 'svc_sync_failed') throw error;
    throw under('svc_child_error', error, childWords(error.cause));
  });
  return loadRecord(ctx, site.id);
}

/** The same failure under the code that the routes document has for it. */
function under(code: ErrorCode, error: ServiceError, more: object = {}): ServiceError {
  const { message, advice, data } = error;
  return new ServiceError(code, message, {
    ...(advice === undefined ? {} : { advice }),
    data: { ...data, ...more },
    cause: error,
  });
}

/** Reconnects a site whose suspension has just been lifted, if its connection is off. Throws as `reconnectHandler`. */
export async function reconnectReleased(ctx: Ctx, site: SiteRow): Promise<void> {
  if (site.status === 'connected') return;
  await run(ctx, site, reconnectHandler, {}).catch((error: ServiceError) => {
    throw error.data.job_id !== undefined ? error : notReconnected(site.id, error);
  });
}

/**
 * A connected site stays as it is. Throws as `reconnectHandler` does, and the routes' own code where that could not
 * reconnect.
 */
export async function reconnectOne(ctx: Ctx, site: SiteRow): Promise<{ site: SiteRow; changed: boolean }> {
  if (site.status === 'connected') return { site, changed: false };
  await run(ctx, site, reconnectHandler, {}).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.code !== 'svc_reconnect_failed') throw error;
    throw under('svc_rest_reconnect_site_error', error);
  });
  return { site: await loadRecord(ctx, site.id), changed: true };
}

/** `childConfirmed`: the child confirmed that it has forgotten our key. */
export async function disconnectOne(ctx: Ctx, site: SiteRow): Promise<{ site: SiteRow; childConfirmed: boolean }> {
  const childConfirmed = await run(ctx, site, disconnectHandler, { tell_child: true });
  return { site: await loadRecord(ctx, site.id), childConfirmed };
}

export async function suspendOne(ctx: Ctx, site: SiteRow, suspended: boolean): Promise<SiteRow> {
  await run(ctx, site, suspended ? suspendHandler : unsuspendHandler, {});
  return loadRecord(ctx, site.id);
}

export async function checkOne(ctx: Ctx, site: SiteRow): Promise<{ site: SiteRow; check: CheckResult }> {
  const check = await run(ctx, site, checkHandler, {});
  return { site: await loadRecord(ctx, site.id), check };
}

export async function removeOne(ctx: Ctx, site: SiteRow): Promise<{ site: SiteRow; childConfirmed: boolean }> {
  return { site, childConfirmed: await removeSite(ctx, site) };
}

/**
 * A site that may be called live. Throws `svc_site_suspended`, `svc_site_disconnected` (manually), or
 * `svc_site_offline` (without a key).
 */
export async function loadLiveSite(ctx: Ctx, site: SiteRow): Promise<LoadedSite> {
  const target = await loadSite(ctx, site.id);
  requireNotSuspended(target);
  if (target.site.disconnected > 0) {
    throw new ServiceError('svc_site_disconnected', `Site ${site.id} is disconnected and is not contacted.`, {
      advice: 'Reconnect it first with reconnect-site-v1.',
      data: { site_id: site.id },
    });
  }
  requireConnection(target);
  return target;
}

/**
 * Runs the child's security checks now, stores the results, and returns them with the findings in words (child
 * protocol §6.5).
 */
export async function scanSecurity(ctx: Ctx, site: SiteRow) {
  const target = await loadLiveSite(ctx, site);
  const checks = await ctx.child
    .securityChecks(requireConnection(target), { signal: ctx.signal })
    .catch((error: unknown) => {
      throw siteCallError(error, site.id, 'svc_child_error');
    });
  if (Object.keys(checks).length === 0)
    throw new ServiceError('svc_child_error', `Site ${site.id} answered without any security check.`, {
      advice: 'Update the child plugin on the site.',
      data: { site_id: site.id },
    });
  await storeSnapshot(ctx, target, { security: checks });
  const { security_issues, ssl_status } = await siteSecurity(ctx, site.id);
  return { ...checks, security_issues, ssl_status };
}
