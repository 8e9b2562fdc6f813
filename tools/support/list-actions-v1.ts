import { actionFilters, actionRow, headShape } from '../../schemas/action.js';
import { paged, paging, timestamp } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { listActions, shortActions } from '../../src/domain/action-log/list.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-actions-v1',
  title: 'List actions',
  about:
    'Reads the log of everything done through Sitefleet, newest first: who called what, with which input, and what it did. "sitefleet log verify" proves that no entry was changed.',
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      ...actionFilters(),
      details: z.boolean().default(false).describe('Every member of each entry.'),
      ...paging(20, 100),
    }),

  output: () =>
    z.object({
      since: timestamp(),
      until: timestamp(),
      note: z.string().optional(),
      actions: z.array(actionRow()),
      head: headShape(),
      ...paged(),
    }),

  async handle({ details, ...input }, ctx) {
    const found = await listActions(ctx, input);
    return details ? found : { ...found, actions: shortActions(found.actions) };
  },
});
