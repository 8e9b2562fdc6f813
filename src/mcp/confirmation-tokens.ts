/**
 * Short proofs that a question was asked before: signed, for one use, for one caller and one set of arguments, for some
 * minutes. Nothing is stored until one is used, so previews that lead nowhere cost nothing.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../core/clock.js';

/** What a proof is good for; one kind never passes for another. */
export type TokenKind = 'preview' | 'question';

const NONCE = 8;
const EXPIRY = 6;
const MAC = 16;
const LIFETIME_MS = 5 * 60_000;

export type TokenProblem = 'used' | 'expired' | 'other';

export class ConfirmationTokens {
  /** Of this process alone: a restart voids what was not used, which is what keeps "one use" true without a table. */
  readonly #key = randomBytes(32);
  readonly #used = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param binding canonical text of everything the proof stands for */
  issue(kind: TokenKind, binding: string): string {
    const head = Buffer.alloc(NONCE + EXPIRY);
    randomBytes(NONCE).copy(head);
    head.writeUIntBE(Math.ceil(this.#clock.elapsed()) + LIFETIME_MS, NONCE, EXPIRY);
    return Buffer.concat([head, this.#mac(kind, head, binding)]).toString('base64url');
  }

  /** Uses a proof up; answers what is wrong with it, or undefined. Used up also when it is refused later on. */
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
    for (const [token, expires] of this.#used) {
      if (expires > now) return;
      this.#used.delete(token);
    }
  }
}
