/** Cache of recently verified logins, by a digest of their header. */

import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../runtime/clock.js';
import { dropOldest } from '../../runtime/drop-oldest.js';

export type Scheme = 'basic' | 'bearer';

interface Provable {
  proof: string;
  enabled: boolean;
}

export interface Verified<L> {
  scheme: Scheme;
  login: L;
  /** Reads the login from storage again. */
  reload: () => Promise<L | undefined>;
}

/** How long a header is recognized after its password was hashed, which is slow. */
const VERIFIED_FOR_MS = 5 * 60_000;
/** A recognized login is read again this often, so that a change by another process takes effect soon. */
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

  /** Changes with each `forget`: what was read before a change must not be cached after it. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Every request passes through here: a keyed digest in one call costs a tenth of an HMAC object, and serves as well.
   */
  digestOf(header: string): string {
    return hash('sha256', this.#prefix + header, 'base64');
  }

  /** Found synchronously, before the header is parsed; undefined if it has to be read again. */
  recognised(digest: string, scheme?: Scheme): Verified<L> | undefined {
    const entry = this.#verified.get(digest);
    if (entry === undefined || (scheme !== undefined && entry.scheme !== scheme)) return undefined;
    const now = this.#clock.elapsed();
    return entry.expires > now && now - entry.checked < RECHECK_AFTER_MS ? entry : undefined;
  }

  /** The same, reading the login from storage if it has not been read for a while. */
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

  /** @param digests all digests that it can be found by */
  keep(digests: readonly string[], verified: Verified<L>): void {
    const now = this.#clock.elapsed();
    const entry = { ...verified, expires: now + VERIFIED_FOR_MS, checked: now };
    for (const digest of digests) this.#verified.set(digest, entry);
    dropOldest(this.#verified, MAX_VERIFIED);
  }

  forget(): void {
    this.#generation += 1;
    this.#verified.clear();
  }
}
