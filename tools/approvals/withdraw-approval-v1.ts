import { approvalShape } from '../../schemas/approval.js';
import { token } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { withdrawApproval } from '../../src/domain/approvals/approvals.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/withdraw-approval-v1',
  title: 'Withdraw a request for approval',
  about: 'Withdraws a request of this caller that is still waiting.',
  effect: 'write',
  change: () => [],
  idempotent: false,

  input: () => z.object({ approval_id: token(100).describe('From list-approvals-v1.') }),

  output: approvalShape,

  handle: ({ approval_id }, ctx) => withdrawApproval(ctx, approval_id),
});
