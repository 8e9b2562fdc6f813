import { id } from '../../schemas/common.js';
import { policyPreview } from '../../schemas/policy.js';
import { z } from '../../schemas/zod.js';
import { previewPolicy } from '../../src/domain/policies/preview.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/preview-policy-v1',
  title: 'Preview a policy',
  about: 'Shows what a policy would do now, and what it would have started in the last 30 days. Changes nothing.',
  run: 'GET',
  effect: 'read',
  live: true,

  input: () => z.object({ policy_id: id().describe('From list-policies-v1.') }),

  output: policyPreview,

  handle: ({ policy_id }, ctx) => previewPolicy(ctx, policy_id),
});
