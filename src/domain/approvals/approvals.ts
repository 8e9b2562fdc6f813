/** Requests for approval: reading and deciding them. */

import { type ApprovalState, type ChangeKind, PLAN_OF_POLICY } from '../../../schemas/approval.js';
import { credentialOf } from '../../runtime/actor.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime, timestampOf } from '../../runtime/iso-time.js';
import type { ApprovalRow } from '../../store/approvals/approvals.js';
import { loggedStep } from '../action-log/step.js';
import type { Ctx } from '../context.js';
import { startRollout } from '../updates/rollouts/start.js';
import { isApprover, requireApprover } from './approvers.js';
import { storeDecision, useApproval } from './gate.js';

/** One page, newest first: all for those who may approve, their `own` for others. */
export async function listApprovals(ctx: Ctx, states: readonly ApprovalState[], page: number, perPage: number) {
  const { items, total, own } = await visible(ctx, states, page, perPage);
  return { items: items.map(approvalView), total, own };
}

/** Throws `svc_approval_not_found`, also for one that the caller may not see. */
export async function getApproval(ctx: Ctx, id: string) {
  const found = await ctx.store.approvals.find(id, ctx.clock.now());
  if (found === undefined || !(found.asker === credentialOf(ctx.actor) || (await isApprover(ctx)))) throw notFound(id);
  return detailed(ctx, found);
}

/** With what was asked for, and what it would do. */
export async function listDetailedApprovals(ctx: Ctx, states: readonly ApprovalState[], page: number, perPage: number) {
  const { items, total } = await visible(ctx, states, page, perPage);
  return { items: items.map((row) => detailed(ctx, row)), total };
}

async function visible(ctx: Ctx, states: readonly ApprovalState[], page: number, perPage: number) {
  const own = !(await isApprover(ctx));
  const asker = own ? credentialOf(ctx.actor) : undefined;
  return { ...(await ctx.store.approvals.list({ asker, states }, ctx.clock.now(), page, perPage)), own };
}

/**
 * Approves or refuses a request that waits. Throws `svc_rest_insufficient_permission` (the right; one's own request),
 * `svc_approval_not_found` and `svc_rest_conflict` (it was decided, or has expired).
 */
export async function decideApproval(ctx: Ctx, id: string, state: 'approved' | 'refused', note: string) {
  await requireApprover(ctx);
  const now = ctx.clock.now();
  const request = await ctx.store.approvals.find(id, now);
  if (request === undefined) throw notFound(id);
  if (request.asker === credentialOf(ctx.actor)) throw ownRequest();
  const done = await storeDecision(ctx, request, { state, by: ctx.actor.name, note });
  const after = (await ctx.store.approvals.find(id, now)) ?? request;
  if (!done) throw closed(after);
  if (state === 'refused' || request.operation !== PLAN_OF_POLICY) return detailed(ctx, after);
  await startApproved(ctx, after);
  return detailed(ctx, (await ctx.store.approvals.find(id, now)) ?? after);
}

/**
 * Withdraws a request of the caller's own, also one that was approved and not used. Throws `svc_approval_not_found`,
 * `svc_rest_insufficient_permission` (it is another's) and `svc_rest_conflict` (it is closed).
 */
export async function withdrawApproval(ctx: Ctx, id: string) {
  const now = ctx.clock.now();
  const { approvals } = ctx.store;
  const request = await approvals.find(id, now);
  const asker = credentialOf(ctx.actor);
  if (request === undefined || (request.asker !== asker && !(await isApprover(ctx)))) throw notFound(id);
  if (request.asker !== asker) throw notOwn();
  const facts = { approval_id: id, title: request.title };
  const done = await loggedStep(ctx, { name: 'approval.withdrawn', facts }, () =>
    approvals.withdrawOne(id, asker, now),
  );
  const after = (await approvals.find(id, now)) ?? request;
  if (!done) throw closed(after);
  return detailed(ctx, after);
}

/** How many requests wait: of all for those who may approve, their own for others. */
export async function waitingApprovals(ctx: Ctx): Promise<{ count: number; own: boolean }> {
  const own = !(await isApprover(ctx));
  const count = await ctx.store.approvals.waiting(own ? credentialOf(ctx.actor) : undefined, ctx.clock.now());
  return { count, own };
}

/** Plans of policies that wait for a person: who reads the list of policies sees them, though only people decide them. */
export function waitingOfPolicies(ctx: Ctx, most: number) {
  return ctx.store.approvals.waitingFor(PLAN_OF_POLICY, ctx.clock.now(), most);
}

/** Starts the plan of a policy that was approved. It starts once, also if it is tried again after a crash. */
export async function startApproved(ctx: Ctx, { id, title, input, plan_digest }: ApprovalRow): Promise<void> {
  const { policy_id, plan_id } = JSON.parse(input) as { policy_id: number; plan_id: string };
  await startRollout(ctx, { plan_id, digest: plan_digest });
  await ctx.store.policies.agree(policy_id, plan_id);
  await useApproval(ctx, { id, title, plan_digest });
}

function approvalView(row: ApprovalRow) {
  const { id, state, operation, title, kind, sites, asker_name, note, decided_by } = row;
  return {
    approval_id: id,
    state,
    operation,
    title,
    kind,
    sites,
    changes: JSON.parse(row.changes) as { kind: ChangeKind; sites: number | null }[],
    asked_by: asker_name,
    asked_at: timestampOf(row.asked_at),
    expires_at: timestampOf(row.expires_at),
    decided_by,
    decided_at: isoTime(row.decided_at),
    note: state === 'not_needed' ? startedByOthers(row) : note,
    used_at: isoTime(row.used_at),
  };
}

function startedByOthers({ started }: Pick<ApprovalRow, 'started'>): string {
  return `Somebody else has started the plan: ${started}.`;
}

function detailed(ctx: Ctx, row: ApprovalRow) {
  const { via, client, input, plan, asker } = row;
  const parsed = (text: string): unknown => JSON.parse(text);
  const own = asker === credentialOf(ctx.actor);
  return { ...approvalView(row), via, client, own, input: parsed(input), plan: parsed(plan) };
}

function notFound(id: string): ServiceError {
  return new ServiceError('svc_approval_not_found', `There is no request ${JSON.stringify(id)}.`, {
    field: 'approval_id',
    advice: 'Find it with list-approvals-v1.',
  });
}

function notOwn(): ServiceError {
  return new ServiceError('svc_rest_insufficient_permission', 'Only the caller that made a request can withdraw it.', {
    field: 'approval_id',
    advice: 'Refuse it instead.',
  });
}

function ownRequest(): ServiceError {
  return new ServiceError(
    'svc_rest_insufficient_permission',
    'Nobody can decide a request made with their own login or key.',
    {
      field: 'approval_id',
      advice: 'Let another person do it, or give programs an API key of their own instead of a password.',
    },
  );
}

function closed({ state, decided_by, expires_at, started }: ApprovalRow): ServiceError {
  const what =
    state === 'expired'
      ? `has expired at ${isoTime(expires_at)}`
      : state === 'not_needed'
        ? `is not needed any more. ${startedByOthers({ started }).slice(0, -1)}`
        : `is ${state} already${decided_by === null ? '' : `, by ${decided_by}`}`;
  return new ServiceError('svc_rest_conflict', `The request ${what}. Nothing changed.`, { field: 'approval_id' });
}
