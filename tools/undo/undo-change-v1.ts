import { confirmation } from '../../schemas/common.js';
import { siteWord } from '../../schemas/site-text.js';
import { changesByUndo, undoAnswer, undoInput } from '../../schemas/undo.js';
import { z } from '../../schemas/zod.js';
import { counted, sentences } from '../../src/domain/common/question.js';
import { sitesOfUndo } from '../../src/domain/undo/select.js';
import { planUndo, previewUndo, requireUndo, undoChanges } from '../../src/domain/undo/undo.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/undo-change-v1',
  title: 'Undo changes',
  about:
    'Restores what was replaced by a change, a call, a run or rollout of updates, or everything since a time. Whatever was changed again since then is left alone.',
  instructions: 'Show the user a dry_run, then send its digest with confirm.',
  effect: 'destroy',
  change: changesByUndo,
  covers: (input, ctx) => sitesOfUndo(ctx, input),
  plan: (input, ctx) => planUndo(ctx, input),
  idempotent: true,
  multi: true,
  reversible: true,

  input: () => z.object({ ...undoInput(), ...confirmation() }),

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
