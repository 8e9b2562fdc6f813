import { paged, paging, token } from '../../schemas/common.js';
import { ofSite } from '../../schemas/monitoring-tools.js';
import { RUN_STATES, runEntry } from '../../schemas/run.js';
import { z } from '../../schemas/zod.js';
import { listRuns } from '../../src/domain/updates/runs/runs.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-runs-v1',
  title: 'List runs of updates',
  about: 'Lists who updated what in the last 180 days and how it went, newest first.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      since: token(40).optional().describe('ISO 8601.'),
      site_id_or_domain: ofSite(),
      actor: token(255).optional().describe('Name of the user or key.'),
      state: z.enum(RUN_STATES).optional().describe('Of the run, or of any of its items.'),
      ...paging(15, 20),
    }),

  output: () => z.object({ runs: z.array(runEntry()), ...paged() }),

  handle: ({ page, per_page, ...asked }, ctx) => listRuns(ctx, asked, page, per_page),
});
