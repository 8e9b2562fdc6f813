/** Pauses, resumes and aborts rollouts, and approves their waves. What a site has begun is always finished. */

import type { ROLLOUT_ACTIONS } from '../../../../schemas/rollout.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { RolloutState } from '../../../store/rollouts/rollouts.js';
import { loggedStep } from '../../action-log/step.js';
import type { Ctx } from '../../context.js';
import { advance } from './advance.js';
import { getRollout, knownRollout } from './read.js';

export type RolloutAction = (typeof ROLLOUT_ACTIONS)[number];

const CHANGES = {
  pause: { from: ['running'], state: 'paused', event: 'rollout.paused' },
  resume: { from: ['paused'], state: 'running', event: 'rollout.resumed' },
  abort: { from: ['running', 'paused'], state: 'aborted', event: 'rollout.aborted' },
} as const satisfies Record<string, { from: RolloutState[]; state: RolloutState; event: string }>;

/** Throws `svc_rollout_not_found`, and `svc_rest_conflict` if it is in no state for that. */
export async function controlRollout(ctx: Ctx, id: string, action: RolloutAction) {
  const rollout = await knownRollout(ctx, id);
  if (action === 'approve_next_wave') await approve(ctx, id);
  else {
    const { from, state, event } = CHANGES[action];
    const by = `By ${ctx.actor.name}.`;
    const changed = await loggedStep(ctx, { name: event, facts: { rollout_id: id, detail: by } }, () =>
      ctx.store.rollouts.change(id, from, { state, reason: by, at: ctx.clock.now() }),
    );
    if (!changed) {
      const { state: now } = await knownRollout(ctx, id);
      throw conflict(`The rollout is ${now}: it cannot be ${state === 'running' ? 'resumed' : state}.`);
    }
  }
  await advance(ctx, rollout.id);
  return getRollout(ctx, id, [], 1, 5);
}

async function approve(ctx: Ctx, id: string): Promise<void> {
  const { rollouts } = ctx.store;
  const { rules, state } = await knownRollout(ctx, id);
  const { approve_waves } = JSON.parse(rules) as { approve_waves: boolean };
  const wave = (await rollouts.waves(id)).find((one) => one.state === 'waiting');
  if (!approve_waves || wave === undefined || (state !== 'running' && state !== 'paused'))
    throw conflict('No wave of this rollout waits for an approval.');
  const event = { name: 'rollout.wave_approved' as const, facts: { rollout_id: id, detail: `Wave ${wave.wave}.` } };
  if (!(await loggedStep(ctx, event, () => rollouts.approve(id, wave.wave, ctx.actor.name))))
    throw conflict(
      wave.approved_by === null
        ? `Wave ${wave.wave} can be approved once the one before it has soaked.`
        : `Wave ${wave.wave} is approved.`,
    );
}

function conflict(message: string): ServiceError {
  return new ServiceError('svc_rest_conflict', message, {
    field: 'action',
    advice: 'Read it with get-rollout-v1. A rollout that has ended stays so: plan again what is left.',
  });
}
