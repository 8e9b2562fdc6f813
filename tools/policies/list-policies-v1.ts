import { paging } from '../../schemas/common.js';
import { policyList } from '../../schemas/policy.js';
import { z } from '../../schemas/zod.js';
import { listPolicies } from '../../src/domain/policies/policies.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-policies-v1',
  title: 'List update policies',
  about: 'Lists what is updated automatically, when, and with what result. People change policies on the page.',
  run: 'GET',
  effect: 'read',

  input: () => z.object({ ...paging(10, 50) }),

  output: policyList,

  handle: ({ page, per_page }, ctx) => listPolicies(ctx, page, per_page),
});
