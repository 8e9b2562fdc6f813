import { called, confirmation, int, list, siteRef, token } from '../../schemas/common.js';
import { siteWord } from '../../schemas/site-text.js';
import { changesByUndo, undoAnswer } from '../../schemas/undo.js';
import { z } from '../../schemas/zod.js';
import { integerOrText } from '../../schemas/zod-internals.js';
import { counted, sentences } from '../../src/domain/common/question.js';
import { previewUndo, requireUndo, undoChanges } from '../../src/domain/undo/undo.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/undo-change-v1',
  title: 'Undo changes',
  about:
    'Restores what was replaced by a change, a call, a run or rollout of updates, or everything since a time. Whatever was changed again since then is left alone.',
  instructions: 'Show the user a dry_run, then send its digest with confirm.',
  effect: 'destroy',
  change: changesByUndo,
  idempotent: true,
  multi: true,
  reversible: true,

  input: () =>
    z.object({
      change_id: integerOrText()
        .optional()
        .describe('From list-actions-v1 (a call: all it did), search-changes-v1 or an update.'),
      run_id: token(100).optional().describe('Everything in a run of updates.'),
      rollout_id: token(100).optional().describe('Everything a rollout did; not while it is running.'),
      since: z.string().trim().max(40).optional().describe('ISO 8601: all changes since.'),
      until: z.string().trim().max(40).optional().describe('With since; default: now.'),
      by: called().optional().describe('With since: part of the name of who did it.'),
      site_id_or_domain: siteRef().optional().describe('With since: on this site.'),
      exclude_action_ids: list(int(1)).default([]).describe('With since or a call: entries to leave alone.'),
      page: z.number().int().min(1).max(1_000).optional().describe('With dry_run: pages of 20 per list.'),
      digest: token(64).optional().describe('From the preview; refused if the plan has changed since.'),
      ...confirmation(),
    }),

  output: undoAnswer,

  question: ({ undo = [], total_undo = 0, total_by_others = 0, total_errors }) => ({
    text: sentences(
      `Restore what ${counted(total_undo, 'change')} replaced?`,
      undo.length > 0 &&
        `${undo
          .slice(0, 3)
          .map(({ name, slug, site_url, kind, field, now, back_to }) =>
            [name ?? slug ?? site_url ?? kind, `${field} ${now} to ${back_to}`].map(siteWord).join(': '),
          )
          .join('; ')}${total_undo > 3 ? '; …' : '.'}`,
      total_by_others > 0 && `Others made ${total_by_others} of them.`,
      total_errors > 0 &&
        `${total_errors} ${total_errors === 1 ? 'is' : 'are'} left as ${total_errors === 1 ? 'it is' : 'they are'}.`,
    ),
  }),

  requireTarget: (input, ctx) => requireUndo(ctx, input),
  preview: (input, ctx) => previewUndo(ctx, input),
  handle: ({ confirm: _confirm, dry_run: _dry, ...input }, ctx) => undoChanges(ctx, input),
});
