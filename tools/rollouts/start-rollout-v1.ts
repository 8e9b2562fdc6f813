import { confirmation, token } from '../../schemas/common.js';
import { startShape } from '../../schemas/rollout.js';
import { z } from '../../schemas/zod.js';
import { counted, sentences } from '../../src/domain/common/question.js';
import {
  plannedStart,
  previewStart,
  STARTING,
  sitesOfPlan,
  startRollout,
} from '../../src/domain/updates/rollouts/start.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/start-rollout-v1',
  title: 'Start a rollout',
  about: 'Carries out a plan, wave by wave, in the background. A plan can be started once.',
  effect: 'destroy',
  change: STARTING,
  plan: ({ plan_id, digest }, ctx) => plannedStart(ctx, { plan_id, digest }),
  covers: ({ plan_id }, ctx) => sitesOfPlan(ctx, plan_id),
  idempotent: false,

  input: () =>
    z.object({
      plan_id: token(100).describe('From plan-updates-v1.'),
      digest: token(100).describe('From the plan.'),
      ...confirmation(),
    }),

  output: startShape,

  question: ({ sites, updates, waves, summary }) => ({
    text: sentences(
      `Start ${counted(updates, 'update')} on ${counted(sites, 'site')}, in ${counted(waves, 'wave')}?`,
      summary,
      'You can pause or abort it; sites in progress are finished.',
    ),
  }),

  preview: ({ plan_id, digest }, ctx) => previewStart(ctx, { plan_id, digest }),

  handle: ({ plan_id, digest }, ctx) => startRollout(ctx, { plan_id, digest }),
});
