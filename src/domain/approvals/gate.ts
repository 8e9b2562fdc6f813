/**
 * Lets a change happen, makes it wait for a person, or refuses it. An approval is for one call: of the credential that
 * asked, with this input, while it would do what was shown; it is used up before the work begins.
 */

import { createHash, randomBytes } from 'node:crypto';
import type { ChangeKind, Mode } from '../../../schemas/approval.js';
import { cleanLine } from '../../../schemas/text.js';
import { credentialOf, isPerson } from '../../runtime/actor.js';
import { canonicalJson } from '../../runtime/canonical-json.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Alert } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { ApprovalRow } from '../../store/approvals/approvals.js';
import { wholeInput } from '../action-log/call-input.js';
import { recordedCall } from '../action-log/recorded-call.js';
import { loggedStep, storedStep } from '../action-log/step.js';
import type { AskedChange, Ctx } from '../context.js';
import { isApprover } from './approvers.js';
import { extentOf, namedSites } from './extent.js';
import { approvalRules, changesOf, judgementOf, strictestFirst } from './rules.js';
import { shownNames, shownPlan } from './shown-plan.js';

/** How long a request waits, and how long an approval holds. */
export const LASTS_MS = 24 * 3600_000;
const KEPT_MS = 180 * 24 * 3600_000;
const MOST_WAITING = 100;
/** Requests of one caller within `LASTS_MS` that no person has decided, withdrawn ones too: each alerts people and is stored. */
const MOST_UNDECIDED = 200;

/** See `Ctx.change`. */
export async function approvedChange<T>(ctx: Ctx, call: AskedChange, work: () => Promise<T>): Promise<T> {
  const request = await needed(ctx, call);
  const same = request !== null && request.latest?.plan_digest === request.asked.plan_digest;
  const approved = same && request.latest?.state === 'approved';
  if (ctx.answer === 'ask' && (request?.asked.in_assistant !== true || approved)) throw notHere();
  if (request === null) return recordedCall(ctx, call.input, work);
  const { asked } = request;
  const latest = same && asked.in_assistant ? await answered(ctx, request.latest) : request.latest;
  if (latest?.state === 'approved' && same) return withApproval(ctx, call, latest, work);
  if (latest?.state === 'refused' && ctx.clock.now() < latest.expires_at) throw refused(latest);
  if (latest?.state === 'waiting' && same)
    throw required(ctx, { ...request, asked: { ...asked, expires_at: latest.expires_at } }, latest.id, STILL);
  return recordedCall(ctx, call.input, () => ask(ctx, { ...request, latest }));
}

const STILL = 'It is still waiting for a person.';

/** The request, decided by what its caller's program says that a person answered to exactly this one. */
async function answered(ctx: Ctx, request: ApprovalRow | undefined): Promise<ApprovalRow | undefined> {
  const { answer, client } = ctx;
  if (answer === undefined || answer === 'ask' || request?.state !== 'waiting' || request.id !== answer.approval_id)
    return request;
  const by = `a person through ${cleanLine(client, 100) || 'a program without a name'}`;
  const decision = answer.approved
    ? { state: 'approved' as const, by, note: UNPROVEN }
    : { state: 'refused' as const, by, note: '' };
  await storeDecision(ctx, request, decision);
  return ctx.store.approvals.find(request.id, ctx.clock.now());
}

const UNPROVEN = 'Answered in the assistant. Its program says that a person did so; this cannot be checked.';

/** Decides a request. False if it does not wait any more. */
export function storeDecision(
  ctx: Ctx,
  { id, title, expires_at }: Pick<ApprovalRow, 'id' | 'title' | 'expires_at'>,
  { state, by, note }: { state: 'approved' | 'refused'; by: string; note: string },
): Promise<boolean> {
  const now = ctx.clock.now();
  const facts = { approval_id: id, title, decided_by: by };
  const until = state === 'approved' ? now + LASTS_MS : expires_at;
  return loggedStep(ctx, { name: `approval.${state}`, facts }, () =>
    ctx.store.approvals.decide(id, { state, by, note, now, expires_at: until }),
  );
}

/** Uses up the approval and does the work. When the same call was faster, this one asks again. */
async function withApproval<T>(
  ctx: Ctx,
  call: AskedChange,
  { id, title, plan_digest }: ApprovalRow,
  work: () => Promise<T>,
): Promise<T> {
  const taken = new ServiceError('svc_rest_conflict', 'The approval was used by the same call.');
  try {
    return await recordedCall(ctx, call.input, async () => {
      if (!(await useApproval(ctx, { id, title, plan_digest }))) throw taken;
      if (ctx.call !== undefined) ctx.call.approved = true;
      return work();
    });
  } catch (error) {
    if (error === taken) return approvedChange(ctx, call, work);
    throw error;
  }
}

/** Uses up an approval. False if it does not hold any more, or another call was faster. */
export function useApproval(
  ctx: Ctx,
  { id, title, plan_digest }: Pick<ApprovalRow, 'id' | 'title' | 'plan_digest'>,
): Promise<boolean> {
  return loggedStep(ctx, { name: 'approval.used', facts: { approval_id: id, title } }, () =>
    ctx.store.approvals.use(id, plan_digest, ctx.clock.now()),
  );
}

type Stored = Omit<Parameters<Ctx['store']['approvals']['add']>[0], 'id'>;

type Asked = Stored & {
  /** The program that calls may put it to a person. */
  in_assistant: boolean;
  /** As in `RequestToAnswer`. */
  named: RequestToAnswer['named'];
};

interface Needed {
  asked: Asked;
  /** Why, in words; '' = for every such change. */
  because: string;
  latest: ApprovalRow | undefined;
}

/** The request that the call would make, why, and the newest one of the same call; null if the call needs none. */
async function needed(ctx: Ctx, call: AskedChange): Promise<Needed | null> {
  const { change, input, title } = call;
  const { actor } = ctx;
  // A preview changes nothing; jobs and the timetable do what was let happen before.
  if (change === 'approvals' || actor.type === 'system' || actor.via === 'jobs') return null;
  if ((input as { dry_run?: unknown } | null)?.dry_run === true) return null;
  const rules = await approvalRules(ctx);
  if (rules.preset === 'open' || (isPerson(actor) && (await isApprover(ctx)))) return null;
  const changes = changesOf(change, input).filter(({ kind }) => isRuled(rules.rules[kind]));
  if (changes.length === 0) return null;
  const named = await namedSites(ctx, input);
  // A plan may have to ask the sites: it is made only where it counts them, or is to be shown.
  const counting = named.sites === null ? await call.plan() : undefined;
  if (isDone(counting)) return null;
  const judged = strictestFirst(
    await Promise.all(
      changes.map(async (one) => {
        const extent = extentOf(ctx, one, { ...named, covers: call.covers, plan: counting });
        const judgement = await judgementOf(rules, one.kind, extent, actor.via);
        return { kind: one.kind, sites: extent.sites, ...judgement };
      }),
    ),
  );
  const [worst] = judged;
  if (worst === undefined || worst.mode === 'auto') return null;
  if (worst.mode === 'never') throw never(worst);
  const plan = counting ?? (await call.plan());
  const asker = credentialOf(actor);
  const of = { asker, operation: ctx.operation, input_digest: digestOf(input) };
  const now = ctx.clock.now();
  return {
    asked: {
      ...of,
      asker_name: actor.name,
      via: actor.via,
      client: ctx.client,
      title,
      kind: worst.kind,
      sites: worst.sites,
      changes: JSON.stringify(judged.flatMap(({ kind, sites, mode }) => (mode === 'auto' ? [] : [{ kind, sites }]))),
      plan_digest: digestOf(steady([named.sites?.map(({ id }) => id).sort((a, b) => a - b), plan])),
      input: wholeInput(input, ctx.operation),
      plan: shownPlan(named, plan),
      asked_at: now,
      expires_at: now + LASTS_MS,
      in_assistant: rules.in_assistants && actor.via === 'mcp',
      named: shownNames(named, plan),
    },
    because: worst.because,
    latest: await ctx.store.approvals.latest(of, now),
  };
}

/** See `Ctx.foretell`. */
export async function foretold(ctx: Ctx, call: AskedChange): Promise<string | null> {
  try {
    const found = await needed(ctx, call);
    return found === null ? null : foretoldOf(ctx, found);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'svc_change_not_allowed')
      return `It would be refused: ${error.message.replace(' Nothing changed.', '')} ${error.advice}`;
    throw error;
  }
}

function foretoldOf(ctx: Ctx, { asked, because, latest }: Needed): string | null {
  const same = latest?.plan_digest === asked.plan_digest ? latest : undefined;
  if (same?.state === 'approved') return null;
  if (same?.state === 'waiting') return `Request ${same.id}, for exactly this, is already waiting for a person.`;
  if (latest?.state === 'refused' && ctx.clock.now() < latest.expires_at) return refused(latest).message;
  const { kind, sites } = asked;
  const on = sites === null || sites === 0 ? '' : ` on ${sites} ${sites === 1 ? 'site' : 'sites'}`;
  return `A person has to approve this${on}, under ${ruleWords({ kind, because })}: the call makes a request and changes nothing; once that is approved, the call runs when it is repeated.`;
}

interface Rule {
  kind: ChangeKind;
  /** Why, in words; '' = for every such change. */
  because: string;
}

/** Which rule says so, and why it applies here: each kind of change has its own. */
function ruleWords({ kind, because }: Rule): string {
  return `the rule for ${kind.replaceAll('_', ' ')} (${because || 'every such change'})`;
}

/** By its plan, the call only gives the answer of an earlier one again: nothing is left for a person to decide. */
const isDone = (plan: unknown) => (plan as { already_started?: unknown } | undefined)?.already_started === true;

const isRuled = (rule: Readonly<Record<string, Mode>>) => Object.values(rule).some((mode) => mode !== 'auto');

async function ask(ctx: Ctx, request: Needed): Promise<never> {
  const { approvals } = ctx.store;
  const { asked: whole, latest } = request;
  const { in_assistant: _, named: _sites, ...asked } = whole;
  if ((await approvals.waiting(asked.asker, asked.asked_at)) >= MOST_WAITING) throw tooMany();
  if ((await approvals.undecided(asked.asker, asked.asked_at - LASTS_MS)) >= MOST_UNDECIDED) throw tooOften();
  const id = newApprovalId();
  const open =
    latest !== undefined && ['waiting', 'approved', 'expired', 'not_needed'].includes(latest.state)
      ? latest
      : undefined;
  if (!(await addRequest(ctx, id, asked, open))) {
    const other = await approvals.latest(asked, asked.asked_at);
    throw required(ctx, request, other?.id ?? id, 'It is waiting for a person.');
  }
  await approvals.prune(asked.asked_at - KEPT_MS);
  throw required(ctx, request, id, whyAsked(latest));
}

export const newApprovalId = () => `apr_${randomBytes(12).toString('hex')}`;

/** Stores a request, and tells people that it waits. False if another one was stored at the same time. */
export async function addRequest(
  ctx: Ctx,
  id: string,
  asked: Stored,
  ends: Pick<ApprovalRow, 'id' | 'state'> | undefined,
): Promise<boolean> {
  const { approvals, alerts } = ctx.store;
  const { title, kind, sites, asker_name, asked_at } = asked;
  const facts = { approval_id: id, title, kind, sites, by: asker_name, url: pageUrl(ctx) };
  const event = { name: 'approval.asked' as const, facts };
  if (!(await storedStep(ctx, event, () => approvals.add({ id, ...asked }, ends)))) return false;
  const alert: Alert<'approval.asked'> = { key: id, kind: event.name, site_id: null, at: asked_at, facts };
  if ((await alerts.add([alert])).length > 0) ctx.events.emit({ ...event, logged: true });
  return true;
}

function whyAsked(latest: ApprovalRow | undefined): string {
  switch (latest?.state) {
    case 'expired':
      return `Request ${latest.id} for it has expired, so it was asked for again.`;
    case 'waiting':
    case 'approved':
      return `What it would do has changed since request ${latest.id}, so it was asked for again.`;
    case 'used':
      return `The approval of request ${latest.id} was used for an earlier call.`;
    default:
      return 'It is now waiting for a person.';
  }
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** Members of plans that come and go, and on which nothing depends that is done. */
const PASSING = /^(sites_down|left_alone_if_still_down|status_reason|last_sync|checked_at|.*_age|age_.*)$/;

function steady(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(steady);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (PASSING.test(name) ? [] : [[name, steady(member)]])),
  );
}

/** Where people approve. */
function pageUrl({ base_url }: Ctx): string {
  return `${base_url}/approvals`;
}

function required(ctx: Ctx, { asked, because }: Needed, id: string, state: string): ServiceError {
  const { kind, sites, title, input, plan, expires_at, in_assistant, named } = asked;
  return new ServiceError(
    'svc_approval_required',
    `This change needs the approval of a person, under ${ruleWords({ kind, because })}. ${state} Nothing changed.`,
    {
      advice: `Tell the user: request ${id} is waiting at ${pageUrl(ctx)} for somebody with the right to approve, or for "sitefleet approvals approve ${id}". Once it is approved, repeat this call unchanged: it runs once.`,
      data: {
        approval_id: id,
        approve_at: pageUrl(ctx),
        expires_at: isoTime(expires_at),
        kind,
        sites,
        rule: ruleWords({ kind, because }),
        plan: JSON.parse(plan) as unknown,
        ...(in_assistant ? { in_assistant: { title, input, named } satisfies RequestToAnswer } : {}),
      },
    },
  );
}

/** Of a request that the program which made it may put to a person; for that program only, not for its model. */
export interface RequestToAnswer {
  title: string;
  /** JSON of what was asked for, without secrets. */
  input: string;
  /** The sites it names, also those that the plan does not; null = they, or the plan, are more than is shown whole. */
  named: { id: number; url: string; name: string }[] | null;
}

/** No approval is needed, or none can be given here. */
function notHere(): ServiceError {
  return new ServiceError(
    'svc_confirmation_required',
    'The call was made only to ask for an approval. Nothing changed.',
  );
}

function refused({ id, decided_by, note, expires_at }: ApprovalRow): ServiceError {
  const said = note === '' ? '' : `: ${JSON.stringify(note)}`;
  return new ServiceError(
    'svc_approval_refused',
    `${decided_by ?? 'A person'} refused this change${said}. Nothing changed.`,
    {
      advice: `Tell the user, and do something else. It can be asked for again after ${isoTime(expires_at)}.`,
      data: { approval_id: id },
    },
  );
}

function never({ kind, because }: Rule): ServiceError {
  return new ServiceError(
    'svc_change_not_allowed',
    `Under ${ruleWords({ kind, because })}, this caller may not make this change. Nothing changed.`,
    {
      advice: 'A person with the right to approve can make it on the page, or change the rules.',
      data: { kind },
    },
  );
}

function tooMany(): ServiceError {
  return new ServiceError(
    'svc_rest_conflict',
    `This caller already has ${MOST_WAITING} waiting requests. Nothing changed.`,
    {
      advice: 'Let a person decide those first.',
    },
  );
}

function tooOften(): ServiceError {
  return new ServiceError(
    'svc_rest_conflict',
    `Within a day this caller has made ${MOST_UNDECIDED} requests that it withdrew or replaced, or that are still waiting. Nothing changed.`,
    {
      advice: 'Let a person decide the waiting ones, and ask only for what is wanted.',
    },
  );
}
