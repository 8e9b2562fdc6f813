/**
 * Confirmation tokens: signed, single-use, bound to one caller and one set of arguments, valid for a few minutes.
 * Nothing is stored until a token is redeemed, so previews without a follow-up cost nothing.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/clock.js';

/** Kinds of confirmation; a token of one kind is never accepted for another. */
export type TokenKind = 'preview' | 'question' | 'approval';

const NONCE = 8;
const EXPIRY = 6;
const MAC = 16;
const LIFETIME_MS = 5 * 60_000;
const LIFETIMES_MS: Readonly<Record<TokenKind, number>> = {
  preview: LIFETIME_MS,
  question: LIFETIME_MS,
  approval: LIFETIME_MS,
};

export type TokenProblem = 'used' | 'expired' | 'other';

export class ConfirmationTokens {
  /** Known to this process only. A restart voids all tokens, which keeps them single-use without a table. */
  readonly #key = randomBytes(32);
  readonly #used = new Map<string, number>();
  readonly #clock: Clock;
  readonly #lifetimesMs: Readonly<Record<TokenKind, number>>;

  /** @param lifetimesMs how long tokens are valid; default five minutes */
  constructor(clock: Clock, lifetimesMs: Partial<Record<TokenKind, number>> = {}) {
    this.#clock = clock;
    this.#lifetimesMs = { ...LIFETIMES_MS, ...lifetimesMs };
  }

  /** A new token. @param binding canonical text of everything it confirms */
  issue(kind: TokenKind, binding: string): string {
    const head = Buffer.alloc(NONCE + EXPIRY);
    randomBytes(NONCE).copy(head);
    head.writeUIntBE(Math.ceil(this.#clock.elapsed()) + this.#lifetimesMs[kind], NONCE, EXPIRY);
    return Buffer.concat([head, this.#mac(kind, head, binding)]).toString('base64url');
  }

  /** Redeems a token; returns the problem with it, or undefined. It stays redeemed even if the call fails later. */
  redeem(kind: TokenKind, token: string, binding: string): TokenProblem | undefined {
    const bytes = Buffer.from(token, 'base64url');
    if (bytes.length !== NONCE + EXPIRY + MAC || bytes.toString('base64url') !== token) return 'other';
    const head = bytes.subarray(0, NONCE + EXPIRY);
    if (!timingSafeEqual(bytes.subarray(NONCE + EXPIRY), this.#mac(kind, head, binding))) return 'other';
    const now = this.#clock.elapsed();
    this.#forgetBefore(now);
    const expires = head.readUIntBE(NONCE, EXPIRY);
    if (expires <= now) return 'expired';
    if (this.#used.has(token)) return 'used';
    this.#used.set(token, expires);
    return undefined;
  }

  #mac(kind: TokenKind, head: Buffer, binding: string): Buffer {
    return createHmac('sha256', this.#key).update(`${kind}\n`).update(head).update(binding).digest().subarray(0, MAC);
  }

  #forgetBefore(now: number): void {
    for (const [token, expires] of this.#used) if (expires <= now) this.#used.delete(token);
  }
}
