/** Finds the changes to undo: those of a log entry, of a call, of a run or rollout of updates, or all since a time. */

import { siteWord } from '../../../schemas/site-text.js';
import type { UndoInput } from '../../../schemas/undo.js';
import { ServiceError } from '../../runtime/errors.js';
import type { ActionRow } from '../../store/action-log/action-log.js';
import type { ToldRunItem } from '../../store/updates/runs.js';
import { type Change, type Expanded, expand, type Target } from '../action-log/logged-changes.js';
import { pastTime } from '../common/past-time.js';
import type { Ctx } from '../context.js';
import { changeSentence } from '../sites/changes.js';
import { oneOrAll } from '../sites/resolve.js';
import { UPDATE_TYPES } from '../updates/results.js';
import { knownRollout } from '../updates/rollouts/read.js';
import { rollBackMember } from '../updates/runs/can-roll-back.js';
import { knownRun } from '../updates/runs/runs.js';

export type UndoChoice = Omit<UndoInput, 'digest' | 'page'>;

/** What is undone, as a job keeps it. */
export interface Selected {
  /** Entries of the action log. */
  entries: readonly number[];
  run_id?: string;
  rollout_id?: string;
  change_id?: string;
}

/** Entries of one call of this operation. */
const MOST_ENTRIES = 1_000;
/** Items of a run, or of all runs of a rollout. */
const MOST_ITEMS = 5_000;
const NARROW_SINCE = ['until', 'by', 'site_id_or_domain'] as const;
const BY_WHAT = ['change_id', 'run_id', 'rollout_id', 'since'] as const;

/**
 * Throws `svc_invalid_input`, `svc_action_not_found`, `svc_change_not_found`, `svc_run_not_found`, `svc_rollout_not_found`
 * and, of a rollout that goes on meanwhile, `svc_rest_conflict`.
 */
export async function select(ctx: Ctx, choice: UndoChoice): Promise<Selected> {
  const given = BY_WHAT.filter((name) => choice[name] !== undefined);
  if (given.length !== 1)
    throw wrong(
      given[1] ?? 'change_id',
      'exactly one of change_id, run_id, rollout_id and since is needed',
      'Send one.',
    );
  const { change_id, run_id, rollout_id, since, exclude_action_ids: excluded = [] } = choice;
  const narrowing = NARROW_SINCE.find((name) => choice[name] !== undefined);
  if (since === undefined && narrowing !== undefined)
    throw wrong(narrowing, `${narrowing} only narrows since`, 'Send since as well, or remove it.');
  if ((run_id ?? rollout_id) !== undefined && excluded.length > 0)
    throw wrong(
      'exclude_action_ids',
      'exclude_action_ids: a run or a rollout is undone as a whole',
      'Undo its updates one by one, by their change_id.',
    );
  if (since !== undefined) return { entries: without(await entriesSince(ctx, since, choice), excluded) };
  if (run_id !== undefined) return { entries: [], run_id: (await knownRun(ctx, run_id)).id };
  if (rollout_id !== undefined) return { entries: [], rollout_id: await idleRollout(ctx, rollout_id) };
  const text = String(change_id);
  if (/^\d{1,15}$/.test(text)) return { entries: without(await entriesOf(ctx, Number(text)), excluded) };
  if (text.includes('\0') || (await ctx.store.updateRuns.change(text)) === undefined)
    throw new ServiceError('svc_change_not_found', 'There is no update with this change_id.', {
      field: 'change_id',
      advice: 'Send an id from list-actions-v1 or search-changes-v1, or the change_id of an item from get-run-v1.',
    });
  return { entries: without([], excluded), change_id: text };
}

/** A slip must not undo what was meant to be left alone: each id has to be one of the entries. */
function without(entries: readonly number[], excluded: readonly number[]): number[] {
  const unknown = excluded.find((id) => !entries.includes(id));
  if (unknown !== undefined)
    throw wrong(
      'exclude_action_ids',
      `exclude_action_ids: ${unknown} is not one of the changes`,
      'Send action_ids from the preview.',
    );
  const left = new Set(excluded);
  return entries.filter((id) => !left.has(id));
}

/** What is undone must not be done again meanwhile. */
async function idleRollout(ctx: Ctx, text: string): Promise<string> {
  const { id, state } = await knownRollout(ctx, text);
  if (state === 'running')
    throw new ServiceError('svc_rest_conflict', 'The rollout is in progress. Nothing changed.', {
      field: 'rollout_id',
      advice: 'Pause or abort it first.',
    });
  if ((await ctx.store.updateRuns.told({ rollout_id: id }, undefined, MOST_ITEMS + 1)).length > MOST_ITEMS)
    throw wrong(
      'rollout_id',
      `rollout_id: it made more than ${MOST_ITEMS} updates`,
      'Undo its runs one by one, by run_id.',
    );
  return id;
}

async function entriesSince(
  ctx: Ctx,
  text: string,
  { until: end, by, site_id_or_domain }: UndoChoice,
): Promise<number[]> {
  const now = ctx.clock.now();
  const since = pastTime('since', text, now, 'one change');
  const until = end === undefined ? now : pastTime('until', end, now, 'all since then');
  if (until < since) throw wrong('until', 'until is before since', 'Send a later time, or omit it.');
  const [site_id] = (await oneOrAll(ctx, site_id_or_domain)) ?? [];
  const found = await ctx.store.actionLog.doneSince({ since, until, site_id, actor: by }, MOST_ENTRIES + 1);
  if (found.length > MOST_ENTRIES)
    throw wrong(
      'since',
      `since: more than ${MOST_ENTRIES} changes were made since then`,
      'Send a later time, or narrow it by until, by who or by site.',
    );
  return found;
}

/** The entry, or all that the call did that it tells of. */
async function entriesOf(ctx: Ctx, id: number): Promise<number[]> {
  const [row] = await ctx.store.actionLog.byIds([id]);
  if (row === undefined) throw await noEntry(ctx, id);
  if (row.context !== 'call') return [id];
  if (row.action !== 'called')
    throw wrong('change_id', 'change_id: this entry only says how a call ended', 'Send the id of its entry "called".');
  const found = await ctx.store.actionLog.doneByCall(row, MOST_ENTRIES + 1);
  if (found.length > MOST_ENTRIES)
    throw wrong('change_id', `change_id: this call made more than ${MOST_ENTRIES} changes`, 'Undo part of them.');
  return found;
}

/** The lists of changes also show what was done on the sites themselves, of which the log has nothing. */
async function noEntry(ctx: Ctx, id: number): Promise<ServiceError> {
  const change = await ctx.store.changes.find(id);
  if (change === undefined)
    return new ServiceError('svc_action_not_found', 'The log has no entry with this id.', {
      field: 'change_id',
      advice: 'Send an id from list-actions-v1 or search-changes-v1.',
    });
  const { context, action, old_value, new_value } = change;
  const isUpdate =
    /^(plugin|theme)s?$/.test(context) && /^updated?$/.test(action) && old_value !== '' && new_value !== '';
  const what = siteWord(changeSentence(change));
  return new ServiceError('svc_not_undoable', `It was made on the site itself: ${what}. Nothing changed.`, {
    field: 'change_id',
    advice: isUpdate
      ? `roll-back-v1 ${JSON.stringify({ change_id: id })} rolls it back, if there is a copy of the old version.`
      : 'What it was before is known only to the site.',
  });
}

/** The ids of the sites on which something is undone. Throws as `select`. */
export async function sitesOfUndo(ctx: Ctx, choice: UndoChoice): Promise<number[]> {
  const { changes } = await changesOf(ctx, await select(ctx, choice));
  return [...new Set(changes.flatMap(({ site_id }) => site_id ?? []))];
}

/** What is meant. */
export interface Meant extends Expanded {
  /** The suspensions of sites, and their ends, that followed those of their client: undone with it, so not among the changes. */
  following: Change[];
}

/** All that is meant, or what is on one site and of records. */
export async function changesOf(ctx: Ctx, selected: Selected, siteId?: number): Promise<Meant> {
  const { entries, run_id, rollout_id, change_id } = selected;
  const rows = entries.length === 0 ? [] : await ctx.store.actionLog.byIds(entries, siteId);
  const following = followingOf(rows);
  const expanded = withoutAnswered(rows.filter((row) => !following.has(row))).map(expand);
  const of = run_id === undefined ? rollout_id && { rollout_id } : { run_id };
  if (of) {
    const items = await ctx.store.updateRuns.told(of, siteId, MOST_ITEMS);
    expanded.push(...items.map((item) => ofRunItem(ctx, item)));
  }
  if (change_id !== undefined) {
    const item = await ctx.store.updateRuns.change(change_id);
    if (item !== undefined) expanded.push(ofRunItem(ctx, item));
  }
  const isMeant = ({ site_id }: Target) => siteId === undefined || site_id === siteId;
  return {
    changes: expanded.flatMap(({ changes }) => changes).filter(isMeant),
    refusals: expanded.flatMap(({ refusals }) => refusals).filter(isMeant),
    following: [...following].flatMap((row) => expand(row).changes),
  };
}

/** What one call did: a caller names its requests as it likes, two alike, or as another caller has named one. */
function followingOf(rows: readonly ActionRow[]): Set<ActionRow> {
  const callOf = ({ action, request_id, operation, actor_type, actor_id, actor }: ActionRow) =>
    JSON.stringify([action, request_id, operation, actor_type, actor_id, actor]);
  const clients = new Set(rows.filter(({ context }) => context === 'client').map(callOf));
  return new Set(
    rows.filter((row) => row.context === 'site' && /suspended$/.test(row.action) && clients.has(callOf(row))),
  );
}

/**
 * Among others, without what says nothing of its own: the turns of a rollout, whose updates are there, and roll-backs of
 * updates that are there.
 */
function withoutAnswered(rows: readonly ActionRow[]): ActionRow[] {
  if (rows.length === 1) return [...rows];
  const itemOf = ({ site_id, context, slug }: ActionRow) => JSON.stringify([site_id, context, slug]);
  const updated = new Set(rows.filter(({ action }) => action === 'updated').map(itemOf));
  return rows.filter((row) =>
    row.context === 'rollout'
      ? !/^(started|ended|halted|item-halted|wave-(started|ended))$/.test(row.action)
      : row.action !== 'rolled-back' || !updated.has(itemOf(row)),
  );
}

function ofRunItem(ctx: Ctx, item: ToldRunItem): Expanded {
  const { site_id, slug, name, change_id, old_version, new_version } = item;
  const about = { site_id, kind: UPDATE_TYPES[item.type] ?? ('site' as const), slug, name, entry: 0, change_id };
  const member = rollBackMember(item, ctx.clock.now());
  // One that was rolled back is found to be as it was before.
  if (!member.can_roll_back && item.state !== 'rolled_back')
    return { changes: [], refusals: [{ ...about, reason: member.cannot_roll_back_because }] };
  return { changes: [{ ...about, by: '', field: 'version', before: old_version, since: new_version }], refusals: [] };
}

function wrong(field: string, what: string, advice: string): ServiceError {
  return new ServiceError('svc_invalid_input', `${what}. Nothing changed.`, { field, advice });
}
