/**
 * Confirmation of destructive tool calls, by policy. The operation itself always requires `confirm: true`. The policy may also
 * require a token from a preview of the same call, or the agreement of a person who is asked through the client
 * (elicitation). A confirmation that is missing, forged, used, expired or unanswered refuses the call.
 */

import type { ConfirmPolicy } from '../config/types.js';
import type { Actor } from '../core/actor.js';
import type { Clock } from '../core/clock.js';
import type { GroupedOperation } from '../operation/operation.js';
import { canonicalJson } from './canonical-json.js';
import { ConfirmationTokens, type TokenKind } from './confirmation-tokens.js';
import { notAgreed, tokenNeeded, tokenRefused } from './errors.js';
import type { JsonObject } from './tool-result.js';
import { cleanText } from './untrusted-text.js';

export type ConfirmationReply = 'accept' | 'decline' | 'cancel' | 'timeout';

/** How the user can be asked through the client. Absent when the client does not support it. */
export type Elicitation =
  /** Up to 2025-11-25: the server sends a request while the call waits. */
  | { kind: 'now'; ask(question: string): Promise<ConfirmationReply> }
  /** 2026-07-28: the call returns the question, and the client repeats it with the reply. */
  | { kind: 'later'; state: string | undefined; reply: ConfirmationReply | undefined };

/** A call returns this when the client has to repeat it with the user's reply. */
export class ConfirmationQuestion {
  constructor(
    readonly message: string,
    readonly state: string,
  ) {}
}

export interface GuardedCall {
  operation: GroupedOperation;
  args: JsonObject;
  actor: Actor;
  elicitation: Elicitation | undefined;
  run(args: JsonObject): Promise<JsonObject>;
}

const MAX_QUESTION = 1500;

export class Confirmations {
  readonly #policy: ConfirmPolicy;
  readonly #tokens: ConfirmationTokens;

  constructor(policy: ConfirmPolicy, clock: Clock) {
    this.#policy = policy;
    this.#tokens = new ConfirmationTokens(clock);
  }

  /** Runs a call, or returns the question that its user has to answer first. Rejects with svc_confirmation_required. */
  async guard(call: GuardedCall): Promise<JsonObject | ConfirmationQuestion> {
    if (this.#policy === 'confirm' || call.operation.effect !== 'destroy') return call.run(call.args);
    const { confirmation_token: token, ...args } = call.args;
    const parsed = call.operation.input.safeParse(args);
    const { confirm, dry_run, ...input } = (parsed.success ? parsed.data : {}) as JsonObject;
    // Invalid input is reported by the operation.
    if (!parsed.success || (confirm === true && dry_run === true)) return call.run(args);
    if (dry_run === true) return this.#preview(call, args, input);
    if (confirm !== true) return call.run(args);
    const preview = await call.run({ ...args, confirm: false, dry_run: true });
    const binding = bindingOf(call, input, preview);
    const question = await this.#confirm(call, binding, token, preview);
    return question ?? call.run(args);
  }

  async #preview(call: GuardedCall, args: JsonObject, input: JsonObject): Promise<JsonObject> {
    const preview = await call.run(args);
    // When a person will be asked, a token must not bypass them.
    if (this.#asksUser(call)) return preview;
    return { ...preview, confirmation_token: this.#tokens.issue('preview', bindingOf(call, input, preview)) };
  }

  #asksUser(call: GuardedCall): boolean {
    return this.#policy === 'elicit' && call.elicitation !== undefined;
  }

  /** Undefined when the call is confirmed, or the question to be answered first. */
  async #confirm(
    call: GuardedCall,
    binding: string,
    token: unknown,
    preview: JsonObject,
  ): Promise<ConfirmationQuestion | undefined> {
    const { elicitation } = call;
    if (!this.#asksUser(call) || elicitation === undefined) {
      if (typeof token !== 'string') throw tokenNeeded();
      this.#redeem('preview', token, binding);
      return undefined;
    }
    const message = questionText(call.operation, preview);
    if (elicitation.kind === 'now') {
      const reply = await elicitation.ask(message);
      if (reply !== 'accept') throw notAgreed(reply);
      return undefined;
    }
    if (elicitation.state === undefined || elicitation.reply === undefined)
      return new ConfirmationQuestion(message, this.#tokens.issue('question', binding));
    this.#redeem('question', elicitation.state, binding);
    if (elicitation.reply !== 'accept') throw notAgreed(elicitation.reply);
    return undefined;
  }

  #redeem(kind: TokenKind, token: string, binding: string): void {
    const problem = this.#tokens.redeem(kind, token, binding);
    if (problem !== undefined) throw tokenRefused(problem);
  }
}

/** What a confirmation stands for: the principal, the operation, its parsed arguments, and what it would do now. */
function bindingOf({ operation, actor }: GuardedCall, input: JsonObject, preview: JsonObject): string {
  return canonicalJson([principalOf(actor), operation.id, input, preview]);
}

/** A key that is unique per principal. Principals without a row are distinguished by name. */
export function principalOf(actor: Actor): string {
  return `${actor.type}:${actor.id ?? actor.name}`;
}

/** The text shown to the user. Names in it come from sites, so it is plain, short, and begins with our own words. */
function questionText(operation: GroupedOperation, preview: JsonObject): string {
  const { dry_run: _flag, ...facts } = preview;
  const lines = Object.entries(facts)
    .filter(([, value]) => value !== false)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return cleanText(
    [`${operation.title}? This cannot be undone.`, ...lines].map((line) => line.replace(/\s+/g, ' ')).join('\n'),
    MAX_QUESTION,
  );
}
