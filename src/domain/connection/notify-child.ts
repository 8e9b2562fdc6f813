/**
 * Requests to a child before this dashboard leaves it. Best effort: removal and disconnection proceed without its
 * answer.
 */

import { ServiceError } from '../../runtime/errors.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { type LoadedSite, loadSite } from '../sites/load.js';
import { deleteSite } from '../sites/sites.js';

/** Longest wait for a site that is being removed anyway. */
const PATIENCE_MS = 10_000;

/** Asks the child to forget our key. False if it did not confirm; a suspended site is never contacted. */
export function requestChildDisconnect(ctx: Ctx, target: LoadedSite): Promise<boolean> {
  return request(ctx, target, (connection, options) => ctx.child.disconnect(connection, options));
}

/** Asks the child to deactivate its plugin. False as above. */
function requestChildDeactivation(ctx: Ctx, target: LoadedSite): Promise<boolean> {
  return request(ctx, target, (connection, options) => ctx.child.deactivate(connection, options));
}

type Call = (
  connection: NonNullable<LoadedSite['connection']>,
  options: { signal: AbortSignal; timeoutMs: number },
) => Promise<void>;

async function request(ctx: Ctx, { site, connection }: LoadedSite, call: Call): Promise<boolean> {
  if (connection === null || site.suspended === 1 || site.disconnected > 0) return false;
  try {
    await call(connection, { signal: ctx.signal, timeoutMs: PATIENCE_MS });
    return true;
  } catch (error) {
    ctx.log.info(
      { site_id: site.id, reason: error instanceof Error ? error.message : '' },
      'a child site did not confirm the disconnect',
    );
    return false;
  }
}

/** Asks the child to deactivate itself, then deletes the record. True if the child confirmed (REST §6.3 R33). */
export async function removeSite(ctx: Ctx, site: SiteRow): Promise<boolean> {
  return ctx.locks.exclusive(site.id, ctx.signal, async () => {
    const confirmed = await requestChildDeactivation(ctx, await loadSite(ctx, site.id));
    if (ctx.signal.aborted) throw new ServiceError('svc_cancelled', 'The call was cancelled before the removal.');
    await deleteSite(ctx, site);
    return confirmed;
  });
}
