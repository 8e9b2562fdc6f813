import { approvalShape, STATES } from '../../schemas/approval.js';
import { paged, paging } from '../../schemas/common.js';
import { listOrOne } from '../../schemas/search.js';
import { z } from '../../schemas/zod.js';
import { listApprovals } from '../../src/domain/approvals/approvals.js';
import { defineOperation } from '../../src/operation/operation.js';

/** Nothing listed does not mean that nothing waits. */
const OWN = 'this caller only; people who may approve see the requests of others on the page';

export default defineOperation({
  id: 'svc/list-approvals-v1',
  title: 'List requests for approval',
  about:
    'Lists changes that this caller asked for and a person has to approve, newest first. They cannot be approved here.',
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      states: listOrOne(z.enum(STATES)).default([]).describe('Default: all.'),
      ...paging(20, 100),
    }),

  output: () => z.object({ of: z.string(), approvals: z.array(approvalShape()), ...paged() }),

  async handle({ states, page, per_page }, ctx) {
    const { items, total, own } = await listApprovals(ctx, states, page, per_page);
    return { of: own ? OWN : 'all callers', approvals: items, page, per_page, total };
  },
});
