/**
 * Confirmation of tool calls by policy: of deletions, and of changes whose empty site list means several sites, because
 * an assistant may pass on an empty search result. A deletion itself always requires `confirm: true`. The policy may
 * also require a token from a preview of the same call, or the user's consent through the client (elicitation). A call
 * is refused when its confirmation is missing, forged, used, expired or unanswered.
 */

import type { Question } from '../../domain/common/question.js';
import type { GroupedOperation } from '../../operation/operation.js';
import type { Actor } from '../../runtime/actor.js';
import { canonicalJson } from '../../runtime/canonical-json.js';
import type { Clock } from '../../runtime/clock.js';
import type { ConfirmPolicy } from '../../runtime/config/types.js';
import { withRealDomains } from '../../runtime/real-domains.js';
import { ConfirmationTokens, type TokenKind } from './confirmation-tokens.js';
import { notAgreed, tokenNeeded, tokenRefused } from './errors.js';
import type { JsonObject } from './tool-result.js';
import { cleanText } from './untrusted-text.js';

export interface ConfirmationReply {
  outcome: 'accept' | 'decline' | 'cancel' | 'timeout';
  /** The person chose what the question named besides the whole. */
  instead?: boolean;
}

/** What a person is asked through the client. */
export interface Asked {
  about: 'confirmation' | 'approval';
  message: string;
  /** What may be chosen besides the whole, in words. */
  instead?: string | undefined;
}

/** How the user can be asked through the client. Absent when the client does not support it. */
export type Elicitation =
  /** Up to 2025-11-25: the server sends a request while the call waits. */
  | { kind: 'now'; ask(asked: Asked): Promise<ConfirmationReply> }
  /** 2026-07-28: the call returns the question, and the client repeats it with the reply to a question of this kind. */
  | {
      kind: 'later';
      state: string | undefined;
      reply(about: Asked['about'], instead?: string): ConfirmationReply | undefined;
    };

/** Returned by a call that the client has to repeat with the user's reply. */
export class ConfirmationQuestion {
  constructor(
    readonly asked: Asked,
    readonly state: string,
  ) {}
}

export interface GuardedCall {
  operation: GroupedOperation;
  args: JsonObject;
  actor: Actor;
  elicitation: Elicitation | undefined;
  /** Runs the call, after a person was asked for an approval if it needs one. */
  run(args: JsonObject): Promise<JsonObject | ConfirmationQuestion>;
  /** The same if it needs such an approval, which covers the confirmation; else undefined. */
  approve(args: JsonObject): Promise<JsonObject | ConfirmationQuestion | undefined>;
  /** Runs the call, which has `dry_run`. */
  preview(args: JsonObject): Promise<JsonObject>;
  /** Whether the same call of the same principal is already running, so that this one only waits for its result. */
  isRunning(args: JsonObject): boolean;
}

/** Whether calls of an operation can need a confirmation. */
export function isGuarded({ effect, wholeFleet }: GroupedOperation): boolean {
  return effect === 'destroy' || wholeFleet;
}

/** Whether the policy uses tokens; the schemas show them only then. */
export function usesTokens(policy: ConfirmPolicy): boolean {
  return policy === 'preview' || policy === 'elicit';
}

/** Whether the user is asked if the client supports it. */
function asksPeople(policy: ConfirmPolicy): boolean {
  return policy === 'ask' || policy === 'elicit';
}

const MAX_QUESTION = 1500;

export class Confirmations {
  readonly #policy: ConfirmPolicy;
  readonly #tokens: ConfirmationTokens;

  /** @param timeoutMs how long the user has to answer */
  constructor(policy: ConfirmPolicy, clock: Clock, timeoutMs: number) {
    this.#policy = policy;
    this.#tokens = new ConfirmationTokens(clock, { question: timeoutMs });
  }

  /** Runs a call, or returns the question that its user has to answer first. Rejects with svc_confirmation_required. */
  async guard(call: GuardedCall): Promise<JsonObject | ConfirmationQuestion> {
    const { operation } = call;
    const suffices = this.#policy === 'confirm' || (this.#policy === 'ask' && call.elicitation === undefined);
    if (suffices || !isGuarded(operation)) return call.run(call.args);
    const { token, args } = this.#withoutToken(call.args);
    const parsed = operation.parse(args);
    // Invalid input is reported by the operation.
    if (parsed === undefined) return call.run(args);
    const { confirm, dry_run, ...input } = parsed;
    const destroys = operation.effect === 'destroy';
    if (!destroys && !namesNoSite(input)) return call.run(args);
    if (dry_run === true) return confirm === true ? call.run(args) : this.#preview(call, args, input);
    // The operation refuses a deletion without `confirm`; a call that joins a running one makes no further change.
    if (destroys ? confirm !== true : call.isRunning(args)) return call.run(args);
    const preview = await call.preview({ ...args, ...(destroys ? { confirm: false } : {}), dry_run: true });
    if (!destroys && sitesOf(preview) < 2) return call.run(args);
    const approved = this.#asksUser(call) ? await call.approve(args) : undefined;
    if (approved !== undefined) return approved;
    const asked = operation.question(preview, input);
    const confirmed = await this.#confirm(call, bindingOf(call, input, preview), token, asked);
    if (confirmed instanceof ConfirmationQuestion) return confirmed;
    return call.run(confirmed.instead === true ? { ...args, ...asked.instead?.input } : args);
  }

  /** Removes the token, but only under policies that issue tokens; under the others it is an unknown field. */
  #withoutToken(args: JsonObject): { token?: unknown; args: JsonObject } {
    if (!usesTokens(this.#policy)) return { args };
    const { confirmation_token: token, ...rest } = args;
    return { token, args: rest };
  }

  async #preview(call: GuardedCall, args: JsonObject, input: JsonObject): Promise<JsonObject> {
    const preview = await call.preview(args);
    // When the user will be asked, a token must not bypass the question.
    if (this.#asksUser(call)) return preview;
    return { ...preview, confirmation_token: this.#tokens.issue('preview', bindingOf(call, input, preview)) };
  }

  #asksUser(call: GuardedCall): boolean {
    return asksPeople(this.#policy) && call.elicitation !== undefined;
  }

  /** How the call is confirmed, or the question to be answered first. */
  async #confirm(
    call: GuardedCall,
    binding: string,
    token: unknown,
    asked: Question,
  ): Promise<ConfirmationQuestion | Pick<ConfirmationReply, 'instead'>> {
    const { elicitation, operation } = call;
    const destroys = operation.effect === 'destroy';
    if (!this.#asksUser(call) || elicitation === undefined) {
      if (typeof token !== 'string') throw tokenNeeded(destroys);
      this.#redeem('preview', token, binding, destroys);
      return {};
    }
    const instead = asked.instead?.words;
    const question = { about: 'confirmation', message: messageOf(asked.text), instead } as const;
    if (elicitation.kind === 'now') return agreedOf(await elicitation.ask(question));
    const reply = elicitation.reply('confirmation', instead);
    if (elicitation.state === undefined || reply === undefined)
      return new ConfirmationQuestion(question, this.#tokens.issue('question', binding));
    this.#redeem('question', elicitation.state, binding, destroys);
    return agreedOf(reply);
  }

  #redeem(kind: TokenKind, token: string, binding: string, destroys: boolean): void {
    const problem = this.#tokens.redeem(kind, token, binding);
    if (problem !== undefined) throw tokenRefused(problem, destroys);
  }
}

/**
 * Everything a confirmation is bound to: principal, operation, parsed arguments, and the current preview, except which
 * sites are down, and whether a request waits: they come and go, and what is done does not depend on it.
 */
function bindingOf({ operation, actor }: GuardedCall, input: JsonObject, preview: JsonObject): string {
  const { left_alone_if_still_down: _, ...counts } = (preview.would_affect ?? {}) as JsonObject;
  const { needs_approval: _asks, ...shown } = preview;
  const steady = { ...shown, would_affect: { ...counts, sites_down: 0 } };
  return canonicalJson([principalOf(actor), operation.id, input, steady]);
}

/** A key that is unique per principal. Principals without a row are distinguished by name. */
export function principalOf(actor: Actor): string {
  return `${actor.type}:${actor.id ?? actor.name}`;
}

/** Whether the site list of a call is empty, which leaves the choice of sites to the operation. */
function namesNoSite({ site_ids_or_domains: sites }: JsonObject): boolean {
  return Array.isArray(sites) && sites.length === 0;
}

/** Number of sites that a call would change, according to its preview. */
function sitesOf(preview: JsonObject): number {
  const { sites } = (preview.would_affect ?? {}) as { sites?: unknown };
  return typeof sites === 'number' ? sites : 0;
}

/** Throws unless the person agreed. */
function agreedOf({ outcome, ...reply }: ConfirmationReply): Pick<ConfirmationReply, 'instead'> {
  if (outcome !== 'accept') throw notAgreed(outcome);
  return reply;
}

/** The text shown to the user. Names in it come from sites, so it is plain and short. */
export function messageOf(text: string, most = MAX_QUESTION): string {
  return cleanText(withRealDomains(text.replace(/\s+/g, ' ')), most);
}
