/** Login throttle: slows guessing with exponentially growing pauses per key, in bounded memory. */

import { dropOldest } from '../../runtime/drop-oldest.js';

export interface ThrottleOptions {
  /** Monotonic milliseconds. */
  elapsed: () => number;
  /** Failures without a pause, for typing errors. */
  burst?: number;
  /** Longest block in milliseconds. */
  maxBlockMs?: number;
  /** Maximum number of keys remembered; the least recently used one is dropped first. */
  maxKeys?: number;
}

interface Record_ {
  failures: number;
  /** Attempts being verified. They count as failures until they end, otherwise parallel guesses would all pass. */
  pending: number;
  blockedUntil: number;
  lastFailure: number;
}

const FORGET_AFTER_MS = 15 * 60_000;

/** `good` clears the key, `bad` after the burst doubles its block, `unknown` changes nothing. */
export type Outcome = 'good' | 'bad' | 'unknown';

export class LoginThrottle {
  readonly #records = new Map<string, Record_>();
  readonly #elapsed: () => number;
  readonly #burst: number;
  readonly #maxBlockMs: number;
  readonly #maxKeys: number;

  constructor(options: ThrottleOptions) {
    this.#elapsed = options.elapsed;
    this.#burst = options.burst ?? 10;
    this.#maxBlockMs = options.maxBlockMs ?? 300_000;
    this.#maxKeys = options.maxKeys ?? 10_000;
  }

  /** Milliseconds to wait before the next attempt for the key; 0 if it is allowed now. */
  waitMs(key: string): number {
    const record = this.#records.get(key);
    if (record === undefined) return 0;
    const wait = record.blockedUntil - this.#elapsed();
    if (wait > 0) return wait;
    return record.pending >= this.#burst ? 1000 : 0;
  }

  begin(key: string): void {
    this.#record(key).pending += 1;
  }

  /** Ends an attempt that was begun. */
  end(key: string, outcome: Outcome): void {
    const record = this.#record(key);
    record.pending = Math.max(0, record.pending - 1);
    if (outcome === 'good') {
      record.failures = 0;
      record.blockedUntil = 0;
    }
    if (outcome === 'bad') {
      const now = this.#elapsed();
      if (now - record.lastFailure > FORGET_AFTER_MS) record.failures = 0;
      record.failures += 1;
      record.lastFailure = now;
      const excess = record.failures - this.#burst;
      if (excess >= 0) record.blockedUntil = now + Math.min(this.#maxBlockMs, 1000 * 2 ** Math.min(excess, 20));
    }
    if (record.failures === 0 && record.pending === 0) this.#records.delete(key);
  }

  /** Number of keys remembered now. */
  get size(): number {
    return this.#records.size;
  }

  #record(key: string): Record_ {
    const known = this.#records.get(key);
    const record = known ?? { failures: 0, pending: 0, blockedUntil: 0, lastFailure: 0 };
    // Re-inserted, so that the map stays in order of last use.
    if (known !== undefined) this.#records.delete(key);
    this.#records.set(key, record);
    dropOldest(this.#records, this.#maxKeys);
    return record;
  }
}
