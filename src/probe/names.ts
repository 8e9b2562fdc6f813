import { lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';
import { isPublicAddress } from '../address.js';
import { StepFailure } from './failure.js';

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Name to addresses. The system's resolver by default, another in tests. */
export type Lookup = (host: string) => Promise<readonly Address[]>;

/** The system resolver works in a small thread pool that files use too: asking more at once only makes each look slow. */
const PARALLEL = 4;

/** Names to the addresses that may be called. Every socket of the probe goes to one of them and nowhere else. */
export class Names {
  readonly #allowPrivate: boolean;
  readonly #lookup: Lookup;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: { allowPrivate: boolean; lookup?: Lookup | undefined }) {
    this.#allowPrivate = options.allowPrivate;
    this.#lookup = options.lookup ?? system;
  }

  /** Callable addresses, never empty, and how long the question itself took. Throws StepFailure. */
  async resolve(host: string): Promise<{ addresses: readonly Address[]; ms: number | null }> {
    const family = isIP(host);
    if (family !== 0) return { addresses: this.#allowed(host, [{ address: host, family: family as 4 | 6 }]), ms: null };
    if (this.#running >= PARALLEL) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    const began = performance.now();
    try {
      const all = await this.#lookup(host);
      if (all.length === 0) throw new StepFailure('dns', `${host} has no address: the name does not resolve.`);
      return { addresses: this.#allowed(host, all), ms: performance.now() - began };
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  /** Whether a socket that is connected may be used: the last word, whoever resolved the name. */
  mayUse(address: string | undefined): boolean {
    return this.#allowPrivate || isPublicAddress(address ?? '');
  }

  #allowed(host: string, all: readonly Address[]): readonly Address[] {
    const allowed = this.#allowPrivate ? all : all.filter(({ address }) => isPublicAddress(address));
    if (allowed.length === 0) throw blocked(host);
    return allowed;
  }
}

export function blocked(host: string): StepFailure {
  return new StepFailure(
    'blocked_address',
    `${host} is a private or local address, which this service does not call (SITEFLEET_ALLOW_PRIVATE_SITES).`,
  );
}

function system(host: string): Promise<readonly Address[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true, order: 'verbatim' }, (error, addresses) => {
      if (error !== null) reject(error);
      else resolve(addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
    });
  });
}
