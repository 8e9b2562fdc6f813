/** The turn of a site in a rollout: whether it has come, and what of its plan still holds. */

import { siteWord } from '../../../../schemas/site-text.js';
import type { RolloutItemState } from '../../../store/rollouts/rollouts.js';
import type { FleetOffer } from '../../../store/updates/updates.js';
import type { Ctx } from '../../context.js';
import type { LoadedSite } from '../../sites/load.js';
import { refusal } from '../plan.js';
import { type ApplyError, UPDATE_TYPES } from '../results.js';
import { applyHaltRules, haltsOf } from './halt-rules.js';
import { isOpen, type Rules } from './rules.js';

/**
 * Whether the site is updated in this run now. One that was begun is finished, whatever became of its rollout meanwhile;
 * any other is given back if the rollout stands still, the window of the site has closed, or all of it has to wait.
 */
export async function isItsTurn(ctx: Ctx, siteId: number, rolloutId: string): Promise<boolean> {
  const { rollouts, rolloutPlans } = ctx.store;
  const turn = await rollouts.turn(rolloutId, siteId, ctx.run_id);
  if (turn === undefined) return false;
  if (turn.begun === 1) return true;
  if (turn.state === 'running' && !(await applyHaltRules(ctx, turn, turn.wave))) {
    const clock = (await rolloutPlans.clocks([siteId])).get(siteId);
    const mayBegin = isOpen(JSON.parse(turn.rules) as Rules, clock, ctx.clock.now());
    if (mayBegin && !(await hasToWait(ctx, siteId, rolloutId))) return true;
  }
  await rollouts.release(rolloutId, siteId, ctx.run_id);
  return false;
}

/** Whether all that is planned for the turn is halted, some of it only for a time. */
async function hasToWait(ctx: Ctx, siteId: number, rolloutId: string): Promise<boolean> {
  const planned = await haltsOf(ctx, rolloutId, await ctx.store.rollouts.planned(rolloutId, siteId, ctx.run_id));
  return planned.every(({ halted }) => halted !== undefined) && planned.some(({ halted }) => halted?.until != null);
}

/**
 * What another site broke after the turn had begun, as while a backup was made here, and so was refused: it has its turn in a
 * later wave, if it is halted for a time.
 */
export async function deferRefused(
  ctx: Ctx,
  siteId: number,
  rolloutId: string,
  errors: readonly ApplyError[],
): Promise<void> {
  const refused = errors.filter(({ code }) => code === 'svc_version_quarantined');
  if (refused.length === 0) return;
  const { rollouts } = ctx.store;
  for (const { item, halted } of await haltsOf(ctx, rolloutId, await rollouts.planned(rolloutId, siteId, ctx.run_id)))
    if (
      halted?.until != null &&
      refused.some(({ type, slug }) => type === UPDATE_TYPES[item.type] && slug === item.slug)
    )
      await rollouts.defer(rolloutId, item);
}

/** States of items in the run of a site that was interrupted: not to be applied again; and those that may have been sent. */
const DONE: readonly string[] = ['kept', 'rolled_back', 'unknown'] satisfies RolloutItemState[];
const SENT: readonly string[] = ['updating', 'checking', 'failed'] satisfies RolloutItemState[];

/**
 * The updates of the plan that are still as planned, and why the others are left. What had its turn is in neither, nor what
 * waits for a later wave.
 */
export async function plannedOffers(
  ctx: Ctx,
  target: LoadedSite,
  rolloutId: string,
): Promise<{ offers: FleetOffer[]; refused: ApplyError[] }> {
  const { store } = ctx;
  const { id } = target.site;
  const [planned, all, wanted] = [
    await haltsOf(ctx, rolloutId, await store.rollouts.planned(rolloutId, id, ctx.run_id)),
    await store.updates.ofSite(id, [], true),
    await store.updates.ofSite(id, [], false),
  ];
  const offers: FleetOffer[] = [];
  const refused: ApplyError[] = [];
  for (const { item, halted } of planned) {
    if (DONE.includes(item.recorded ?? '')) continue;
    const isIt = ({ type, slug }: { type: number; slug: string }) => type === item.type && slug === item.slug;
    const offer = all.find(isIt);
    const said = (code: 'svc_rollout_halted' | 'svc_offer_changed', message: string) =>
      void refused.push(refusal(target, item, code, message));
    if (halted !== undefined && halted.until !== null && item.recorded === null)
      await store.rollouts.defer(rolloutId, item);
    else if (halted !== undefined)
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
    else if (!wanted.some(isIt)) said('svc_offer_changed', 'The update has been ignored since the plan was made.');
    else offers.push(offer);
  }
  return { offers, refused };
}
