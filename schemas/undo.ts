/** Schemas of undoing changes. */

import { once } from '../src/runtime/once.js';
import type { Change } from './approval.js';
import { queuedFields } from './common.js';
import { z } from './zod.js';

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
