import { paging } from '../../schemas/common.js';
import { ROLLOUT_ITEM_STATES, rolloutId, rolloutShape } from '../../schemas/rollout.js';
import { z } from '../../schemas/zod.js';
import { getRollout } from '../../src/domain/updates/rollouts/read.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-rollout-v1',
  title: 'Read a rollout',
  about: 'Reads what a rollout did, rolled back and never touched, and what it is waiting for.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      rollout_id: rolloutId(),
      state: z.enum(ROLLOUT_ITEM_STATES).optional().describe('Only items in this state.'),
      ...paging(10, 50),
    }),

  output: rolloutShape,

  handle: ({ rollout_id, state, page, per_page }, ctx) =>
    getRollout(ctx, rollout_id, state === undefined ? [] : [state], page, per_page),
});
