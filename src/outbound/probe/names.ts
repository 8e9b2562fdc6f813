import { lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Slots } from '../../runtime/slots.js';
import { mayReach, type PrivateReach } from '../public-address.js';
import { StepFailure } from './failure.js';

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Resolves a name to addresses. The system's resolver by default, another in tests. */
export type Lookup = (host: string) => Promise<readonly Address[]>;

/** The system resolver runs in a small thread pool that file access uses as well. */
const PARALLEL = 2;

/** Resolves names to the addresses that may be contacted. Every socket of the probe goes to one of them. */
export class Names {
  readonly #allowPrivate: PrivateReach;
  readonly #lookup: Lookup;

  constructor(options: { allowPrivate: PrivateReach; lookup?: Lookup | undefined }) {
    this.#allowPrivate = options.allowPrivate;
    this.#lookup = options.lookup ?? system();
  }

  /** Allowed addresses, never empty, and the duration of the lookup. Throws StepFailure. */
  async resolve(host: string): Promise<{ addresses: readonly Address[]; ms: number | null }> {
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

  #allowed(host: string, all: readonly Address[]): readonly Address[] {
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

const SOFT = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EREFUSED', 'ENOTIMP', 'EBADNAME']);
const REREAD_MS = 60_000;

/**
 * Queries the name servers first, without threads: the system's resolver occupies one of four threads for as long as a
 * dead zone stays silent, and a handful of dead names would make all others look down. It is used for what the servers
 * do not know (hosts file, names of the local network).
 */
function system(): Lookup {
  let servers = new Resolver(RESOLVER);
  let since = performance.now();
  const slots = new Slots(PARALLEL);
  return async (host) => {
    if (host.includes('.') && !/\.(?:local|localhost|internal)$/i.test(host)) {
      if (performance.now() - since > REREAD_MS) {
        servers = new Resolver(RESOLVER);
        since = performance.now();
      }
      const [v4, v6] = await Promise.allSettled([servers.resolve4(host), servers.resolve6(host)]);
      const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
      if (found.length > 0) return found;
      for (const { reason } of [v4, v6] as PromiseRejectedResult[])
        if (!SOFT.has(String(reason?.code))) throw new StepFailure('dns', `The name servers of ${host} do not answer.`);
    }
    return slots.run(() => operatingSystem(host));
  };
}

const RESOLVER = { timeout: 3_000, tries: 2 };

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): Address[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

function operatingSystem(host: string): Promise<readonly Address[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true, order: 'verbatim' }, (error, addresses) => {
      if (error !== null) reject(error);
      else resolve(addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
    });
  });
}
