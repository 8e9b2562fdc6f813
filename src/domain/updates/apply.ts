/** Applies the ordinary updates of one site: sees to a backup where one is asked for, plans them, installs them, with a guard one by one, and visits the site. */

import type { FleetOffer } from '../../store/updates/updates.js';
import type { Begin } from '../actions/handler.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { inspectSite } from './after-update.js';
import { allowedBy, type BackupFirst, backUpFirst } from './backup-first.js';
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
  const backup = await backUpFirst(caller, target, offers, begin);
  return caller.locks.exclusive(target.site.id, caller.signal, async (held) => {
    const ctx: Ctx = { ...caller, signal: AbortSignal.any([caller.signal, held]) };
    const work: BegunUpdates = { offers };
    begin?.(work);
    const { silence = null, unseen = [], ...result } = await applyPlanned(ctx, target, work, backup);
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

async function applyPlanned(
  ctx: Ctx,
  target: LoadedSite,
  { offers }: BegunUpdates,
  backup: BackupFirst,
): Promise<ApplyResult> {
  const plan = allowedBy(backup, target, await planUpdates(ctx, target, offers));
  const { open, steps, refused } = plan;
  if (steps.length === 0) return { updated: [], errors: refused };
  const sent = new Set(steps.map(({ type }) => type));
  const first = open === null ? UPDATE_TYPES.find((type) => sent.has(type)) : undefined;
  await recordPlan(ctx, target, plan, { first, backup });
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
