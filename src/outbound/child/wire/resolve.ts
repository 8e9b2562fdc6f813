import { isIP } from 'node:net';
import { dropOldest } from '../../../runtime/drop-oldest.js';
import { NameLookup, type ResolvedAddress } from '../../name-lookup.js';
import { mayReach, type PrivateReach } from '../../public-address.js';
import { ChildFailure } from '../failure.js';
import { blockedAddress } from './site-url.js';

/** Resolves a name to addresses; rejects if there are none. The system's resolver by default, another in tests. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

const FRESH_MS = 30_000;
const FAILED_MS = 5_000;
const CAPACITY = 20_000;
interface Entry {
  until: number;
  answer: Promise<readonly ResolvedAddress[]>;
}

/**
 * Resolves names to the addresses that may be contacted. Everything that connects takes its addresses only from here,
 * so a name that changes after the check (DNS rebinding) gains nothing.
 */
export class Resolver {
  readonly #allowPrivate: PrivateReach;
  readonly #lookup: Lookup;
  readonly #timeoutMs: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  /** 4 = IPv4 only (the force-IPv4 setting), 0 = any. */
  family: 0 | 4 = 0;

  constructor(options: {
    allowPrivate: PrivateReach;
    lookup?: Lookup | undefined;
    timeoutMs: number;
    now: () => number;
  }) {
    this.#allowPrivate = options.allowPrivate;
    this.#lookup = options.lookup ?? lookupIn(new NameLookup());
    this.#timeoutMs = options.timeoutMs;
    this.#now = options.now;
  }

  /**
   * Allowed addresses of a host name or literal, never empty. A site's own `ipv4Only` takes precedence over `family`.
   * Fails with `blocked_address` or `unreachable`.
   */
  async resolve(host: string, ipv4Only = this.family === 4): Promise<readonly ResolvedAddress[]> {
    const family = isIP(host);
    const all = family === 0 ? await this.#cached(host.toLowerCase()) : [{ address: host, family: family as 4 | 6 }];
    const wanted = ipv4Only ? all.filter((one) => one.family === 4) : all;
    if (wanted.length === 0) throw unknownHost(host, 'has no usable address');
    const allowed = wanted.filter((one) => mayReach(one.address, this.#allowPrivate));
    if (allowed.length === 0) throw blockedAddress(host);
    return allowed;
  }

  #cached(host: string): Promise<readonly ResolvedAddress[]> {
    const now = this.#now();
    const known = this.#entries.get(host);
    if (known !== undefined && known.until > now) return known.answer;
    this.#entries.delete(host);
    // Kept until it settles, however long that takes, so that there is one lookup of a name at a time.
    const entry: Entry = { until: Number.POSITIVE_INFINITY, answer: this.#ask(host) };
    this.#entries.set(host, entry);
    dropOldest(this.#entries, CAPACITY);
    entry.answer.then(
      () => {
        entry.until = this.#now() + FRESH_MS;
      },
      () => {
        entry.until = this.#now() + FAILED_MS;
      },
    );
    return entry.answer;
  }

  async #ask(host: string): Promise<readonly ResolvedAddress[]> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unknownHost(host, 'could not be resolved in time')), this.#timeoutMs);
    });
    try {
      return await Promise.race([this.#lookup(host), late]);
    } catch (cause) {
      throw cause instanceof ChildFailure ? cause : unknownHost(host, 'could not be resolved', cause);
    } finally {
      clearTimeout(timer);
    }
  }
}

function unknownHost(host: string, what: string, cause?: unknown): ChildFailure {
  return new ChildFailure('unreachable', `The host name ${host} ${what}.`, {
    advice: "Check the spelling of the site URL and the domain's DNS records.",
    cause,
  });
}

/** The name servers first: a name that they leave without an answer may still be in the hosts file. */
export function lookupIn(names: NameLookup): Lookup {
  return async (host) => (await names.askServers(host).catch(() => null)) ?? names.askSystem(host);
}
