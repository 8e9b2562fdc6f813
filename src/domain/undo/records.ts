/** Undoes changes of records: tags, clients and settings. */

import { ServiceError } from '../../runtime/errors.js';
import { groupBy } from '../../runtime/group-by.js';
import type { BackupRule } from '../../store/backups/schedule.js';
import type { IgnoredUntil } from '../../store/updates/ignored-everywhere.js';
import { isSame } from '../action-log/fields.js';
import { type Change, keyOf } from '../action-log/logged-changes.js';
import { restoreRule, ruleAt, SCHEDULE } from '../backups/schedule.js';
import {
  type ClientInput,
  type ClientRecord,
  clientRecord,
  deleteClient,
  restoreClient,
  updateClient,
} from '../clients/clients.js';
import { suspendClient, unsuspendClient } from '../clients/suspension.js';
import type { Ctx } from '../context.js';
import { changeSettings } from '../policies/of-settings.js';
import { GROUPS, type Group, groupValues } from '../settings/effects.js';
import { ownerOf, type SettingsChange } from '../settings/settings.js';
import { deleteTag, restoreTag, type TagRecord, tagRecord, updateTag } from '../tags/tags.js';
import type { IgnorableType } from '../updates/ignored.js';
import { restoreIgnoredEverywhere } from '../updates/ignored-everywhere.js';
import { UPDATE_TYPES, type UpdateType } from '../updates/results.js';
import {
  type QuarantineState,
  quarantinedVersionOf,
  quarantineState,
  restoreQuarantine,
} from '../updates/safe/quarantine.js';
import { type StepResult, tryAll } from './on-site.js';
import type { State, Step } from './plan.js';
import { tagOf } from './site-states.js';

/**
 * What the fields of records are now.
 * @param ofSites the changes of sites that are undone along with them
 */
export async function recordStates(
  ctx: Ctx,
  changes: readonly Change[],
  ofSites: readonly Change[],
): Promise<Map<string, State>> {
  const states = new Map<string, State>();
  for (const change of changes)
    if (!states.has(keyOf(change))) states.set(keyOf(change), await stateOf(ctx, change, ofSites));
  return states;
}

async function stateOf(ctx: Ctx, change: Change, ofSites: readonly Change[]): Promise<State> {
  const { kind, slug, field } = change;
  const id = Number(slug);
  if (kind === 'settings') return settingState(ctx, slug, field);
  if (field === 'everywhere') return everywhereState(ctx, change);
  const version = quarantinedVersionOf(field);
  if (version !== null)
    return { value: await quarantineState(ctx, { type: UPDATE_TYPES.indexOf(kind as UpdateType), slug, version }) };
  const row =
    kind === 'tag' ? await ctx.store.tags.find(id) : kind === 'client' ? await ctx.store.clients.find({ id }) : null;
  if (row === null) return { reason: 'Changes of this kind are not undone by this operation.' };
  if (field !== 'record') {
    if (row === undefined) return { reason: `The ${kind} does not exist any more.` };
    const value = (row as Record<string, unknown>)[field];
    return { value: field === 'suspended' ? value === 1 : value };
  }
  if (row === undefined) return { value: null };
  const users = change.before === null ? await usersOf(ctx, change, ofSites) : 0;
  if (users > 0) return { reason: `It is now in use: ${users} ${users === 1 ? 'site has' : 'sites have'} it.` };
  return { value: kind === 'tag' ? tagRecord(row as TagRecord) : clientRecord(row as unknown as ClientRecord) };
}

async function everywhereState(ctx: Ctx, { kind, slug, before }: Change): Promise<State> {
  const now = ctx.clock.now();
  if ((before as IgnoredUntil[]).some(({ until }) => until !== null && until <= now))
    return { reason: 'It was ignored until a time that has passed.' };
  return { value: await ctx.store.ignoredEverywhere.of(UPDATE_TYPES.indexOf(kind as IgnorableType), slug) };
}

/** Sites that have the tag or the client, without those that lose it along with this. */
async function usersOf({ store }: Ctx, { kind, slug }: Change, ofSites: readonly Change[]): Promise<number> {
  const id = Number(slug);
  const sites =
    kind === 'tag' ? (await store.tags.links(id)).sites : (await store.clients.owners(id, [])).map((site) => site.id);
  const isLost = (change: Change) =>
    kind === 'tag'
      ? tagOf(change.field) === id && change.since === true
      : change.field === 'client_id' && change.since === id;
  const lost = new Set(ofSites.filter(isLost).map(({ site_id }) => site_id));
  return sites.filter((site) => !lost.has(site)).length;
}

async function settingState(ctx: Ctx, group: string, field: string): Promise<State> {
  if (group === SCHEDULE) return { value: await ruleAt(ctx, field) };
  if (!Object.hasOwn(GROUPS, group)) return { reason: 'These settings are not restored by this operation.' };
  const [name = '', owner] = splitOwner(field);
  const caller = await ownerOf(ctx);
  if (owner !== undefined && owner !== caller) return { reason: "It is another user's own setting." };
  return { value: ((await groupValues(ctx, group as Group, caller)) as Record<string, unknown>)[name] };
}

function splitOwner(field: string): [name: string, owner?: string] {
  const at = field.indexOf('@');
  return at < 0 ? [field] : [field.slice(0, at), field.slice(at + 1)];
}

/** Steps that sites may depend on. */
export async function undoRecords(ctx: Ctx, steps: readonly Step[]): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const step of steps.filter(({ field, back_to }) => field === 'record' && back_to !== null))
    results.push(...(await tryAll(ctx, [step], (own) => restore(own, step))));
  for (const group of together(steps.filter(({ field }) => field !== 'record' && field !== 'suspended')))
    results.push(...(await tryAll(ctx, group, (own) => restoreFields(own, group))));
  for (const step of steps.filter(({ field, back_to }) => field === 'suspended' && back_to !== true))
    results.push(...(await tryAll(ctx, [step], (own) => restoreSuspension(own, step))));
  return results;
}

/** What comes after the sites: clients are suspended with sites that are theirs again; records are removed that none uses. */
export async function undoRecordsLast(ctx: Ctx, steps: readonly Step[]): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const step of steps.filter(({ field, back_to }) => field === 'suspended' && back_to === true))
    results.push(...(await tryAll(ctx, [step], (own) => restoreSuspension(own, step))));
  for (const step of steps.filter(({ field, back_to }) => field === 'record' && back_to === null))
    results.push(...(await tryAll(ctx, [step], (own) => removeUnused(own, step))));
  return results;
}

/** The name of the record that a step restores, as `Restored` has it. */
export function recordName({ kind, slug }: Pick<Step, 'kind' | 'slug'>): string {
  return `${kind} ${slug}`;
}

function together(steps: readonly Step[]): Step[][] {
  return [...groupBy(steps, groupOf).values()];
}

/** Fields of a record are changed together; what concerns a plugin on every site, and rules of backups, one by one. */
function groupOf(step: Step): string {
  const isRecord = ['tag', 'client', 'settings'].includes(step.kind) && step.slug !== SCHEDULE;
  return isRecord ? recordName(step) : `${recordName(step)} ${step.field}`;
}

function restore(ctx: Ctx, { kind, slug, back_to }: Step): Promise<void> {
  const id = Number(slug);
  return kind === 'tag' ? restoreTag(ctx, id, back_to as TagRecord) : restoreClient(ctx, id, back_to as ClientRecord);
}

async function restoreFields(ctx: Ctx, steps: readonly Step[]): Promise<unknown> {
  const { kind, slug, name, field, back_to } = steps[0] as Step;
  if (field === 'everywhere')
    return restoreIgnoredEverywhere(ctx, { type: kind as IgnorableType, slug, name }, back_to as IgnoredUntil[]);
  const version = quarantinedVersionOf(field);
  if (version !== null)
    return restoreQuarantine(ctx, { type: kind as UpdateType, slug, version }, back_to as QuarantineState);
  const values = Object.fromEntries(steps.map(({ field, back_to }) => [splitOwner(field)[0], back_to]));
  if (kind === 'tag') return updateTag(ctx, Number(slug), values);
  if (kind === 'settings' && slug === SCHEDULE) return restoreRule(ctx, field, back_to as BackupRule | null);
  if (kind === 'settings') return changeSettings(ctx, slug as Group, values as SettingsChange<Group>);
  const { email, phone, ...texts } = values;
  const input = { ...texts, client_email: email, client_phone: phone } as ClientInput;
  return updateClient(ctx, Number(slug), input);
}

function restoreSuspension(ctx: Ctx, { slug, back_to, sites }: Step): Promise<unknown> {
  const mark = back_to === true ? suspendClient : unsuspendClient;
  return mark(ctx, Number(slug), sites ?? []);
}

async function removeUnused(ctx: Ctx, { kind, slug, now }: Step): Promise<unknown> {
  const id = Number(slug);
  const state = await stateOf(ctx, { kind, slug, field: 'record', before: null } as Change, []);
  if ('reason' in state || !isSame(state.value, now))
    throw new ServiceError('svc_changed_since', 'reason' in state ? state.reason : 'It was changed again since.');
  return kind === 'tag' ? deleteTag(ctx, id) : deleteClient(ctx, id);
}
