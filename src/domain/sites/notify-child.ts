/** Telling a child site that this dashboard leaves. Best effort: the record goes its way whatever the child says. */

import { ServiceError } from '../../core/errors.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { type LoadedSite, loadSite } from './load.js';
import { deleteSite } from './sites.js';

/** Longest wait for a site that is about to be forgotten anyway. */
const PATIENCE_MS = 10_000;

/** The child forgets our key. False when it could not be told; a suspended site is never contacted. */
export function requestChildDisconnect(ctx: Ctx, target: LoadedSite): Promise<boolean> {
  return tell(ctx, target, (connection, options) => ctx.child.disconnect(connection, options));
}

/** The child switches its plugin off. */
export function requestChildDeactivation(ctx: Ctx, target: LoadedSite): Promise<boolean> {
  return tell(ctx, target, (connection, options) => ctx.child.deactivate(connection, options));
}

type Call = (
  connection: NonNullable<LoadedSite['connection']>,
  options: { signal: AbortSignal; timeoutMs: number },
) => Promise<void>;

async function tell(ctx: Ctx, { site, connection }: LoadedSite, call: Call): Promise<boolean> {
  if (connection === null || site.suspended === 1 || site.disconnected === 1) return false;
  try {
    await call(connection, { signal: ctx.signal, timeoutMs: PATIENCE_MS });
    return true;
  } catch (error) {
    ctx.log.info({ site_id: site.id, reason: error instanceof Error ? error.message : '' }, 'a site was not told');
    return false;
  }
}

/** Removes the record after telling the child to switch itself off. Answers whether the child was told (REST §6.3 R33). */
export async function removeSite(ctx: Ctx, site: SiteRow): Promise<boolean> {
  return ctx.locks.exclusive(site.id, ctx.signal, async () => {
    const told = await requestChildDeactivation(ctx, await loadSite(ctx, site.id));
    if (ctx.signal.aborted) throw new ServiceError('svc_cancelled', 'The call was cancelled before the removal.');
    await deleteSite(ctx, site);
    return told;
  });
}
