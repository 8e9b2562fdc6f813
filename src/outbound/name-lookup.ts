/**
 * Looks names up at the name servers, without threads, and for what those do not know in the operating system: names of
 * the hosts file and the local network. The system's resolver has two threads, which a silent zone holds for as long as
 * it is silent: two dead names would make all others look down.
 */

import { lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { Slots } from '../runtime/slots.js';

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** Name servers that did not answer, or refused to. */
export class NameServersSilent extends Error {}

/** What name servers say of a name that may be known elsewhere. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EREFUSED', 'ENOTIMP', 'EBADNAME']);
const OPTIONS = { timeout: 3_000, tries: 2 };
const REREAD_MS = 60_000;
/** File access uses the same threads. */
const PARALLEL = 2;

export class NameLookup {
  readonly #slots = new Slots(PARALLEL);
  readonly #given: readonly string[] | undefined;
  #servers: Resolver;
  #since = performance.now();

  /** @param servers addresses with ports of the name servers to ask; by default the system's, read again each minute */
  constructor(servers?: readonly string[]) {
    this.#given = servers;
    this.#servers = this.#resolver();
  }

  /** Null if they do not know the name. Throws NameServersSilent. */
  async askServers(host: string): Promise<readonly ResolvedAddress[] | null> {
    if (!host.includes('.') || /\.(?:local|localhost|internal)$/i.test(host)) return null;
    if (performance.now() - this.#since > REREAD_MS) {
      this.#servers = this.#resolver();
      this.#since = performance.now();
    }
    const [v4, v6] = await Promise.allSettled([this.#servers.resolve4(host), this.#servers.resolve6(host)]);
    const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
    if (found.length > 0) return found;
    for (const { reason } of [v4, v6] as PromiseRejectedResult[])
      if (!UNKNOWN.has(String(reason?.code))) throw new NameServersSilent(`The name servers of ${host} do not answer.`);
    return null;
  }

  /** Rejects with the system's error. */
  askSystem(host: string): Promise<readonly ResolvedAddress[]> {
    return this.#slots.run(
      () =>
        new Promise((resolve, reject) => {
          lookup(host, { all: true, order: 'verbatim' }, (error, addresses) => {
            if (error !== null) reject(error);
            else resolve(addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
          });
        }),
    );
  }

  #resolver(): Resolver {
    const resolver = new Resolver(OPTIONS);
    if (this.#given !== undefined) resolver.setServers(this.#given);
    return resolver;
  }
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): ResolvedAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}
