/**
 * The two ways to look a name up: at the name servers, without threads, and in the operating system, which knows the
 * hosts file and the local network, but has two threads for all names and keeps one for as long as a zone stays silent.
 */

import { lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** Resolves a name to addresses; rejects if there are none. The system's resolver by default, another in tests. */
export type Lookup = (host: string) => Promise<readonly ResolvedAddress[]>;

/** What the name servers say of a name. `silent`: to one of two questions nothing, not even that there is no such address. */
export interface NameAnswer {
  found: readonly ResolvedAddress[];
  silent: boolean;
}

export interface NameServerOptions {
  /** Milliseconds for each try. */
  timeout: number;
  tries: number;
  /** Addresses with ports; by default the system's, read again each minute. */
  servers?: readonly string[];
}

/** What name servers say of a name that may be known elsewhere. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EREFUSED', 'ENOTIMP', 'EBADNAME']);
const REREAD_MS = 60_000;

/** Returns a function that asks the name servers. Names of the local network are not theirs. */
export function nameServers({ servers, ...options }: NameServerOptions): (host: string) => Promise<NameAnswer> {
  const create = () => {
    const made = new Resolver(options);
    if (servers !== undefined) made.setServers(servers);
    return made;
  };
  let resolver = create();
  let since = performance.now();
  return async (host) => {
    if (!host.includes('.') || /\.(?:local|localhost|internal)$/i.test(host)) return { found: [], silent: false };
    if (performance.now() - since > REREAD_MS) {
      resolver = create();
      since = performance.now();
    }
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [...addressesOf(answers[0], 4), ...addressesOf(answers[1], 6)];
    const silent = answers.some((one) => one.status === 'rejected' && !UNKNOWN.has(String(one.reason?.code)));
    return { found, silent };
  };
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): ResolvedAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

/** The system's own resolver. Rejects with its error. */
export function operatingSystem(host: string): Promise<readonly ResolvedAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true, order: 'verbatim' }, (error, addresses) => {
      if (error !== null) reject(error);
      else resolve(addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
    });
  });
}
