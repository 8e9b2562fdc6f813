/** When a rollout stops on its own: an item that harmed a site goes to no other; too much harm or failure halts all. */

import { siteWord } from '../../../../schemas/site-text.js';
import type { RolloutRow } from '../../../store/rollouts/rollouts.js';
import { loggedStep } from '../../action-log/step.js';
import type { Ctx } from '../../context.js';
import { UPDATE_TYPES } from '../results.js';
import type { Rules } from './rules.js';

/** Applies the rules to what has happened so far; true if the rollout does not go on. */
export async function applyHaltRules(ctx: Ctx, rollout: RolloutRow, wave: number): Promise<boolean> {
  const { rollouts } = ctx.store;
  const { id } = rollout;
  const { halt_sites, halt_percent } = JSON.parse(rollout.rules) as Rules;
  const { items, harmed, failed, down, sites } = await rollouts.harm(id, wave);
  for (const item of items) {
    const { type, slug, version, site_id } = item;
    const detail = `The ${UPDATE_TYPES[type]} ${siteWord(slug)} ${siteWord(version)} broke site ${site_id}: it goes to no further site.`;
    await loggedStep(ctx, { name: 'rollout.item_halted', facts: { rollout_id: id, detail } }, () =>
      rollouts.haltItem(id, item, ctx.clock.now()),
    );
  }
  const bad = new Set([...harmed, ...down]).size;
  if (bad >= halt_sites) {
    // Stored before its effect, and as it is now: tomorrow they may be up again.
    await rollouts.noteDown(id, down);
    return halt(ctx, id, `${bad} ${bad === 1 ? 'site' : 'sites'} broke or went down; the limit is ${halt_sites}.`);
  }
  if (failed > 0 && failed * 100 >= halt_percent * sites)
    return halt(
      ctx,
      id,
      `Updates failed on ${failed} of ${sites} sites of wave ${wave}; the limit is ${halt_percent} %.`,
    );
  return false;
}

/** Halts a rollout. */
export async function halt(ctx: Ctx, id: string, reason: string): Promise<true> {
  const change = { state: 'halted' as const, reason, at: ctx.clock.now() };
  await loggedStep(ctx, { name: 'rollout.halted', facts: { rollout_id: id, detail: reason } }, () =>
    ctx.store.rollouts.change(id, ['running', 'paused'], change),
  );
  return true;
}
