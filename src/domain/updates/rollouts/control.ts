/** Pauses, resumes and aborts rollouts, and approves their waves. What a site has begun is always finished. */

import type { ROLLOUT_ACTIONS } from '../../../../schemas/rollout.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { RolloutState } from '../../../store/rollouts/rollouts.js';
import { loggedStep } from '../../action-log/step.js';
import type { CoveredSites, Ctx } from '../../context.js';
import { advance } from './advance.js';
import { getRollout, knownRollout } from './read.js';
import { sitesOfPlan } from './start.js';

export type RolloutAction = (typeof ROLLOUT_ACTIONS)[number];

const CHANGES = {
  pause: { from: ['running'], state: 'paused', event: 'rollout.paused' },
  resume: { from: ['paused'], state: 'running', event: 'rollout.resumed' },
  abort: { from: ['running', 'paused'], state: 'aborted', event: 'rollout.aborted' },
} as const satisfies Record<string, { from: RolloutState[]; state: RolloutState; event: string }>;

/** The rollout as it is, and what would become of it, if the action is possible. Throws as `controlRollout`. */
export async function previewControl(ctx: Ctx, id: string, action: RolloutAction) {
  const wave = await requirePossible(ctx, id, action);
  const rollout = await getRollout(ctx, id, [], 1, 5);
  return { ...rollout, dry_run: true as const, next: wouldBe(action, wave, rollout.counts.untouched ?? 0) };
}

/** The sites that a rollout is to update, whatever it has done already: what continues it leads to as much as its start. */
export async function sitesOfRollout(ctx: Ctx, id: string): Promise<CoveredSites> {
  return sitesOfPlan(ctx, (await knownRollout(ctx, id)).plan_id);
}

function wouldBe(action: RolloutAction, wave: number | null, untouched: number): string {
  const left = `${untouched} ${untouched === 1 ? 'update' : 'updates'}`;
  switch (action) {
    case 'pause':
      return `It would be paused: sites in progress are finished, and ${left} would wait until it is resumed.`;
    case 'resume':
      return `It would continue with ${left}.`;
    case 'abort':
      return `It would end for good: ${left} would never be made, and what was updated stays updated.`;
    case 'approve_next_wave':
      return `Wave ${wave} would begin.`;
  }
}

/** Throws `svc_rollout_not_found`, and `svc_rest_conflict` if it is in no state for that. */
export async function controlRollout(ctx: Ctx, id: string, action: RolloutAction) {
  const wave = await requirePossible(ctx, id, action);
  const done =
    action === 'approve_next_wave' ? wave !== null && (await approve(ctx, id, wave)) : await change(ctx, id, action);
  if (!done) {
    await requirePossible(ctx, id, action);
    throw conflict('The rollout changed meanwhile.');
  }
  await advance(ctx, id);
  return getRollout(ctx, id, [], 1, 5);
}

/** The wave that an approval means. */
async function requirePossible(ctx: Ctx, id: string, action: RolloutAction): Promise<number | null> {
  const { rules, state: now } = await knownRollout(ctx, id);
  if (action !== 'approve_next_wave') {
    const { from, state } = CHANGES[action];
    if (from.some((one) => one === now)) return null;
    throw conflict(`The rollout is ${now}: it cannot be ${state === 'running' ? 'resumed' : state}.`);
  }
  const { approve_waves } = JSON.parse(rules) as { approve_waves: boolean };
  const waves = await ctx.store.rollouts.waves(id);
  const next = waves.find(({ state }) => state === 'waiting');
  if (!approve_waves || next === undefined || (now !== 'running' && now !== 'paused'))
    throw conflict('No wave of this rollout is waiting for approval.');
  if (next.approved_by !== null) throw conflict(`Wave ${next.wave} is approved.`);
  if (waves.some(({ wave, state }) => wave < next.wave && state !== 'done'))
    throw conflict(`Wave ${next.wave} can be approved once the one before it has soaked.`);
  return next.wave;
}

/** False: it is not in a state for that any more. */
async function change(ctx: Ctx, id: string, action: keyof typeof CHANGES): Promise<boolean> {
  const { from, state, event } = CHANGES[action];
  const by = `By ${ctx.actor.name}.`;
  return loggedStep(ctx, { name: event, facts: { rollout_id: id, detail: by } }, () =>
    ctx.store.rollouts.change(id, from, { state, reason: by, at: ctx.clock.now() }),
  );
}

/** False: it cannot be approved any more. */
async function approve(ctx: Ctx, id: string, wave: number): Promise<boolean> {
  const event = { name: 'rollout.wave_approved' as const, facts: { rollout_id: id, detail: `Wave ${wave}.` } };
  return loggedStep(ctx, event, () => ctx.store.rollouts.approve(id, wave, ctx.actor.name));
}

function conflict(message: string): ServiceError {
  return new ServiceError('svc_rest_conflict', message, {
    field: 'action',
    advice:
      'Read it with get-rollout-v1. A rollout that has ended cannot be continued: make a new plan for what is left.',
  });
}
