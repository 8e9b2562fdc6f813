/** The job handler of updates. */

import type { FleetOffer } from '../../store/updates/updates.js';
import type { JobHandler } from '../actions/handler.js';
import type { Ctx } from '../context.js';
import { withinLimits } from '../extensions/offer-filters.js';
import {
  type LoadedSite,
  requireContactable,
  requireNotOnTrial,
  requireVersion,
  siteCallError,
} from '../sites/load.js';
import { applyOffers } from './apply.js';
import { finishInterrupted } from './interrupted.js';
import { outcomeOfUpdates } from './outcome.js';
import type { UpdateParams } from './params.js';
import { type ApplyResult, failed } from './results.js';
import { safeUpdateHandler } from './safe/safe-update.js';
import { settleBeforeResume } from './safe/unsettled.js';
import { isCancelled } from './send.js';

/** Matching updates as currently stored: a job may have waited since it was queued, or have run before. */
async function offersOf(ctx: Ctx, { site }: LoadedSite, params: UpdateParams): Promise<FleetOffer[]> {
  const offers = await ctx.store.updates.ofSite(site.id, params.types, params.even_ignored === true);
  return offers.filter(
    (offer) =>
      (params.specific_items.length === 0 || params.specific_items.includes(offer.slug)) &&
      (params.limits === undefined || withinLimits(offer, params.limits)),
  );
}

/**
 * All matching updates of one site, after checking its state and version; core, plugins, themes, then translations
 * (operations §8.4 U2).
 */
export const updateHandler: JobHandler<UpdateParams, ApplyResult> = {
  type: 'update',
  failure: 'svc_update_failed',
  async run(ctx, target, { safe, ...params }) {
    if (safe !== undefined) {
      const result = await safeUpdateHandler.run(ctx, target, { ...params, safe });
      return { ...result, updated: result.updated.map(({ protection: _, ...item }) => item) };
    }
    requireNotOnTrial(target);
    requireContactable(target);
    requireVersion(target);
    const offers = await offersOf(ctx, target, params);
    if (offers.length === 0) return { updated: [], errors: [] };
    return applyOffers(ctx, target, offers);
  },
  interrupted: (result) => result.interrupted === true,
  async resume(ctx, target, params) {
    // As available when the run was interrupted: settling syncs the site, after which completed updates are no longer
    // available.
    const asked = await offersOf(ctx, target, params);
    // A site that an update has broken must be repaired before it can be synced.
    await settleBeforeResume(ctx, target);
    requireContactable(target);
    const before = asked.length === 0 ? null : await finishInterrupted(ctx, target, asked);
    if (before?.silent === true) return before;
    const rest = await this.run(ctx, target, params).catch((error: unknown) => {
      // Results of the previous run are still reported.
      if (before === null || before.updated.length === 0 || isCancelled(error)) throw error;
      const { code, message } = siteCallError(error, target.site.id, 'svc_update_failed');
      return { updated: [], errors: [failed(target, 'site', '', code, message)] };
    });
    if (before === null) return rest;
    return { ...rest, updated: [...before.updated, ...rest.updated], errors: [...before.errors, ...rest.errors] };
  },
  outcomeOf: outcomeOfUpdates,
};
