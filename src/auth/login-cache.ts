/** Cache of logins that were verified a moment ago, by a digest of their header. */

import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.js';

export type Scheme = 'basic' | 'bearer';

interface Provable {
  proof: string;
  enabled: boolean;
}

export interface Verified<L> {
  scheme: Scheme;
  login: L;
  /** Reads it again. */
  reload: () => Promise<L | undefined>;
}

/** A password is hashed slowly once; after that its header is recognised for this long. */
const VERIFIED_FOR_MS = 5 * 60_000;
/** A recognised login is read again this often, so that a change by another process acts at once. */
const RECHECK_AFTER_MS = 1000;
const MAX_VERIFIED = 2000;

export class LoginCache<L extends Provable> {
  readonly #clock: Clock;
  readonly #prefix = randomBytes(32).toString('hex');
  readonly #verified = new Map<string, Verified<L> & { expires: number; checked: number }>();
  #generation = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Another number after each `forget`: what was read before a change must not be remembered after it. */
  get generation(): number {
    return this.#generation;
  }

  /** Every request passes here: one call of a keyed digest costs a tenth of an HMAC object, and finds a header as well. */
  digestOf(header: string): string {
    return hash('sha256', this.#prefix + header, 'base64');
  }

  /** Found at once, before the header is taken apart; undefined when it has to be looked at again. */
  recognised(digest: string, scheme?: Scheme): Verified<L> | undefined {
    const entry = this.#verified.get(digest);
    if (entry === undefined || (scheme !== undefined && entry.scheme !== scheme)) return undefined;
    const now = this.#clock.elapsed();
    return entry.expires > now && now - entry.checked < RECHECK_AFTER_MS ? entry : undefined;
  }

  /** The same, read again from storage where it was not for a while. */
  async recall(digest: string): Promise<L | undefined> {
    const entry = this.#verified.get(digest);
    const now = this.#clock.elapsed();
    if (entry === undefined || entry.expires <= now) return undefined;
    if (now - entry.checked < RECHECK_AFTER_MS) return entry.login;
    const current = await entry.reload();
    if (current?.enabled && current.proof === entry.login.proof) {
      entry.login = current;
      entry.checked = now;
      return current;
    }
    this.#verified.delete(digest);
    return undefined;
  }

  /** @param digests all that it is to be found by */
  keep(digests: readonly string[], verified: Verified<L>): void {
    const now = this.#clock.elapsed();
    const entry = { ...verified, expires: now + VERIFIED_FOR_MS, checked: now };
    for (const digest of digests) {
      const oldest = this.#verified.size >= MAX_VERIFIED ? this.#verified.keys().next().value : undefined;
      if (oldest !== undefined) this.#verified.delete(oldest);
      this.#verified.set(digest, entry);
    }
  }

  forget(): void {
    this.#generation += 1;
    this.#verified.clear();
  }
}
