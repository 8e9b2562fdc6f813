import { isIP } from 'node:net';
import { Slots } from '../../runtime/slots.js';
import { type Lookup, nameServers, operatingSystem, type ResolvedAddress } from '../name-lookup.js';
import { mayReach, type PrivateReach } from '../public-address.js';
import { StepFailure } from './failure.js';

/** Resolves names to the addresses that may be contacted. Every socket of the probe goes to one of them. */
export class Names {
  readonly #allowPrivate: PrivateReach;
  readonly #lookup: Lookup;

  constructor(options: { allowPrivate: PrivateReach; lookup?: Lookup | undefined }) {
    this.#allowPrivate = options.allowPrivate;
    this.#lookup = options.lookup ?? system();
  }

  /** Allowed addresses, never empty, and the duration of the lookup. Throws StepFailure. */
  async resolve(host: string): Promise<{ addresses: readonly ResolvedAddress[]; ms: number | null }> {
    const family = isIP(host);
    if (family !== 0) return { addresses: this.#allowed(host, [{ address: host, family: family as 4 | 6 }]), ms: null };
    const began = performance.now();
    const all = await this.#lookup(host);
    if (all.length === 0) throw new StepFailure('dns', `${host} has no address: the name does not resolve.`);
    return { addresses: this.#allowed(host, all), ms: performance.now() - began };
  }

  /** Whether a connected socket may be used: the final check, however the name was resolved. */
  mayUse(address: string | undefined): boolean {
    return mayReach(address ?? '', this.#allowPrivate);
  }

  #allowed(host: string, all: readonly ResolvedAddress[]): readonly ResolvedAddress[] {
    const allowed = all.filter(({ address }) => mayReach(address, this.#allowPrivate));
    if (allowed.length === 0) throw blocked(host);
    return allowed;
  }
}

/** The host as resolvers and sockets expect it: IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function blocked(host: string): StepFailure {
  return new StepFailure(
    'blocked_address',
    `${host} is a private or local address, which this service does not call (SITEFLEET_ALLOW_PRIVATE_SITES).`,
  );
}

/** The system's resolver runs in a small thread pool that file access uses as well. */
const PARALLEL = 2;

/** Asks the name servers first, and the system for what they do not know. */
function system(): Lookup {
  const ask = nameServers({ timeout: 3_000, tries: 2 });
  const slots = new Slots(PARALLEL);
  return async (host) => {
    const { found, silent } = await ask(host);
    if (found.length > 0) return found;
    if (silent) throw new StepFailure('dns', `The name servers of ${host} do not answer.`);
    return slots.run(() => operatingSystem(host));
  };
}
