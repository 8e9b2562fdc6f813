/** A visit of the public site after something was updated, when the settings ask for it (REST §6.10.1). */

import type { Ctx } from '../context.js';
import { checksAfterUpdate } from '../settings/effects.js';
import { checkSite } from '../sites/check.js';
import type { LoadedSite } from '../sites/load.js';

/** Tells by an event when the site is not up. Never fails: the update itself went well. */
export async function visitAfterUpdate(ctx: Ctx, target: LoadedSite): Promise<void> {
  if (!(await checksAfterUpdate(ctx))) return;
  try {
    const { reachable, http_status } = await checkSite(ctx, target);
    if (!reachable)
      ctx.events.emit({ name: 'site.http_check_failed', site_id: target.site.id, facts: { http_status } });
  } catch (error) {
    ctx.log.warn({ err: error, site_id: target.site.id }, 'a site could not be visited after its update');
  }
}
