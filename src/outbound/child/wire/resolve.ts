import { isIP } from 'node:net';
import { dropOldest } from '../../../runtime/drop-oldest.js';
import { Slots } from '../../../runtime/slots.js';
import { type Lookup, type NameAnswer, nameServers, operatingSystem, type ResolvedAddress } from '../../name-lookup.js';
import { mayReach, type PrivateReach } from '../../public-address.js';
import { ChildFailure } from '../failure.js';
import { blockedAddress } from './site-url.js';

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
    this.#lookup = options.lookup ?? systemLookup(nameServers({ timeout: 2_000, tries: 1 }), operatingSystem);
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

/** How long the system's resolver is waited for where the name servers have answered, and where they have not. */
const ANSWERED_MS = 2_000;
const UNANSWERED_MS = 10_000;

/**
 * The system's resolver, which knows the hosts file, but has two threads for all names and keeps one for as long as a
 * zone stays silent. So the name servers are asked first, without threads: names of which they say nothing wait for
 * each other only, and where they have answered, that counts if the system's resolver has no time.
 */
export function systemLookup(ask: (host: string) => Promise<NameAnswer>, lookup: Lookup): Lookup {
  const usual = new Slots(2);
  const doubtful = new Slots(1);
  return async (host) => {
    const { found, silent } = await ask(host);
    const patience = found.length > 0 ? ANSWERED_MS : UNANSWERED_MS;
    const until = performance.now() + patience;
    const late = () => unknownHost(host, 'could not be resolved in time');
    const looked = (silent ? doubtful : usual).run(() => {
      // No one waits for it any more.
      if (performance.now() > until) throw late();
      return lookup(host);
    });
    let timer: NodeJS.Timeout | undefined;
    const given = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(late()), patience);
    });
    try {
      return await Promise.race([looked, given]);
    } catch (error) {
      if (found.length > 0) return found;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}
