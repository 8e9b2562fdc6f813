/** The turn of a site in a rollout: whether it has come, and what of its plan still holds. */

import { siteWord } from '../../../../schemas/site-text.js';
import type { RolloutItemState } from '../../../store/rollouts/rollouts.js';
import type { FleetOffer } from '../../../store/updates/updates.js';
import type { Ctx } from '../../context.js';
import type { LoadedSite } from '../../sites/load.js';
import { refusal } from '../plan.js';
import type { ApplyError } from '../results.js';
import { applyHaltRules } from './halt-rules.js';
import { isOpen, type Rules } from './rules.js';

/**
 * Whether the site is updated in this run now. One that was begun is finished, whatever became of its rollout meanwhile;
 * any other is given back if the rollout stands still, or the window of the site has closed.
 */
export async function isItsTurn(ctx: Ctx, siteId: number, rolloutId: string): Promise<boolean> {
  const { rollouts } = ctx.store;
  const turn = await rollouts.turn(rolloutId, siteId, ctx.run_id);
  if (turn === undefined) return false;
  if (turn.begun === 1) return true;
  const goesOn = turn.state === 'running' && !(await applyHaltRules(ctx, turn, turn.wave));
  if (goesOn && isOpen(JSON.parse(turn.rules) as Rules, turn, ctx.clock.now())) return true;
  await rollouts.release(rolloutId, siteId, ctx.run_id, goesOn);
  return false;
}

/** States of items in the run of a site that was interrupted: not to be applied again; and those that may have been sent. */
const DONE: readonly string[] = ['kept', 'rolled_back', 'unknown'] satisfies RolloutItemState[];
const SENT: readonly string[] = ['updating', 'checking', 'failed'] satisfies RolloutItemState[];

/** The updates of the plan that are still as planned, and why the others are left. What had its turn is in neither. */
export async function plannedOffers(
  ctx: Ctx,
  target: LoadedSite,
  rolloutId: string,
): Promise<{ offers: FleetOffer[]; refused: ApplyError[] }> {
  const { store } = ctx;
  const { id } = target.site;
  const [planned, all, wanted, halted] = [
    await store.rollouts.planned(rolloutId, id),
    await store.updates.ofSite(id, [], true),
    await store.updates.ofSite(id, [], false),
    await store.rollouts.halted(rolloutId),
  ];
  const offers: FleetOffer[] = [];
  const refused: ApplyError[] = [];
  for (const item of planned) {
    if (DONE.includes(item.recorded ?? '')) continue;
    const isIt = ({ type, slug }: { type: number; slug: string }) => type === item.type && slug === item.slug;
    const offer = all.find(isIt);
    const said = (code: 'svc_rollout_halted' | 'svc_offer_changed' | 'svc_update_ignored', message: string) =>
      void refused.push(refusal(target, item, code, message));
    if (halted.some((halt) => isIt(halt) && halt.version === item.new_version))
      said('svc_rollout_halted', `Version ${siteWord(item.new_version)} broke another site of this rollout.`);
    else if (offer === undefined) {
      // Of one that was being sent, the run knows more.
      if (!SENT.includes(item.recorded ?? ''))
        said('svc_offer_changed', `The update to ${siteWord(item.new_version)} is not on offer any more.`);
    } else if (offer.new_version !== item.new_version || offer.current_version !== item.old_version)
      said(
        'svc_offer_changed',
        `Planned: ${siteWord(item.old_version)} to ${siteWord(item.new_version)}; now it would be ${siteWord(offer.current_version)} to ${siteWord(offer.new_version)}.`,
      );
    else if (!wanted.some(isIt)) said('svc_update_ignored', 'The update has been ignored since the plan was made.');
    else offers.push(offer);
  }
  return { offers, refused };
}
