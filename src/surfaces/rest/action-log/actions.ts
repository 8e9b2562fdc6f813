/** Routes for the action log (REST §7). */

import { actionShape, headShape, storedActionShape, WAYS_IN } from '../../../../schemas/action.js';
import { timestamp } from '../../../../schemas/common.js';
import { changesByUndo, undoAnswer } from '../../../../schemas/undo.js';
import { z } from '../../../../schemas/zod.js';
import { integerOrText } from '../../../../schemas/zod-internals.js';
import { actionLines, LOG_FORMATS, listActions, storedActions } from '../../../domain/action-log/list.js';
import { verifyLog } from '../../../domain/action-log/verify.js';
import { sitesOfUndo } from '../../../domain/undo/select.js';
import { planUndo, previewUndo, requireUndo, undoChanges } from '../../../domain/undo/undo.js';
import { ServiceError } from '../../../runtime/errors.js';
import { invalidParam } from '../parameter-errors.js';
import { csv, flag, int, paging, text } from '../params.js';
import { type Route, route } from '../route.js';
import { listOf, recordOf, writtenOf } from '../schemas/records.js';

/** Lines of one export. */
const MOST_LINES = 10_000;

/** Not in the routes document. */
export const actions: readonly Route[] = [
  route({
    on: 'GET /actions',
    fails: [404],
    summary: 'Read the log of everything done through this service, newest first',
    description:
      'Who called what, with which input, and what it did. Entries are chained by hashes: note `head` elsewhere, and a later check tells whether any entry before it was changed, removed or cut off.',
    params: () =>
      z.object({
        since: text(40, 1).optional().describe('ISO 8601; default: 7 days before until.'),
        until: text(40, 1).optional().describe('ISO 8601; default: now.'),
        site: integerOrText().optional().describe('Id or domain.'),
        operation: text(255, 1).optional().describe('Such as svc/run-updates-v1, or a route as in this description.'),
        request_id: text(255, 1).optional().describe('All of one call.'),
        by: text(255, 1).optional().describe('Part of the name of who did it.'),
        via: csv(z.enum(WAYS_IN)).default([]),
        contexts: csv(text(50, 1)).default([]).describe('call, plugin, theme, core, site, client, tag, user, key, …'),
        result: z.enum(['done', 'failed']).optional().describe('Omit for both.'),
        ...paging(50, 500),
      }),
    returns: () =>
      listOf(actionShape()).extend({
        since: timestamp(),
        until: timestamp(),
        note: z.string().optional(),
        head: headShape(),
      }),
    async answer({ site, contexts, ...asked }, ctx) {
      const { actions: data, ...found } = await listActions(ctx, { ...asked, contexts, site_id_or_domain: site });
      return { ...found, data };
    },
  }),
  route({
    on: 'POST /actions/undo',
    // What it restores may be either.
    change: changesByUndo,
    covers: ({ site, ...choice }, ctx) => sitesOfUndo(ctx, { ...choice, site_id_or_domain: site }),
    plan: ({ site, ...choice }, ctx) => planUndo(ctx, { ...choice, site_id_or_domain: site }),
    fails: [404, 409],
    summary: 'Undo changes',
    description:
      'Restores what the changes replaced: one entry of the log, all that a call did, a run or a rollout of updates, or everything since a time. Preview with dry_run, then repeat with confirm and the digest. Whatever was changed again since then is left alone.',
    params: () =>
      z.object({
        change_id: integerOrText()
          .optional()
          .describe('An id from GET /actions (context call = all it did), or the change_id of an update.'),
        run_id: text(100, 1).optional().describe('Everything in a run of updates.'),
        rollout_id: text(100, 1).optional().describe('Everything a rollout did; not while it is running.'),
        since: text(40, 1).optional().describe('ISO 8601: all changes since.'),
        until: text(40, 1).optional().describe('With since; default: now.'),
        by: text(255, 1).optional().describe('With since: part of the name of who did it.'),
        site: integerOrText().optional().describe('With since: id or domain.'),
        exclude_action_ids: csv(int(1)).default([]).describe('With since or a call: entries to leave alone.'),
        page: int(1, 1_000).optional().describe('With dry_run: pages of 20 per list.'),
        digest: text(64, 1).optional().describe('From the preview; refused if the plan has changed since.'),
        confirm: flag().default(false),
        dry_run: flag().default(false),
      }),
    returns: () => writtenOf(undoAnswer()),
    async answer({ confirm, dry_run, site, ...asked }, ctx) {
      if (confirm && dry_run) throw invalidParam('confirm', 'confirm and dry_run cannot both be true.');
      const input = { ...asked, site_id_or_domain: site };
      if (dry_run) return { message: 'Nothing was changed.', data: await previewUndo(ctx, input) };
      await requireUndo(ctx, input);
      if (!confirm)
        throw new ServiceError('svc_confirmation_required', 'The undo was not confirmed. Nothing changed.', {
          field: 'confirm',
          advice: 'Preview with dry_run, then repeat the call with confirm.',
        });
      const data = await undoChanges(ctx, input);
      return { message: `${data.total_undone} restored, ${data.total_errors} left as they are.`, data };
    },
  }),
  route({
    on: 'GET /actions/export',
    large: true,
    summary: 'Export the log as it is stored, oldest first',
    description: `At most ${MOST_LINES} entries, fewer if they are long. Continue with the id of the last one as \`after\` until there are none. jsonl and ocsf are files of JSON lines: entries, or events of the class API Activity for a SIEM.`,
    params: () =>
      z.object({
        after: int(0).default(0).describe('Only entries with a higher id.'),
        limit: int(1, MOST_LINES).default(MOST_LINES),
        format: z.enum(['json', ...LOG_FORMATS]).default('json'),
      }),
    returns: () => z.object({ data: z.array(storedActionShape()) }),
    async answer({ after, limit, format }, ctx) {
      if (format === 'json') return { data: await storedActions(ctx, after, limit) };
      const { lines } = await actionLines(ctx, format, after, limit);
      const content = lines.map((line) => `${line}\n`).join('');
      return { file: { type: 'application/x-ndjson', name: `actions-after-${after}.jsonl`, text: content } };
    },
  }),
  route({
    on: 'GET /actions/verify',
    summary: 'Check that no entry of the log was changed, added or removed',
    params: () =>
      z.object({
        id: int(1).optional().describe('Id of an entry whose hash you noted.'),
        hash: text(64, 64).optional().describe('Its hash.'),
      }),
    returns: () =>
      recordOf(
        z.object({
          valid: z.boolean(),
          problem: z.string().nullable(),
          at_id: z.number().int().nullable(),
          rows: z.number().int(),
          pruned_through: z.number().int().describe('Entries up to this id were deleted for their age; 0 = none.'),
          head: headShape(),
        }),
      ),
    answer: async ({ id, hash }, ctx) => {
      if ((id === undefined) !== (hash === undefined))
        throw invalidParam(id === undefined ? 'id' : 'hash', 'id and hash are sent together.');
      return { data: await verifyLog(ctx, id === undefined || hash === undefined ? undefined : { id, hash }) };
    },
  }),
];
