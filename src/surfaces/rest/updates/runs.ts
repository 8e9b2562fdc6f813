/** Routes of runs of updates. */

import { RUN_ITEM_STATES, RUN_STATES, runEntry, runItem } from '../../../../schemas/run.js';
import { z } from '../../../../schemas/zod.js';
import { integerOrText } from '../../../../schemas/zod-internals.js';
import { getRun, listRuns } from '../../../domain/updates/runs/runs.js';
import { csv, paging, text } from '../params.js';
import { type Route, route } from '../route.js';
import { listOf } from '../schemas/records.js';

/** Not in the routes document. */
export const runs: readonly Route[] = [
  route({
    on: 'GET /runs',
    summary: 'List runs of updates, newest first',
    description: 'Each call that updates sites, by any way in, with what its job did. Kept for 180 days.',
    params: () =>
      z.object({
        since: text(40).optional().describe('ISO 8601.'),
        site: integerOrText().optional().describe('Id or domain.'),
        actor: text(255).optional().describe('Name of the user or key.'),
        state: z.enum(RUN_STATES).optional().describe('Of the run, or of any of its items.'),
        ...paging(20, 100),
      }),
    returns: () => listOf(runEntry()),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async answer({ site, page, per_page, ...asked }, ctx) {
      const { runs: data, total } = await listRuns(ctx, { ...asked, site_id_or_domain: site }, page, per_page);
      return { total, page, per_page, data };
    },
  }),
  route({
    on: 'GET /runs/{run_id}',
    summary: 'Read a run of updates, item by item',
    description: 'Also while it runs. `total` counts items.',
    fails: [404],
    params: () =>
      z.object({
        run_id: text(100).describe('As given in the answer of an update.'),
        state: csv(z.enum(RUN_ITEM_STATES)).default([]).describe('Only items in these states.'),
        ...paging(50, 200),
      }),
    returns: () => listOf(runItem()).extend({ run: runEntry() }),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async answer({ run_id, state, page, per_page }, ctx) {
      const { items: data, total, ...rest } = await getRun(ctx, run_id, state, page, per_page);
      const { page: _page, per_page: _size, ...run } = rest;
      return { total, page, per_page, data, run };
    },
  }),
];
