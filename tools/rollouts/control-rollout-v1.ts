import { confirmation } from '../../schemas/common.js';
import { ROLLOUT_ACTIONS, rolloutId, rolloutShape } from '../../schemas/rollout.js';
import { z } from '../../schemas/zod.js';
import { controlRollout, previewControl, sitesOfRollout } from '../../src/domain/updates/rollouts/control.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/control-rollout-v1',
  title: 'Control a rollout',
  about: 'Pauses, resumes or aborts a rollout, or approves its next wave. Sites in progress are finished.',
  effect: 'destroy',
  // Stopping needs no approval.
  change: ({ action }: { action: string }) =>
    action === 'pause' || action === 'abort' ? [] : [{ kind: 'rollouts', sites: 'planned' }],
  covers: ({ rollout_id }, ctx) => sitesOfRollout(ctx, rollout_id),
  idempotent: false,

  input: () =>
    z.object({ rollout_id: rolloutId(), action: z.enum(ROLLOUT_ACTIONS).describe('What to do.'), ...confirmation() }),

  output: () => rolloutShape().extend({ dry_run: z.boolean().optional() }),

  question: ({ summary, next }, { action }) => ({
    text: `${{ pause: 'Pause the rollout', resume: 'Resume the rollout', abort: 'Abort the rollout for good', approve_next_wave: 'Let the next wave of the rollout begin' }[action]}? ${summary} ${next}`.trim(),
  }),

  preview: ({ rollout_id, action }, ctx) => previewControl(ctx, rollout_id, action),

  handle: ({ rollout_id, action }, ctx) => controlRollout(ctx, rollout_id, action),
});
