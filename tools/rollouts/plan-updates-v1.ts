import { paging } from '../../schemas/common.js';
import { planInput, planShape } from '../../schemas/rollout.js';
import { z } from '../../schemas/zod.js';
import { planUpdatesOf } from '../../src/domain/updates/rollouts/plan.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/plan-updates-v1',
  title: 'Plan updates in waves',
  about: 'Plans updates in waves, with risks and what is left out. Changes nothing.',
  instructions: 'Show the user the summary, then call start-rollout-v1 with plan_id and digest.',
  run: 'POST',
  effect: 'read',
  live: true,

  input: () => z.object({ ...planInput(), ...paging(10, 50) }),

  output: planShape,

  handle: ({ page, per_page, ...input }, ctx) => planUpdatesOf(ctx, input, page, per_page),
});
