import type { Exchange } from './http.js';
import type { DomainAnswer } from './probe.js';
import { domainFacts } from './rdap-answer.js';
import { Paused, type RegistryPace, retryAfterMs } from './registry-pace.js';

/** GET of a registry's answer; a failure is in `failure`. */
export type Get = (url: string, accept: string, signal: AbortSignal) => Promise<Exchange>;

const FRESH_MS = 24 * 3_600_000;
const RETRY_MS = 5 * 60_000;
const ACCEPT = 'application/rdap+json, application/json;q=0.8';

/** Lookups by RDAP; the server of each top-level domain is listed in IANA's bootstrap file (RFC 9224). */
export class Rdap {
  readonly #get: Get;
  readonly #pace: RegistryPace;
  readonly #bootstrapUrl: string;
  #servers: ReadonlyMap<string, string> | null = null;
  #nextLoad = 0;
  #loading: Promise<void> | null = null;

  constructor(parts: { get: Get; pace: RegistryPace; bootstrapUrl: string }) {
    this.#get = parts.get;
    this.#pace = parts.pace;
    this.#bootstrapUrl = parts.bootstrapUrl;
  }

  /** `unsupported` if no server is listed for the top-level domain; `failed` also if the list is unavailable. */
  async domain(name: string, signal: AbortSignal): Promise<DomainAnswer> {
    const servers = await this.#bootstrap(signal);
    if (servers === null) return { outcome: 'failed', message: 'The list of RDAP servers cannot be loaded.' };
    const tld = name.slice(name.lastIndexOf('.') + 1);
    const base = servers.get(tld);
    if (base === undefined) return { outcome: 'unsupported', message: `There is no RDAP server for .${tld}.` };
    const host = new URL(base).host;
    try {
      return await this.#pace.ask(host, signal, async () => {
        const answer = await this.#get(`${base}domain/${name}`, ACCEPT, signal);
        return this.#read(answer, name, host);
      });
    } catch (error) {
      if (error instanceof Paused)
        return { outcome: 'rate_limited', message: error.message, retryAfterMs: error.retryAfterMs };
      throw error;
    }
  }

  #read(answer: Exchange, name: string, host: string): DomainAnswer {
    if (answer.failure !== null) return { outcome: 'failed', message: answer.failure.message };
    const { http_status: status } = answer;
    if (status === 404) return { outcome: 'not_found', source: 'rdap', message: `${host} knows no domain ${name}.` };
    if (status === 429 || (status === 503 && answer.headers['retry-after'] !== undefined))
      throw this.#pace.pause(host, retryAfterMs(answer.headers['retry-after']));
    if (status !== 200) return { outcome: 'failed', message: `${host} answered HTTP ${status}.` };
    const facts = domainFacts(answer.truncated ? '' : answer.body, name);
    if (typeof facts === 'string') return { outcome: 'failed', message: `${host} ${facts}.` };
    return { outcome: 'found', source: 'rdap', facts };
  }

  /** The list in memory; an old one is better than none while IANA cannot be reached. */
  async #bootstrap(signal: AbortSignal): Promise<ReadonlyMap<string, string> | null> {
    if (performance.now() >= this.#nextLoad) {
      // The signal of the caller that starts the load must not end it for others who wait.
      this.#loading ??= this.#load().finally(() => {
        this.#loading = null;
      });
      await this.#loading;
      signal.throwIfAborted();
    }
    return this.#servers;
  }

  async #load(): Promise<void> {
    const answer = await this.#get(this.#bootstrapUrl, 'application/json', new AbortController().signal);
    const servers = answer.http_status === 200 && !answer.truncated ? bootstrapServers(answer.body) : null;
    if (servers !== null) this.#servers = servers;
    this.#nextLoad = performance.now() + (servers === null ? RETRY_MS : FRESH_MS);
  }
}

/** Top-level domain → base URL ending in `/`, https before http; null if this is not a bootstrap file. */
function bootstrapServers(body: string): ReadonlyMap<string, string> | null {
  let file: unknown;
  try {
    file = JSON.parse(body);
  } catch {
    return null;
  }
  const services = typeof file === 'object' && file !== null && 'services' in file ? file.services : null;
  if (!Array.isArray(services)) return null;
  const servers = new Map<string, string>();
  for (const service of services) {
    if (!Array.isArray(service) || !Array.isArray(service[0]) || !Array.isArray(service[1])) continue;
    const urls = service[1].filter((url): url is string => typeof url === 'string' && /^https?:\/\/\S+$/.test(url));
    const base = urls.find((url) => url.startsWith('https:')) ?? urls[0];
    if (base === undefined || !URL.canParse(base)) continue;
    for (const tld of service[0])
      if (typeof tld === 'string') servers.set(tld.toLowerCase(), base.endsWith('/') ? base : `${base}/`);
  }
  return servers.size === 0 ? null : servers;
}
