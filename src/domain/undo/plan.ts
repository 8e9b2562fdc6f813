/** Plans an undo: what each field would be restored to, given its current value. Pure. */

import { createHash } from 'node:crypto';
import { cut } from '../../../schemas/text.js';
import type { ErrorCode } from '../../runtime/errors.js';
import { isSame } from '../action-log/fields.js';
import { type Change, keyOf, newestFirst, type Refusal, type Target } from '../action-log/logged-changes.js';

/** What a field is now, or why it cannot be restored. */
export type State = { value: unknown } | { reason: string };

/** A field that is restored. */
export interface Step extends Target {
  /** Entries of the action log that this undoes, newest first. */
  entries: number[];
  change_id: string;
  /** Who made what this undoes, as far as it is known. */
  by: string[];
  field: string;
  now: unknown;
  back_to: unknown;
  sites?: readonly number[];
}

/** What is left as it is. */
export interface Left extends Target {
  entry: number;
  change_id: string;
  /** Absent: of no single field. */
  field?: string;
  code: ErrorCode;
  reason: string;
}

export interface Plan {
  steps: Step[];
  left: Left[];
}

/** A field on the way back. */
interface Way {
  undone: Change[];
  /** What it is when the first of them is undone, and after the last. */
  start: unknown;
  end: unknown;
}

/**
 * From the newest change to the oldest, each is undone if its field is then as that change left it.
 * @param states what each field is now, by `keyOf`
 */
export function planOf(changes: readonly Change[], states: ReadonlyMap<string, State>): Plan {
  const plan: Plan = { steps: [], left: [] };
  const ways = new Map<string, Way>();
  const values = new Values(changes, states);
  const leave = (change: Change, code: ErrorCode, reason: string) => plan.left.push(leftOf(change, code, reason));
  for (const change of newestFirst(changes)) {
    const state = values.of(change);
    if ('reason' in state) leave(change, 'svc_not_undoable', state.reason);
    else if (isSame(state.value, change.since)) {
      const way = ways.get(keyOf(change)) ?? { undone: [], start: state.value, end: null };
      ways.set(keyOf(change), way);
      way.undone.push(change);
      way.end = change.before;
      values.put(change, change.before);
    } else if (isSame(state.value, change.before)) leave(change, 'svc_already_undone', AS_BEFORE);
    else leave(change, 'svc_changed_since', `It was changed again since: it is ${shown(state.value)} now.`);
  }
  for (const { undone, start, end } of ways.values())
    if (isSame(start, end) || isInTrash(undone[0] as Change, start, end) || values.isGoneAsBefore(undone[0] as Change))
      for (const change of undone) leave(change, 'svc_already_undone', AS_BEFORE);
    else plan.steps.push(stepOf(undone, start, end));
  return plan;
}

/** A post that did not exist before, and is in the trash. */
function isInTrash({ field }: Change, start: unknown, end: unknown): boolean {
  return field === 'post_status' && start === 'trash' && end === null;
}

const AS_BEFORE = 'It is as it was before.';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What fields are at each point of the way back. A tag or a client of which it is also undone that it was added or deleted
 * changes as a whole: its other fields with it, and it with them.
 */
class Values {
  readonly #states: Map<string, State>;
  readonly #records = new Map<string, { first: Fields | null; value: Fields | null }>();

  constructor(changes: readonly Change[], states: ReadonlyMap<string, State>) {
    this.#states = new Map(states);
    for (const change of changes) {
      const state = states.get(keyOf(change));
      if (change.field !== 'record' || state === undefined || 'reason' in state) continue;
      const value = state.value as Fields | null;
      this.#records.set(objectOf(change), { first: value, value });
    }
  }

  of(change: Change): State {
    const { kind, field } = change;
    const state = this.#states.get(keyOf(change)) ?? { reason: 'Its current state is unknown.' };
    const record = this.#records.get(objectOf(change));
    if (record === undefined) return state;
    if (field === 'record') return { value: record.value };
    if (record.value === null) return 'reason' in state ? state : { reason: `The ${kind} did not exist then.` };
    return field in record.value ? { value: asField(field, record.value[field]) } : state;
  }

  put(change: Change, value: unknown): void {
    const { field } = change;
    const record = this.#records.get(objectOf(change));
    if (record === undefined) this.#states.set(keyOf(change), { value });
    else if (field === 'record') record.value = value as Fields | null;
    else if (record.value !== null && field in record.value)
      record.value = { ...record.value, [field]: asInRecord(field, value) };
    else this.#states.set(keyOf(change), { value });
  }

  /** Of a field of a record that does not exist, nor did before. */
  isGoneAsBefore(change: Change): boolean {
    const record = this.#records.get(objectOf(change));
    return record !== undefined && record.first === null && record.value === null;
  }
}

function objectOf({ site_id, kind, slug }: Target): string {
  return JSON.stringify([site_id, kind, slug]);
}

/** The record has a number where its field is a yes or a no. */
function asField(field: string, value: unknown): unknown {
  return field === 'suspended' ? value === 1 : value;
}

function asInRecord(field: string, value: unknown): unknown {
  return field === 'suspended' ? Number(value) : value;
}

function stepOf(undone: readonly Change[], now: unknown, back_to: unknown): Step {
  const { entry: _entry, by: _by, before: _before, since: _since, ...first } = undone[0] as Change;
  const entries = undone.flatMap(({ entry }) => (entry === 0 ? [] : [entry]));
  const change_id = undone.at(-1)?.change_id ?? '';
  const by = [...new Set(undone.map((change) => change.by))].filter((name) => name !== '');
  return { ...first, change_id, by, entries, now, back_to };
}

function leftOf(change: Change, code: ErrorCode, reason: string): Left {
  const { site_id, kind, slug, name, entry, change_id, field } = change;
  return { site_id, kind, slug, name, entry, change_id, field, code, reason };
}

export function refused({ reason, ...refusal }: Refusal): Left {
  return { ...refusal, code: 'svc_not_undoable', reason };
}

/** What a person should know before it is done; undefined where it only restores a value. */
export function cautionOf({ kind, field, back_to }: Step): string | undefined {
  if (field === 'record') return back_to === null ? `Deletes the ${kind}.` : undefined;
  if (field === 'version') return 'Restores the files; what the newer version changed in the database stays.';
  if (field === 'connected' && back_to === true) return 'Connects the site again.';
  if (field === 'post_status' && back_to === null) return 'Moves the new post to the trash.';
  return /^(post|comment)_status$/.test(field) && /^(publish|approved?)$/.test(String(back_to))
    ? 'Visitors see it again.'
    : undefined;
}

/** A value in one short line. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return cut(text.replace(/\s+/g, ' '), MOST);
}

const MOST = 100;

/**
 * Identifies what would be done: the same while nothing that it depends on changes. What is left as it is is no part of it:
 * a request to approve the undo is in the log itself, and cannot be undone.
 */
export function digestOf({ steps }: Pick<Plan, 'steps'>): string {
  const done = steps.map(({ entries, change_id, site_id, kind, slug, field, now, back_to }) =>
    JSON.stringify([entries, change_id, site_id, kind, slug, field, now, back_to]),
  );
  return createHash('sha256').update(JSON.stringify(done.sort())).digest('hex');
}
