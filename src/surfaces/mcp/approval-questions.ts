/**
 * Requests for approval that the client puts to a person, where the rules allow that. The approval itself is given, bound and
 * used up by the domain: here a question is asked, and what the client says of its answer is passed on once.
 */

import type { RequestToAnswer } from '../../domain/approvals/gate.js';
import { sentences } from '../../domain/common/question.js';
import type { AnswerToRequest } from '../../domain/context.js';
import type { GroupedOperation } from '../../operation/operation.js';
import type { Actor } from '../../runtime/actor.js';
import { canonicalJson } from '../../runtime/canonical-json.js';
import type { Clock } from '../../runtime/clock.js';
import { asServiceError, ServiceError } from '../../runtime/errors.js';
import { withRealDomains } from '../../runtime/real-domains.js';
import { ConfirmationQuestion, type Elicitation, messageOf, principalOf } from './confirm.js';
import { ConfirmationTokens } from './confirmation-tokens.js';
import { answerRefused } from './errors.js';
import { isSaidIn, joined, planLines } from './plan-lines.js';
import type { JsonObject } from './tool-result.js';

interface AskingCall {
  operation: GroupedOperation;
  args: JsonObject;
  actor: Actor;
  client: string | undefined;
  elicitation: Elicitation | undefined;
  run(answer?: AnswerToRequest): Promise<JsonObject>;
}

/** Longest input that is shown in a question; a longer one could hide what matters. */
const MAX_INPUT = 600;
/** Longest question: what it has to show of a plan is read in a dialog. */
const MAX_QUESTION = 3000;

export class AskedApprovals {
  readonly #tokens: ConfirmationTokens;

  /** @param timeoutMs how long the person has to answer */
  constructor(clock: Clock, timeoutMs: number) {
    this.#tokens = new ConfirmationTokens(clock, { approval: timeoutMs });
  }

  /** Runs a call; one that waits for an approval is asked about first, if that is allowed here. */
  async run(call: AskingCall): Promise<JsonObject | ConfirmationQuestion> {
    try {
      return await call.run();
    } catch (error) {
      return this.#ask(call, error);
    }
  }

  /** Runs a call only if it waits for an approval that may be asked for here; else undefined. */
  async runIfAsked(call: AskingCall): Promise<JsonObject | ConfirmationQuestion | undefined> {
    if (call.elicitation === undefined) return undefined;
    try {
      return await call.run('ask');
    } catch (error) {
      if (asServiceError(error).code === 'svc_confirmation_required') return undefined;
      return this.#ask(call, error);
    }
  }

  async #ask(call: AskingCall, error: unknown): Promise<JsonObject | ConfirmationQuestion> {
    const asked = requestIn(error);
    if (asked === undefined) throw error;
    const { required, request, approval_id } = asked;
    const { elicitation } = call;
    const message = elicitation === undefined ? undefined : questionOf(call, required, request);
    if (elicitation === undefined || message === undefined) throw required;
    const question = { about: 'approval', message } as const;
    if (elicitation.kind === 'later') {
      const { state, reply } = elicitation;
      const binding = bindingOf(call, approval_id);
      const given = reply('approval');
      if (state === undefined || given === undefined)
        return new ConfirmationQuestion(question, this.#tokens.issue('approval', binding));
      const problem = this.#tokens.redeem('approval', state, binding);
      if (problem !== undefined) throw answerRefused(required, problem);
    }
    const { outcome } =
      elicitation.kind === 'now' ? await elicitation.ask(question) : (elicitation.reply('approval') ?? {});
    // Not answered: it waits, and can still be approved elsewhere.
    if (outcome !== 'accept' && outcome !== 'decline') throw required;
    try {
      return await call.run({ approval_id, approved: outcome === 'accept' });
    } catch (after) {
      // Asked once per call: what has changed meanwhile waits as a new request.
      throw requestIn(after)?.required ?? after;
    }
  }
}

/** The request that a call ended with, if a person may be asked here, and the error as the model sees it. */
function requestIn(error: unknown) {
  const known = asServiceError(error);
  const { in_assistant: request, ...data } = known.data as { in_assistant?: RequestToAnswer; approval_id?: string };
  if (known.code !== 'svc_approval_required' || request === undefined || data.approval_id === undefined)
    return undefined;
  const { advice, message } = known;
  const required = new ServiceError(known.code, message, { ...(advice === undefined ? {} : { advice }), data });
  return { required, request, approval_id: data.approval_id };
}

/** Who asks, by what program, for what: the request stands for its plan. */
function bindingOf({ operation, args, actor, client = '' }: AskingCall, approval_id: string): string {
  return canonicalJson([principalOf(actor), client, operation.id, operation.parse(args) ?? args, approval_id]);
}

/**
 * What the person is asked; undefined if it is too much for a question, or if the plan or the call could not be seen in it
 * as it is: what cleaning takes out of a question, or what it leaves out, would be approved all the same.
 */
function questionOf(
  { operation, args }: AskingCall,
  { data: { plan, sites } }: ServiceError,
  { title, input, named }: RequestToAnswer,
): string | undefined {
  // Asked in its own words, it is not asked in any others.
  const own = operation.asks ? ownQuestion(operation, plan, args) : null;
  if (named === null || own === undefined || (own === null && input.length > MAX_INPUT)) return undefined;
  const on = typeof sites === 'number' && sites > 0 ? ` on ${sites} ${sites === 1 ? 'site' : 'sites'}` : '';
  const asked = own ?? `${title}${on}?`;
  // Its own words say what matters of most plans; what they do not name is added.
  const added = joined(planLines(plan).filter((line) => own === null || !isSaidIn(own, line)));
  const others = planLines(named, 'named_sites').filter((line) => !isSaidIn(`${asked} ${added}`, line));
  return wholly(asked, sentences(joined(others), added), own === null ? `The call: ${input}.` : '');
}

function ownQuestion(operation: GroupedOperation, plan: unknown, args: JsonObject): string | undefined {
  const parsed = operation.parse(args);
  const preview = operation.output().safeParse(plan);
  return preview.success && parsed !== undefined ? operation.question(preview.data, parsed).text : undefined;
}

const ANSWER = 'Your answer decides this request for approval, in place of the people who may approve on the page.';

/** A question to its end, with the plan and the call as they are; undefined if it cannot be. */
function wholly(asked: string, plan: string, call: string): string | undefined {
  const message = messageOf(sentences(asked, plan, call, ANSWER), MAX_QUESTION);
  const shown = [withRealDomains(plan), call].every((part) => message.includes(part.replace(/\s+/g, ' ')));
  return shown && message.endsWith(ANSWER) ? message : undefined;
}
