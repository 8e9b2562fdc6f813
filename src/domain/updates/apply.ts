/** Applies the ordinary updates of one site: plans them, installs them, with a guard one by one, and visits the site. */

import type { FleetOffer } from '../../store/updates/updates.js';
import type { Begin } from '../actions/handler.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { inspectSite } from './after-update.js';
import { emitDeactivated, emitUpdated } from './finish.js';
import { install } from './install.js';
import type { BegunUpdates } from './params.js';
import { planUpdates } from './plan.js';
import { type ApplyResult, UPDATE_TYPES } from './results.js';
import { recordPlan } from './runs/record.js';
import { runSafely } from './safe/update-items.js';

/**
 * Applies the given updates. A site with a guard gets them protected, one after the other; versions that are
 * quarantined are left out and reported.
 */
export async function applyOffers(
  caller: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  begin?: Begin,
): Promise<ApplyResult> {
  return caller.locks.exclusive(target.site.id, caller.signal, async (held) => {
    const ctx: Ctx = { ...caller, signal: AbortSignal.any([caller.signal, held]) };
    const work: BegunUpdates = { offers };
    begin?.(work);
    const { silence = null, unseen = [], ...result } = await applyPlanned(ctx, target, work);
    if (result.interrupted === true) {
      emitUpdated(ctx, result.updated);
      emitDeactivated(ctx, result.errors);
      return result;
    }
    const inspected = await inspectSite(ctx, target, result.updated, silence, unseen);
    emitDeactivated(ctx, result.errors);
    return { ...inspected, ...result, updated: inspected.updated, errors: [...result.errors, ...inspected.errors] };
  });
}

async function applyPlanned(ctx: Ctx, target: LoadedSite, { offers }: BegunUpdates): Promise<ApplyResult> {
  const plan = await planUpdates(ctx, target, offers);
  const { open, steps, refused } = plan;
  if (steps.length === 0) return { updated: [], errors: refused };
  const sent = new Set(steps.map(({ type }) => type));
  const first = open === null ? UPDATE_TYPES.find((type) => sent.has(type)) : undefined;
  await recordPlan(ctx, target, plan, first);
  const result =
    open === null
      ? await install(
          ctx,
          target,
          steps.map(({ offer }) => offer),
        )
      : await runSafely(ctx, target, steps, { on_suspect: 'keep', paths: [] }, open.guard);
  return { ...result, errors: [...result.errors, ...refused] };
}
