/** Routes of runs of updates. */

import { id } from '../../../../schemas/common.js';
import { cancelled } from '../../../../schemas/job.js';
import { receipt, runPicture } from '../../../../schemas/receipt.js';
import { RUN_ITEM_STATES, RUN_STATES, runEntry, runResult, shownRunItem } from '../../../../schemas/run.js';
import { z } from '../../../../schemas/zod.js';
import { integerOrText } from '../../../../schemas/zod-internals.js';
import { cancel } from '../../../domain/updates/runs/cancel.js';
import { picturesOf, receiptsOf } from '../../../domain/updates/runs/receipts.js';
import { retryRun, sitesOfRetry } from '../../../domain/updates/runs/retry.js';
import { getRun, listRuns, resultOf } from '../../../domain/updates/runs/runs.js';
import { csv, flag, paging, text } from '../params.js';
import { type Route, route } from '../route.js';
import { listOf } from '../schemas/records.js';
import { updateRunShape } from '../schemas/updates.js';
import { asRun, runId } from './run.js';

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
    description: 'Works while it is running, too. `total` counts items.',
    fails: [404],
    params: () =>
      z.object({
        run_id: text(100).describe('As given in the answer of an update.'),
        state: csv(z.enum(RUN_ITEM_STATES)).default([]).describe('Only items in these states.'),
        ...paging(50, 200),
      }),
    returns: () => listOf(shownRunItem()).extend({ run: runEntry(), result: runResult() }),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async answer({ run_id, state, page, per_page }, ctx) {
      const { items: data, total, ...rest } = await getRun(ctx, run_id, state, page, per_page);
      const { page: _page, per_page: _size, ...run } = rest;
      return { total, page, per_page, data, run, result: await resultOf(ctx, run_id) };
    },
  }),
  route({
    on: 'GET /runs/{run_id}/receipts',
    summary: 'Read the signed receipts of a run',
    description:
      'One for each site whose updates were checked: versions, findings, roll-backs, what was checked and what was not, as of the end of the run. `sitefleet receipt verify` checks a file of this answer.',
    fails: [404],
    params: () => z.object({ run_id: text(100).describe('As given in the answer of an update.'), ...paging(20, 100) }),
    returns: () => listOf(receipt()),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async answer({ run_id, page, per_page }, ctx) {
      const { receipts: data, total } = await receiptsOf(ctx, run_id, page, per_page);
      return { total, page, per_page, data };
    },
  }),
  route({
    on: 'GET /runs/{run_id}/pictures/{site}',
    summary: 'Read the pictures of a site in a run',
    description:
      'Of the front page, and of pages on which something was found. Only the newest 5,000 of all runs are kept.',
    fails: [404],
    params: () =>
      z.object({
        run_id: text(100).describe('As given in the answer of an update.'),
        site: id().describe('Id of the site.'),
      }),
    returns: () => z.object({ data: z.array(runPicture()) }),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async answer({ run_id, site }, ctx) {
      return { data: await picturesOf(ctx, run_id, site) };
    },
  }),
  route({
    on: 'POST /runs/{run_id}/retry',
    change: { kind: 'updates', sites: 'planned' },
    covers: ({ run_id }, ctx) => sitesOfRetry(ctx, run_id),
    live: true,
    fails: [404, 409],
    summary: "Apply a run's failed updates again",
    description: 'As a new run. What broke its site, was rolled back or is quarantined is left alone.',
    params: () =>
      z.object({
        run_id: text(100).describe('Of a run that has ended.'),
        dry_run: flag().default(false).describe('true: lists what would be updated, and changes nothing.'),
        as: runId(),
      }),
    returns: updateRunShape,
    async answer({ run_id, dry_run, as }, caller) {
      const answer = await retryRun(await asRun(caller, as), run_id, dry_run);
      const errors = answer.errors.map(({ site_id, slug, code, message }) => ({ site_id, slug, code, message }));
      if ('dry_run' in answer) {
        const { total_errors: _, ...preview } = answer;
        return { message: `${answer.total} updates would be applied. Nothing was changed.`, ...preview, errors };
      }
      if (answer.queued)
        return { message: `${answer.sites_queued} sites are updated in the background.`, ...answer, errors };
      const { updated, queued: _, ...done } = answer;
      const { total_updated } = done.summary;
      return {
        message: `${total_updated} updates were applied, ${errors.length} failed.`,
        ...done,
        data: updated,
        errors,
      };
    },
  }),
  route({
    on: 'POST /runs/{run_id}/cancel',
    change: 'other',
    fails: [404, 409],
    summary: 'Cancel a run of updates',
    description: 'What was done stays. 409 for a run that has ended, or that a call in another process is doing.',
    params: () => z.object({ run_id: text(100).describe('Of a run in progress.') }),
    returns: () => cancelled().extend({ message: z.string() }),
    async answer({ run_id }, ctx) {
      return { message: 'The run was cancelled.', ...(await cancel(ctx, { run_id })) };
    },
  }),
];
