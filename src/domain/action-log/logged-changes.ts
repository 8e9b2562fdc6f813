/** What an entry of the action log changed, field by field, and what of it cannot be undone. Pure. */

import { groupBy } from '../../runtime/group-by.js';
import type { ActionRow } from '../../store/action-log/action-log.js';
import { GONE, NO_CHANGE, NO_IMAGE, NOT_DONE, reasonNotUndone, UNDONE } from './not-undone.js';

/** What was changed. `slug` is what identifies it: a slug or an id, of settings the group. */
export interface Target {
  /** Null: a record of this service. */
  site_id: number | null;
  /** That of its entry: `plugin`, `site`, `post`, `guidance` … */
  kind: string;
  slug: string;
  name: string;
}

/** One field that changed. Values are those of JSON. */
export interface Change extends Target {
  /** Of the action log; 0 = none. */
  entry: number;
  /** Of an update; '' = none. */
  change_id: string;
  /** Who made it; '' = not known here. */
  by: string;
  field: string;
  before: unknown;
  since: unknown;
  /** Sites whose suspension changed with that of their client. */
  sites?: readonly number[];
}

/** What cannot be undone, and why. */
export interface Refusal extends Target {
  entry: number;
  change_id: string;
  reason: string;
}

export interface Expanded {
  changes: Change[];
  refusals: Refusal[];
}

/** The two states of a site that an entry names without further fields. */
const STATES: Readonly<Record<string, readonly [field: string, before: boolean, since: boolean]>> = {
  suspended: ['suspended', false, true],
  unsuspended: ['suspended', true, false],
  disconnected: ['connected', true, false],
};

/** @param row an entry about what was done, not about a call */
export function expand(row: ActionRow): Expanded {
  const target = targetOf(row);
  const about = { entry: row.id, change_id: '' };
  const refuse = (reason: string): Expanded => ({ changes: [], refusals: [{ ...target, ...about, reason }] });
  if (row.code !== '') return refuse(NOT_DONE);
  const change = (field: string, before: unknown, since: unknown): Change => {
    return { ...target, ...about, by: row.actor, field, before, since };
  };
  if (row.fields !== '') {
    const expanded = expandFields(row, target, change);
    return expanded.changes.length + expanded.refusals.length > 0 ? expanded : refuse(NO_CHANGE);
  }
  const state = row.context === 'site' && row.site_id !== null ? STATES[row.action] : undefined;
  if (state !== undefined) return { changes: [change(...state)], refusals: [] };
  const { action, old_version, new_version } = row;
  const isItem = target.kind === 'plugin' || target.kind === 'theme';
  if (isItem && action === 'updated' && old_version !== '' && new_version !== '' && row.site_id !== null)
    return { changes: [change('version', old_version, new_version)], refusals: [] };
  return refuse(reasonNotUndone(row));
}

function targetOf({ site_id, context, slug, name, fields }: ActionRow): Target {
  // The context of a post is its type.
  const live = /^\{"(post|comment)_status"/.exec(fields)?.[1];
  const kind = site_id === null ? context : (live ?? context);
  return { site_id, kind, slug: kind === 'settings' ? name : slug, name };
}

function expandFields(
  row: ActionRow,
  target: Target,
  change: (field: string, before: unknown, since: unknown) => Change,
): Expanded {
  const fields = JSON.parse(row.fields) as Record<string, [unknown, unknown] | null>;
  const { sites, ...others } = fields;
  const changes: Change[] = [];
  const refusals: Refusal[] = [];
  for (const [field, values] of Object.entries(others)) {
    const made = change(field, ...(values ?? [null, null]));
    if (values === null) refusals.push({ ...target, entry: row.id, change_id: '', reason: `${field}: ${NO_IMAGE}` });
    else if (values[1] === 'deleted') refusals.push({ ...target, entry: row.id, change_id: '', reason: GONE });
    // A switch of a whole site is stored with it.
    else if (field.startsWith('ignore_')) changes.push({ ...made, kind: 'site', slug: '' });
    else if (field === 'suspended' && sites != null) changes.push({ ...made, sites: sites[0] as number[] });
    else if (field === 'theme') changes.push({ ...made, slug: '', name: '' });
    else if (field.startsWith('tag:') || target.kind === 'site') changes.push({ ...made, slug: '' });
    else changes.push(made);
  }
  if (sites != null && fields.suspended === undefined) changes.push(...ofSites(sites, target, change));
  return { changes, refusals };
}

/** Sites that lost or got a tag or a client along with a change of its record. */
function ofSites(
  [before, since]: [unknown, unknown],
  { kind, slug }: Target,
  change: (field: string, before: unknown, since: unknown) => Change,
): Change[] {
  const onSite = (site_id: number, field: string, was: unknown, is: unknown): Change => {
    return { ...change(field, was, is), site_id, kind: 'site', slug: '', name: '' };
  };
  if (kind === 'tag') return (before as number[]).map((id) => onSite(id, `tag:${slug}`, true, false));
  const now = new Map(since as [number, number | null][]);
  return (before as [number, number | null][]).map(([id, owner]) =>
    onSite(id, 'client_id', owner, now.get(id) ?? null),
  );
}

/**
 * Whether an entry can be undone by its kind and what is kept of it; null: that depends on what the call did.
 * @param undone ids of entries that are undone
 */
export function canUndo(
  row: ActionRow,
  undone: ReadonlySet<number>,
): { can_undo: boolean | null; cannot_undo_because?: string } {
  if (row.context === 'call') return { can_undo: null };
  if (undone.has(row.id)) return { can_undo: false, cannot_undo_because: UNDONE };
  const { changes, refusals } = expand(row);
  if (changes.length > 0) return { can_undo: true };
  return { can_undo: false, cannot_undo_because: refusals[0]?.reason ?? NO_CHANGE };
}

/** Identifies a field of an object. */
export function keyOf({ site_id, kind, slug, field }: Change): string {
  return JSON.stringify([site_id, kind, slug, field]);
}

/** By their entries. */
export function newestFirst(changes: readonly Change[]): Change[] {
  return [...changes].sort((a, b) => b.entry - a.entry);
}

/** Newest first, of one field of one object each. */
export function byField(changes: readonly Change[]): Map<string, Change[]> {
  return groupBy(newestFirst(changes), keyOf);
}
