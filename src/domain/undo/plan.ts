/** The plan of an undo: what each field would be restored to, by what it is now. Pure. */

import { createHash } from 'node:crypto';
import { cut } from '../../../schemas/text.js';
import type { ErrorCode } from '../../runtime/errors.js';
import { isSame } from '../action-log/fields.js';
import { byField, type Change, type Refusal, type Target } from '../action-log/logged-changes.js';

/** What a field is now, or why it cannot be restored. */
export type State = { value: unknown } | { reason: string };

/** A field that is restored. */
export interface Step extends Target {
  /** Entries of the action log that this undoes, newest first. */
  entries: number[];
  change_id: string;
  field: string;
  now: unknown;
  back_to: unknown;
  sites?: readonly number[];
}

/** What is left as it is. */
export interface Left extends Target {
  entry: number;
  change_id: string;
  code: ErrorCode;
  reason: string;
}

export interface Plan {
  steps: Step[];
  left: Left[];
}

/**
 * From the newest change to the oldest, each is undone if the field is still as that change left it.
 * @param states what each field is now, by `keyOf`
 */
export function planOf(changes: readonly Change[], states: ReadonlyMap<string, State>): Plan {
  const plan: Plan = { steps: [], left: [] };
  for (const [key, ofField] of byField(changes)) {
    const state = states.get(key) ?? { reason: 'What it is now is not known.' };
    const leave = (change: Change, code: ErrorCode, reason: string) => plan.left.push(leftOf(change, code, reason));
    if ('reason' in state) {
      for (const change of ofField) leave(change, 'svc_not_undoable', state.reason);
      continue;
    }
    const undone: Change[] = [];
    let value = state.value;
    for (const change of ofField) {
      if (isSame(value, change.since)) {
        undone.push(change);
        value = change.before;
      } else if (isSame(value, change.before)) leave(change, 'svc_already_undone', 'It is as it was before.');
      else leave(change, 'svc_changed_since', `It was changed again since: it is ${shown(value)} now.`);
    }
    const [first] = undone;
    if (first === undefined) continue;
    if (isSame(value, state.value))
      for (const change of undone) leave(change, 'svc_already_undone', 'It is as it was before.');
    else plan.steps.push(stepOf(undone, state.value, value));
  }
  return plan;
}

function stepOf(undone: readonly Change[], now: unknown, back_to: unknown): Step {
  const { entry: _entry, before: _before, since: _since, ...first } = undone[0] as Change;
  const entries = undone.flatMap(({ entry }) => (entry === 0 ? [] : [entry]));
  const change_id = undone.at(-1)?.change_id ?? '';
  return { ...first, change_id, entries, now, back_to };
}

function leftOf({ site_id, kind, slug, name, entry, change_id }: Change, code: ErrorCode, reason: string): Left {
  return { site_id, kind, slug, name, entry, change_id, code, reason };
}

export function refused({ reason, ...refusal }: Refusal): Left {
  return { ...refusal, code: 'svc_not_undoable', reason };
}

/** A value in one short line. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return cut(text.replace(/\s+/g, ' '), MOST);
}

const MOST = 100;

/** Identifies what would be done: the same while nothing that the plan depends on changes. */
export function digestOf({ steps, left }: Plan): string {
  const done = steps.map(({ entries, change_id, site_id, kind, slug, field, now, back_to }) =>
    JSON.stringify([entries, change_id, site_id, kind, slug, field, now, back_to]),
  );
  const not = left.map(({ entry, change_id, site_id, code }) => JSON.stringify([entry, change_id, site_id, code]));
  return createHash('sha256')
    .update(JSON.stringify([done.sort(), not.sort()]))
    .digest('hex');
}
