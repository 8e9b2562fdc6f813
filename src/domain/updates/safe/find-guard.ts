/** Finds the guard of a site that is about to be changed. */

import { siteSays } from '../../../../schemas/site-text.js';
import { GuardFailure } from '../../../outbound/guard/failure.js';
import type { GuardHello, SiteGuard } from '../../../outbound/guard/guards.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { Ctx } from '../../context.js';
import {
  type LoadedSite,
  requireConnection,
  requireContactable,
  requireVersion,
  siteCallError,
} from '../../sites/load.js';

/** The must-use plugin's name in inventories. */
export const GUARD_FILE = 'sitefleet-guard.php';

/** Guards before it cannot read the requests of this version, and answer as if they were not there. */
const FIRST_THAT_ANSWERS = '1.8.0';

/**
 * Throws unless the site may be asked: not suspended, not disconnected. One that was down at its last check may be
 * asked: repairing such a site is what the guard is for.
 */
export function requireAskable(target: LoadedSite): void {
  requireVersion(target);
  requireContactable(target);
}

export interface OpenGuard {
  guard: SiteGuard;
  hello: GuardHello;
}

/**
 * The guard of a site that is known to have one; null = none is known. Throws if it is known but cannot do its work.
 */
export async function openGuard(ctx: Ctx, target: LoadedSite): Promise<OpenGuard | null> {
  if (!(await ctx.store.guards.expected(target.site.id, GUARD_FILE))) return null;
  const found = await askGuard(ctx, target);
  if (found === null)
    throw new ServiceError(
      'svc_guard_unavailable',
      `The guard of site ${target.site.id} does not answer, so nothing was changed.`,
      {
        advice: `Reinstall it with install-site-guard-v1, as guards before ${FIRST_THAT_ANSWERS} cannot read the requests of this version, or remove it with remove-site-guard-v1.`,
        data: { site_id: target.site.id },
      },
    );
  if (!found.hello.file_mods)
    throw new ServiceError(
      'svc_guard_refused',
      `The owner of site ${target.site.id} forbids file changes (DISALLOW_FILE_MODS), so nothing was changed.`,
      { advice: "Remove the constant from the site's wp-config.php.", data: { site_id: target.site.id } },
    );
  return found;
}

/**
 * Greets the guard and stores its answer; null if there is none. Throws if the site cannot be reached, or the guard
 * refuses.
 */
export async function askGuard(ctx: Ctx, target: LoadedSite): Promise<OpenGuard | null> {
  const guard = ctx.guards.of(requireConnection(target));
  try {
    const hello = await guard.hello({ signal: ctx.signal });
    await ctx.store.guards.answered(target.site.id, JSON.stringify(hello), ctx.clock.now());
    return { guard, hello };
  } catch (error) {
    if (!(error instanceof GuardFailure) || error.code !== 'no_guard') throw guardError(error, target.site.id);
    await ctx.store.guards.silent(target.site.id, ctx.clock.now(), false);
    return null;
  }
}

/** Converts a failed call of the guard, or its refusal, to a known error code. */
export function guardError(error: unknown, siteId: number): ServiceError {
  if (!(error instanceof GuardFailure)) return siteCallError(error, siteId, 'svc_guard_unavailable');
  const clock = error.code === 'clock';
  const said = siteSays(error.message);
  return new ServiceError(
    'svc_guard_refused',
    `The guard of site ${siteId} refused: ${error.code.replaceAll('_', ' ')}. ${said}`.trim(),
    {
      advice: clock
        ? 'Correct the clock of the site or of this machine.'
        : 'Fix the cause on the site, then try again.',
      data: { site_id: siteId, reason: error.code },
    },
  );
}
