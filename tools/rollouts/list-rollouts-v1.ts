import { paged, paging } from '../../schemas/common.js';
import { ROLLOUT_STATES, rolloutEntry } from '../../schemas/rollout.js';
import { z } from '../../schemas/zod.js';
import { listRollouts } from '../../src/domain/updates/rollouts/read.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-rollouts-v1',
  title: 'List rollouts',
  about: 'Lists rollouts of the last 180 days, newest first.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({ state: z.enum(ROLLOUT_STATES).optional().describe('Only in this state.'), ...paging(10, 20) }),

  output: () => z.object({ rollouts: z.array(rolloutEntry()), ...paged() }),

  handle: ({ state, page, per_page }, ctx) => listRollouts(ctx, state, page, per_page),
});
