/** Slows down guessing of logins: per address, exponential, in bounded memory. */

export interface ThrottleOptions {
  now: () => number;
  /** Failures that cost nothing: people mistype. */
  burst?: number;
  /** Longest block in milliseconds. */
  maxBlockMs?: number;
  /** Addresses remembered at most; the one that failed longest ago is forgotten first. */
  maxAddresses?: number;
}

interface Record_ {
  failures: number;
  /** Attempts that are being verified. They count as failures until they end, or parallel guesses would all pass. */
  pending: number;
  blockedUntil: number;
  lastFailure: number;
}

const FORGET_AFTER_MS = 15 * 60_000;

export class Throttle {
  readonly #records = new Map<string, Record_>();
  readonly #now: () => number;
  readonly #burst: number;
  readonly #maxBlockMs: number;
  readonly #maxAddresses: number;

  constructor(options: ThrottleOptions) {
    this.#now = options.now;
    this.#burst = options.burst ?? 10;
    this.#maxBlockMs = options.maxBlockMs ?? 300_000;
    this.#maxAddresses = options.maxAddresses ?? 10_000;
  }

  /** Milliseconds to wait before the address may try again; 0 when it may now. */
  waitMs(address: string): number {
    const record = this.#records.get(bucket(address));
    if (record === undefined) return 0;
    const wait = record.blockedUntil - this.#now();
    if (wait > 0) return wait;
    return record.pending >= this.#burst ? 1000 : 0;
  }

  begin(address: string): void {
    this.#record(bucket(address)).pending += 1;
  }

  /** The attempt ended. A good login wipes the slate; a bad one beyond the burst doubles the block. */
  end(address: string, outcome: 'good' | 'bad' | 'unknown'): void {
    const key = bucket(address);
    const record = this.#record(key);
    record.pending = Math.max(0, record.pending - 1);
    if (outcome === 'good') {
      record.failures = 0;
      record.blockedUntil = 0;
    }
    if (outcome === 'bad') {
      const now = this.#now();
      if (now - record.lastFailure > FORGET_AFTER_MS) record.failures = 0;
      record.failures += 1;
      record.lastFailure = now;
      const beyond = record.failures - this.#burst;
      if (beyond >= 0) record.blockedUntil = now + Math.min(this.#maxBlockMs, 1000 * 2 ** Math.min(beyond, 20));
    }
    if (record.failures === 0 && record.pending === 0) this.#records.delete(key);
  }

  /** Addresses remembered now. */
  get size(): number {
    return this.#records.size;
  }

  #record(key: string): Record_ {
    const known = this.#records.get(key);
    const record = known ?? { failures: 0, pending: 0, blockedUntil: 0, lastFailure: 0 };
    // Re-inserted, so that the map stays in the order of last use.
    if (known !== undefined) this.#records.delete(key);
    this.#records.set(key, record);
    if (this.#records.size > this.#maxAddresses) {
      const oldest = this.#records.keys().next().value;
      if (oldest !== undefined) this.#records.delete(oldest);
    }
    return record;
  }
}

/** One IPv6 host owns a whole /64: its addresses share one record. */
function bucket(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = address.includes('::') ? new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0') : [];
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}
