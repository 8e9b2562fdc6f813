/** Tries again what failed in a run: as a run of its own. */

import { ServiceError } from '../../../runtime/errors.js';
import type { RunRow } from '../../../store/updates/runs.js';
import type { Ctx } from '../../context.js';
import { withinLimits } from '../../extensions/offer-filters.js';
import { resolveSites } from '../../sites/resolve.js';
import type { UpdateParams } from '../params.js';
import { previewOf } from '../preview.js';
import { applyOn } from '../updates.js';
import type { Asked } from './call.js';
import { failedItems, isWhole, onlyFailed } from './failed-items.js';
import { isRunning, knownRun } from './runs.js';

/**
 * Updates that failed in a run, or were not tried because of their site, if they are still on offer. What broke its
 * site, was rolled back or is quarantined is left alone.
 */
export async function retryRun(ctx: Ctx, runId: string, dryRun: boolean) {
  const run = await knownRun(ctx, runId);
  if (isRunning(run))
    throw new ServiceError('svc_rest_conflict', 'This run has not ended.', {
      field: 'run_id',
      advice: 'Read it with get-run-v1, and retry it once it has ended.',
    });
  // What failed in a rollout is tried again beside it.
  const { items_left_out, rollout: _, retries = [], ...asked } = JSON.parse(run.asked) as Asked;
  const whole = items_left_out === undefined;
  const specific_items = whole ? asked.specific_items : [];
  const params: UpdateParams = { ...asked, specific_items, retries: [...retries, runId] };
  const ids = await sitesTriedAgain(ctx, run);
  const selection = await resolveSites(ctx, ids);
  if (!dryRun) return applyOn(ctx, selection, params, []);
  const offers = await ctx.store.updates.ofSites(ids, params.types);
  const wanted = (await onlyFailed(ctx, params, offers)).filter(
    (offer) =>
      (params.specific_items.length === 0 || params.specific_items.includes(offer.slug)) &&
      withinLimits(offer, params.limits ?? {}),
  );
  const preview = await previewOf(ctx, selection, wanted, []);
  return { ...preview, total: preview.would_affect.total };
}

/** The ids of the sites that `retryRun` would update. Throws for a run that there is not. */
export async function sitesOfRetry(ctx: Ctx, runId: string): Promise<number[]> {
  return sitesTriedAgain(ctx, await knownRun(ctx, runId));
}

/** The ids of the sites on which something of a run is tried again. */
async function sitesTriedAgain(ctx: Ctx, { id, asked }: Pick<RunRow, 'id' | 'asked'>): Promise<number[]> {
  const whole = (JSON.parse(asked) as Asked).items_left_out === undefined;
  // A run keeps the names of its first items only: on a site where none was tried, the others are not known.
  const failed = (await failedItems(ctx, id)).filter((item) => whole || !isWhole(item));
  return [...new Set(failed.map(({ site_id }) => site_id))];
}
