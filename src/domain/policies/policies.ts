/** Policies: reading, making, changing and deleting them. */

import { isDeepStrictEqual } from 'node:util';
import { fold } from '../../../schemas/fold.js';
import type { policyEntry } from '../../../schemas/policy.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime, timestampOf } from '../../runtime/iso-time.js';
import type { PolicyRow, PolicyState } from '../../store/policies/policies.js';
import { requireApprover } from '../approvals/approvers.js';
import type { Ctx } from '../context.js';
import { dashboardZone, isScheduleOn } from '../settings/effects.js';
import { checkPlanInput } from '../updates/rollouts/plan.js';
import { chosenSites, withSiteIds } from './agreed.js';
import { askerOf, definitionOf, definitionWords, ownerNames, type PolicyInput, planOf } from './definition.js';
import { dueTimes } from './due.js';
import { SETTINGS_POLICY } from './of-settings.js';
import { onceMoreAt } from './once-more.js';

type Entry = z.input<ReturnType<typeof policyEntry>>;

/** One page: the policy of the settings, if there is one, then the others by name. */
export async function listPolicies(ctx: Ctx, page: number, perPage: number) {
  const { policies } = ctx.store;
  const rows = await policies.some((page - 1) * perPage, perPage);
  return { policies: await entriesOf(ctx, rows), total: await policies.count(), page, per_page: perPage };
}

/** Throws `svc_policy_not_found`. */
export async function knownPolicy(ctx: Ctx, id: number): Promise<PolicyRow> {
  const row = await ctx.store.policies.find(id);
  if (row === undefined)
    throw new ServiceError('svc_policy_not_found', `There is no policy with the id ${id}.`, {
      field: 'policy_id',
      advice: 'Find the id with list-policies-v1.',
    });
  return row;
}

/** One that is set here. Throws `svc_policy_not_found`, and `svc_rest_conflict` for that of the settings. */
async function ownPolicy(ctx: Ctx, id: number): Promise<PolicyRow> {
  const row = await knownPolicy(ctx, id);
  if (row.source === 'person') return row;
  throw new ServiceError('svc_rest_conflict', 'The general settings make this policy: change it there.', {
    field: 'policy_id',
    advice:
      'Change plugin_, theme_, trans_ and automatic_daily_update, trusted_plugins and trusted_themes, or the times of automatic updates there; with the four switches off there is no such policy.',
  });
}

/** With all it is set to. Throws `svc_policy_not_found`. */
export async function getPolicy(ctx: Ctx, id: number) {
  const row = await knownPolicy(ctx, id);
  const [entry] = await entriesOf(ctx, [row]);
  if (entry === undefined) throw new Error('one row is one entry');
  const { changed_by, changed_at, enabled } = row;
  return { ...definitionOf(row), ...entry, enabled: enabled === 1, changed_by, changed_at: timestampOf(changed_at) };
}

async function entriesOf(ctx: Ctx, rows: readonly PolicyRow[]): Promise<Entry[]> {
  const now = ctx.clock.now();
  const zone = await dashboardZone(ctx);
  const running = !ctx.config.read_only && (await isScheduleOn(ctx));
  const defined = rows.map((row) => ({ row, definition: definitionOf(row) }));
  const names = await ownerNames(
    ctx,
    defined.map(({ definition }) => definition),
  );
  return Promise.all(
    defined.map(async ({ row, definition }) => {
      const acts = row.enabled === 1 && running;
      return {
        ...{ policy_id: row.id, name: row.name, source: row.source, enabled: row.enabled === 1, acts },
        summary: definitionWords(definition, names),
        next_at: acts ? isoTime(await nextTime(ctx, row, dueTimes(definition.schedule, zone, now).next, zone)) : null,
        last: await lastOf(ctx, row),
      };
    }),
  );
}

/** @param regular the next time of its schedule */
async function nextTime(ctx: Ctx, row: PolicyRow, regular: number, zone: string): Promise<number> {
  const more = await onceMoreAt(ctx, row, zone);
  return more === null || more <= row.due_at ? regular : Math.min(regular, more);
}

async function lastOf(ctx: Ctx, { state, detail, due_at, plan_id, approval_id }: PolicyRow): Promise<Entry['last']> {
  if (state === '' || state === 'begun' || state === 'planned') return null;
  const planned = state === 'started' || state === 'asked';
  const rollout = planned && plan_id !== null ? await ctx.store.rollouts.ofPlan(plan_id) : undefined;
  return { at: timestampOf(due_at), state: state as PolicyState, detail, approval_id, rollout_id: rollout?.id ?? null };
}

/** Throws `svc_rest_insufficient_permission`, `svc_already_exists`, and what planning throws for its filters. */
export async function addPolicy(ctx: Ctx, input: PolicyInput) {
  await requireApprover(ctx);
  const wanted = await checked(ctx, input);
  const { words, ...write } = await writeOf(ctx, wanted);
  const id = await ctx.store.policies.add({ ...write, agreed_sites: await agreedSites(ctx, wanted) });
  if (id === undefined) throw nameTaken(input.name);
  const facts = { policy_id: id, policy_name: input.name, detail: words };
  ctx.events.emit({ name: 'policy.created', facts });
  return getPolicy(ctx, id);
}

/**
 * Changes the given members. A request of it that waits is withdrawn, unless only its name changes. Throws as `addPolicy` and
 * `ownPolicy`.
 */
export async function changePolicy(
  ctx: Ctx,
  id: number,
  change: { [K in keyof PolicyInput]?: PolicyInput[K] | undefined },
) {
  await requireApprover(ctx);
  const before = await ownPolicy(ctx, id);
  const old: PolicyInput = { name: before.name, enabled: before.enabled === 1, ...definitionOf(before) };
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const wanted = { ...old, ...given } as PolicyInput;
  // One that names what is gone can still be switched off.
  const after = Object.keys(given).some((name) => !PLAIN.has(name)) ? await checked(ctx, wanted) : wanted;
  const changed = (Object.keys(after) as (keyof PolicyInput)[]).filter(
    (name) => !isDeepStrictEqual(after[name], old[name]),
  );
  if (changed.length === 0) return getPolicy(ctx, id);
  const { words, ...written } = await writeOf(ctx, after);
  // A new name alone, or the switch, agrees to nothing.
  const agreed_sites = changed.some((name) => !PLAIN.has(name)) ? await agreedSites(ctx, after) : undefined;
  const write = { ...written, agreed_sites };
  const rescheduled = changed.includes('schedule') || changed.includes('enabled');
  if (!(await ctx.store.policies.change(id, write, rescheduled))) {
    await knownPolicy(ctx, id);
    throw nameTaken(after.name);
  }
  if (changed.some((name) => name !== 'name')) await ctx.store.approvals.withdraw(askerOf(id));
  ctx.events.emit({
    name: 'policy.changed',
    facts: { policy_id: id, policy_name: after.name, detail: `${changed.join(', ')}: ${words}` },
  });
  return getPolicy(ctx, id);
}

/** What it started goes on. Throws `svc_rest_insufficient_permission`, and as `ownPolicy`. */
export async function deletePolicy(ctx: Ctx, id: number) {
  await requireApprover(ctx);
  const { name } = await ownPolicy(ctx, id);
  if (await ctx.store.policies.remove(id)) {
    await ctx.store.approvals.withdraw(askerOf(id));
    ctx.events.emit({ name: 'policy.deleted', facts: { policy_id: id, policy_name: name, detail: '' } });
  }
  return { policy_id: id, name };
}

/** Members that define nothing of what it does. */
const PLAIN: ReadonlySet<string> = new Set(['name', 'enabled']);

/** What the person who sets it agrees to; undefined if it would ask. */
async function agreedSites(ctx: Ctx, definition: PolicyInput): Promise<string | undefined> {
  return definition.approval === 'auto' ? JSON.stringify(await chosenSites(ctx, definition)) : undefined;
}

/** As it is stored. Throws for what names nothing, and for what contradicts itself. */
async function checked(ctx: Ctx, input: PolicyInput): Promise<PolicyInput> {
  await checkPlanInput(ctx, planOf(input));
  return withSiteIds(ctx, input);
}

async function writeOf(ctx: Ctx, { name, enabled, ...definition }: PolicyInput) {
  if (fold(name) === fold(SETTINGS_POLICY)) throw nameTaken(name, 'Only the general settings make a policy named');
  return {
    ...{ name, name_key: fold(name), enabled: Number(enabled), definition: JSON.stringify(definition) },
    ...{ changed_by: ctx.actor.name, changed_at: ctx.clock.now() },
    words: definitionWords(definition, await ownerNames(ctx, [definition])),
  };
}

function nameTaken(name: string, why = 'There is a policy named'): ServiceError {
  return new ServiceError('svc_already_exists', `${why} ${JSON.stringify(name)}.`, { field: 'name' });
}
