import { paged, paging, token } from '../../schemas/common.js';
import { RUN_ITEM_STATES, runEntry, runItem } from '../../schemas/run.js';
import { z } from '../../schemas/zod.js';
import { getRun } from '../../src/domain/updates/runs/runs.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-run-v1',
  title: 'Read a run of updates',
  about: 'Reads what a run of updates did on each site and item, even while it is running.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      run_id: token(100).describe('From an update or list-runs-v1.'),
      state: z.enum(RUN_ITEM_STATES).optional().describe('Only items in this state.'),
      ...paging(15, 20),
    }),

  output: () => runEntry().extend({ items: z.array(runItem()), ...paged() }),

  handle: ({ run_id, state, page, per_page }, ctx) =>
    getRun(ctx, run_id, state === undefined ? [] : [state], page, per_page),
});
