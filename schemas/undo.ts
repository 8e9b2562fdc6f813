/** Schemas of undoing changes. */

import { once } from '../src/runtime/once.js';
import type { Change } from './approval.js';
import { called, int, list, queuedFields, siteRef, token } from './common.js';
import { z } from './zod.js';
import { integerOrText } from './zod-internals.js';

const count = () => z.number().int();

const target = once(() => ({
  site_id: count().nullable().describe('null = a record of this service.'),
  site_url: z.string().nullable().optional(),
  kind: z.string().describe('plugin, theme, site, post, comment, tag, client, settings, …'),
  slug: z.string().optional(),
  name: z.string().optional(),
}));

const undoStep = once(() =>
  z.object({
    ...target(),
    field: z.string(),
    now: z.string(),
    back_to: z.string(),
    caution: z.string().optional().describe('What to know before undoing it.'),
    by: z.array(z.string()).optional().describe('Who made the changes it undoes.'),
    action_ids: z.array(count()).describe('Log entries.'),
    change_id: z.string().optional(),
  }),
);

const notUndone = once(() =>
  z.object({
    ...target(),
    action_id: count().optional(),
    change_id: z.string().optional(),
    code: z.string(),
    message: z.string(),
  }),
);

/** A page of each list of a preview, and the first of what was done. */
export const undoAnswer = once(() =>
  z.object({
    ...queuedFields(),
    dry_run: z.literal(true).optional(),
    digest: z.string().optional().describe('Of this plan.'),
    sites: count().optional(),
    undo: z.array(undoStep()).optional().describe('What would be restored.'),
    total_undo: count().optional(),
    total_cautions: count().optional(),
    total_by_others: count().optional().describe('Made by someone other than the caller.'),
    undone: z.array(undoStep()).optional(),
    total_undone: count().optional(),
    errors: z.array(notUndone()).describe('What is left as it is, and why.'),
    total_errors: count(),
  }),
);

/**
 * Of a run or a rollout it rolls updates back. Otherwise it may restore what any of these kinds has changed, and removes tags
 * and clients that were added.
 */
export const changesByUndo = ({ run_id, rollout_id }: { run_id?: unknown; rollout_id?: unknown }): Change[] =>
  ((run_id ?? rollout_id) === undefined
    ? (['updates', 'installs', 'connections', 'content', 'settings', 'deletions', 'other'] as const)
    : (['updates'] as const)
  ).map((kind) => ({ kind, sites: 'planned' }));

/** What to undo, and what of its preview is shown. */
export const undoInput = once(() => ({
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
}));
export type UndoInput = Partial<z.output<z.ZodObject<ReturnType<typeof undoInput>>>>;
