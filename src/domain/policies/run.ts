/**
 * Runs policies that are due: makes the plan, and starts it or asks a person. The due time is stored first, then
 * its plan, which has at most one rollout: another process can continue after any crash, and nothing is done twice.
 */

import { PLAN_OF_POLICY } from '../../../schemas/approval.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { PolicyPlan, PolicyRow, PolicyState } from '../../store/policies/policies.js';
import { loggedStep } from '../action-log/step.js';
import { startApproved } from '../approvals/approvals.js';
import { addRequest, newApprovalId } from '../approvals/gate.js';
import { shownPlan } from '../approvals/shown-plan.js';
import { counted } from '../common/question.js';
import { type Ctx, originOf } from '../context.js';
import { dashboardZone } from '../settings/effects.js';
import { NoFirstSite, type PlanInput, planUpdatesOf } from '../updates/rollouts/plan.js';
import { previewUpdates, startRollout } from '../updates/rollouts/start.js';
import { forgetLeft, sitesToAsk } from './agreed.js';
import { askerOf, definitionOf, planOf } from './definition.js';
import { dueTimes, isDueAt, sameDay } from './due.js';
import { onceMoreAt } from './once-more.js';

/** So late a time is no missed one, although a day has ended. */
const LATE_MS = 3_600_000;

/** So long at most a time waits for the day to end that one site can keep a version from the others. */
const POSTPONED_MS = 6 * 3_600_000;

/** Runs every policy that is due. */
export async function runPolicies(ctx: Ctx): Promise<string> {
  if (ctx.config.read_only) return 'read only';
  const { policies } = ctx.store;
  await forgetLeft(ctx);
  const enabled = await policies.enabled();
  if (enabled.length === 0) return 'none';
  await policies.settle(ctx.clock.now());
  const zone = await dashboardZone(ctx);
  let ran = 0;
  for (const { id } of enabled) {
    if (ctx.signal.aborted) break;
    try {
      const policy = await policies.find(id);
      if (policy !== undefined && (await turnOf(inName(ctx, policy), policy, zone))) ran++;
    } catch (error) {
      ctx.signal.throwIfAborted();
      ctx.log.error({ err: error, policy: id }, 'a policy could not be run and will be tried again');
    }
  }
  return `${ran} ran`;
}

/** What a policy does is done in its own name. */
function inName(ctx: Ctx, { name }: PolicyRow): Ctx {
  const own = { ...ctx, actor: { ...ctx.actor, name: `policy ${name}` } };
  return { ...own, events: ctx.events.from(originOf(own)) };
}

async function turnOf(ctx: Ctx, policy: PolicyRow, zone: string): Promise<boolean> {
  const now = ctx.clock.now();
  const isMissed = (due: number) => !sameDay(due, now, zone) && now - due > LATE_MS;
  if (policy.state === 'begun' || policy.state === 'planned') return work(ctx, policy, isMissed(policy.due_at));
  await finishApproved(ctx, policy);
  const regular = dueTimes(definitionOf(policy).schedule, zone, now).last;
  const more = (await onceMoreAt(ctx, policy, zone)) ?? Number.POSITIVE_INFINITY;
  // The next time of a daily policy comes shortly before what one site kept is free again.
  if (more > now && more - regular <= POSTPONED_MS) return false;
  const due = more <= now ? Math.max(more, regular) : regular;
  if (due <= policy.due_at || !(await ctx.store.policies.claim(policy, due))) return false;
  return work(ctx, { ...policy, due_at: due, state: 'begun', approval_id: null }, isMissed(due));
}

/** A process died between the approval and the start. */
async function finishApproved(ctx: Ctx, { approval_id }: PolicyRow): Promise<void> {
  if (approval_id === null) return;
  const request = await ctx.store.approvals.find(approval_id, ctx.clock.now());
  if (request?.state === 'approved') await startApproved(ctx, request);
}

async function work(ctx: Ctx, policy: PolicyRow, missed: boolean): Promise<boolean> {
  try {
    const plan = policy.state === 'planned' ? planned(policy) : await makePlan(ctx, policy, missed);
    return plan === null || (await carryOut(ctx, policy, plan, missed));
  } catch (error) {
    // What is wrong with its filters is told; what the service could not do is tried again.
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return end(ctx, policy, { state: 'failed', detail: error.message });
  }
}

/** Bound to the time that was taken up. */
interface Plan extends PolicyPlan {
  /** The request for the sites that are not in it; null = there are none. */
  apart: string | null;
}

function planned({ plan_id, digest, approval_id }: PolicyRow): Plan {
  if (plan_id === null || digest === null) throw new Error('a policy that has planned has a plan');
  return { plan_id, digest, apart: approval_id };
}

/** Null: nothing is to be started, or another process does it. */
async function makePlan(ctx: Ctx, policy: PolicyRow, missed: boolean): Promise<Plan | null> {
  const due = isoTime(policy.due_at);
  if (missed)
    await end(ctx, policy, { state: 'missed', detail: `The service was not running on that day: ${due} was missed.` });
  if (missed) return null;
  const before = await ctx.store.policies.openRollout(policy, askerOf(policy.id));
  if (before !== undefined) {
    await end(ctx, policy, { state: 'skipped', detail: `Its rollout ${before} has not ended yet.` });
    return null;
  }
  const definition = definitionOf(policy);
  const { input, whole } = await wholePlan(ctx, planOf(definition));
  if (definition.approval === 'ask') return bind(ctx, policy, whole, null);
  const planned = await sitesOf(ctx, whole);
  const joined = await sitesToAsk(ctx, policy, [...planned]);
  if (joined.length === 0) return bind(ctx, policy, whole, null);
  for (const id of joined) planned.delete(id);
  const agreed = await agreedPlan(ctx, input, planned);
  const asked = agreed === null ? whole : await joinedPlan(ctx, input, joined);
  const on = agreed === null ? '' : ` on ${counted(joined.length, 'site')} that joined it`;
  const request = await ask(ctx, policy, asked, on);
  if (agreed !== null) return bind(ctx, policy, agreed, request.id);
  const detail = `${request.summary} No person has agreed to all of its sites so far. ${waits(request.id)}`;
  await end(ctx, policy, { state: 'asked', detail, approval_id: request.id, plan: asked });
  return null;
}

type Made = Awaited<ReturnType<typeof planUpdatesOf>>;

/** The plan for all sites, and the input that it was made of. */
async function wholePlan(ctx: Ctx, input: PlanInput): Promise<{ input: PlanInput; whole: Made }> {
  try {
    return { input, whole: await planUpdatesOf(ctx, input, 1, 1) };
  } catch (error) {
    // Those that were to be the first have had theirs, and a site after them kept it from the others.
    if (!(error instanceof NoFirstSite)) throw error;
    const any = withAnyFirst(input);
    return { input: any, whole: await planUpdatesOf(ctx, any, 1, 1) };
  }
}

/** On sites that a person has agreed to; null if there is none, or if only others may be the first. */
async function agreedPlan(ctx: Ctx, input: PlanInput, agreed: ReadonlySet<number>): Promise<Made | null> {
  if (agreed.size === 0) return null;
  try {
    const plan = await planUpdatesOf(ctx, { ...input, agreed }, 1, 1);
    return plan.updates === 0 ? null : plan;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'svc_invalid_input') return null;
    throw error;
  }
}

/** Any sites may be the first. */
function withAnyFirst({ waves, ...input }: PlanInput): PlanInput {
  return { ...input, waves: { ...waves, canary_tag_ids: [], canary_sites: [], canary_choice: undefined } };
}

async function joinedPlan(ctx: Ctx, input: PlanInput, joined: readonly number[]): Promise<Made> {
  // None of the sites that are named as the first is among them, or need be.
  const plan = await planUpdatesOf(ctx, { ...withAnyFirst(input), site_ids_or_domains: [...joined] }, 1, 1);
  if (plan.updates === 0) throw new Error('the updates of the sites that joined are gone');
  return plan;
}

const waits = (id: string) => `Request ${id} is waiting for a person.`;

async function sitesOf(ctx: Ctx, { plan_id }: PolicyPlan): Promise<Set<number>> {
  return new Set((await ctx.store.rolloutPlans.items(plan_id)).map(({ site_id }) => site_id));
}

async function bind(
  ctx: Ctx,
  policy: PolicyRow,
  { plan_id, digest, updates, summary }: Made,
  apart: string | null,
): Promise<Plan | null> {
  if (updates === 0) {
    await end(ctx, policy, { state: 'nothing', detail: summary });
    return null;
  }
  return (await ctx.store.policies.planned(policy, { plan_id, digest }, apart)) ? { plan_id, digest, apart } : null;
}

async function carryOut(ctx: Ctx, policy: PolicyRow, { apart, ...plan }: Plan, missed: boolean): Promise<boolean> {
  const interrupted = { state: 'missed', detail: `It was interrupted at ${isoTime(policy.due_at)}.` } as const;
  const begun = (await ctx.store.rollouts.ofPlan(plan.plan_id)) !== undefined;
  // It was changed after it had planned: it plans again.
  if (!begun && !(await ctx.store.policies.mayBegin(policy, plan))) return false;
  if (definitionOf(policy).approval === 'ask') {
    if (missed) return end(ctx, policy, interrupted);
    const { id, summary } = await ask(ctx, policy, plan);
    return end(ctx, policy, { state: 'asked', detail: `${summary} ${waits(id)}`, approval_id: id });
  }
  if (missed && !begun) return end(ctx, policy, interrupted);
  const { rollout_id, summary } = await startRollout(ctx, plan);
  const others =
    apart === null ? '' : ` Request ${apart}, for sites that joined since a person set the policy, is waiting for one.`;
  const detail = `${summary} Rollout ${rollout_id}.${others}`;
  return end(ctx, policy, { state: 'started', detail, approval_id: apart ?? undefined });
}

const AGREED = 'Approved, the policy acts on these sites without being asked from then on.';

/** Leaves a request that lapses with the plan. Asked again after a crash, it is the same one. */
async function ask(ctx: Ctx, policy: PolicyRow, { plan_id, digest }: PolicyPlan, on = '') {
  const { approvals, rolloutPlans } = ctx.store;
  const now = ctx.clock.now();
  const plan = {
    ...(await previewUpdates(ctx, { plan_id, digest })),
    ...(definitionOf(policy).approval === 'auto' && { from_then_on: AGREED }),
  };
  const call = { asker: askerOf(policy.id), operation: PLAN_OF_POLICY, input_digest: plan_id };
  const made = await approvals.latest(call, now);
  if (made !== undefined && made.state !== 'replaced') return { id: made.id, summary: plan.summary };
  // The plan of the time before is out of date.
  await approvals.withdraw(call.asker, plan_id);
  const id = newApprovalId();
  const asked = {
    ...call,
    asker_name: ctx.actor.name,
    ...{ via: 'jobs', client: '', title: `Updates of the policy ${policy.name}${on}`, kind: 'rollouts' as const },
    sites: plan.sites,
    changes: JSON.stringify([{ kind: 'rollouts', sites: plan.sites }]),
    plan_digest: digest,
    input: JSON.stringify({ policy_id: policy.id, plan_id, digest }),
    plan: shownPlan({ sites: null }, plan),
    asked_at: now,
    expires_at: (await rolloutPlans.find(plan_id))?.expires_at ?? now,
  };
  await addRequest(ctx, id, asked, undefined);
  return { id: (await approvals.latest(call, now))?.id ?? id, summary: plan.summary };
}

const EVENTS = {
  started: 'policy.ran',
  nothing: 'policy.ran',
  asked: 'policy.asked',
  failed: 'policy.skipped',
  skipped: 'policy.skipped',
  missed: 'policy.skipped',
} as const satisfies Record<PolicyState, string>;

const ONCE_MORE = ' Once more, as a single site had kept the updates from the others.';

type Told = Parameters<Ctx['store']['policies']['finish']>[1];

async function end(ctx: Ctx, policy: PolicyRow, told: Told): Promise<true> {
  const again = isDueAt(definitionOf(policy).schedule, await dashboardZone(ctx), policy.due_at) ? '' : ONCE_MORE;
  const detail = `${told.detail}${again}`;
  const facts = { policy_id: policy.id, policy_name: policy.name, detail };
  await loggedStep(ctx, { name: EVENTS[told.state], facts }, () =>
    ctx.store.policies.finish(policy, { ...told, detail }),
  );
  return true;
}
