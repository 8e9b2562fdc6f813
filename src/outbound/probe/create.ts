import { createSecureContext } from 'node:tls';
import { parse } from 'tldts';
import { withEitherSignal } from '../../runtime/abort-signals.js';
import type { Lookup } from '../name-lookup.js';
import type { PrivateReach } from '../public-address.js';
import { probeCertificate } from './certificate.js';
import { probeHttp } from './http.js';
import { Names } from './names.js';
import type { DomainAnswer, Probe } from './probe.js';
import { Rdap } from './rdap.js';
import { RegistryPace } from './registry-pace.js';
import { Whois } from './whois.js';

export interface ProbeOptions {
  /** Allows private and loopback addresses; for sites in a local network, the demo and tests. */
  allowPrivate: PrivateReach;
  userAgent?: string;
  lookup?: Lookup;
  /** Authorities trusted instead of the default ones, PEM. */
  ca?: readonly string[];
  /** IANA's list of RDAP servers. */
  rdapBootstrapUrl?: string;
  /** `host:port` of the WHOIS server that knows the others. */
  whoisRoot?: string;
  /** Between two queries to one registry, in milliseconds. */
  registryGapMs?: number;
  registryTimeoutMs?: number;
  /** URLs that are reachable whenever our own network is up; checked only when many sites seem down at once. */
  references?: readonly string[];
  /** How long the answer of the references is cached, in milliseconds. */
  onlineFreshMs?: number;
}

/** Run by different organizations in different networks, for public use; the first one needs no name servers. */
const REFERENCES = ['https://1.1.1.1/', 'https://api.wordpress.org/', 'https://www.iana.org/'];
const REFERENCE_TIMEOUT_MS = 8_000;
const MAX_REGISTRY_BYTES = 2 * 1024 * 1024;

/** Creates the network of the monitors. Nothing is opened until the first call. */
export function createProbe(options: ProbeOptions): Probe {
  const names = new Names({ allowPrivate: options.allowPrivate, lookup: options.lookup });
  // Created once: reading the authorities costs more than the handshake it is for.
  const context = createSecureContext(options.ca === undefined ? {} : { ca: [...options.ca] });
  const userAgent = options.userAgent ?? 'Mozilla/5.0 (compatible; MainWP/6.1.2; Sitefleet)';
  const timeoutMs = options.registryTimeoutMs ?? 15_000;
  const pace = new RegistryPace(options.registryGapMs ?? 500);
  const closing = new AbortController();
  const http = { names, context, userAgent };
  const get = (url: string, accept: string, signal: AbortSignal, limit = timeoutMs, maxBytes = MAX_REGISTRY_BYTES) =>
    probeHttp(
      http,
      {
        url,
        method: 'GET',
        http_user: null,
        http_pass: null,
        ssl_verify: true,
        timeoutMs: limit,
        expected: [],
        maxBytes,
        signal,
      },
      accept,
    );
  const rdap = new Rdap({
    get: (url, accept, signal) => get(url, accept, signal),
    pace,
    bootstrapUrl: options.rdapBootstrapUrl ?? 'https://data.iana.org/rdap/dns.json',
  });
  const whois = new Whois({ names, pace, root: options.whoisRoot ?? 'whois.iana.org:43', timeoutMs });
  const references = options.references ?? REFERENCES;
  const freshMs = options.onlineFreshMs ?? 10_000;
  let online = { answer: Promise.resolve(false), until: 0 };

  const domain = async (name: string, signal: AbortSignal): Promise<DomainAnswer> => {
    const first = await rdap.domain(name, signal);
    if (first.outcome !== 'unsupported' && first.outcome !== 'failed') return first;
    const second = await whois.domain(name, signal);
    if (first.outcome === 'unsupported')
      return second.outcome === 'unsupported'
        ? { outcome: 'unsupported', message: `Neither RDAP nor WHOIS knows the registry of ${name}.` }
        : second;
    return second.outcome === 'unsupported' || second.outcome === 'failed' ? first : second;
  };
  return {
    http: (probe) => withEitherSignal(probe.signal, closing.signal, (signal) => probeHttp(http, { ...probe, signal })),
    certificate: (probe) =>
      withEitherSignal(probe.signal, closing.signal, (signal) => probeCertificate(http, { ...probe, signal })),
    domain: (name, signal) => withEitherSignal(signal, closing.signal, (either) => domain(name, either)),
    registrableDomain(host) {
      const { domain, isIcann, isIp } = parse(host.toLowerCase());
      return isIp === true || isIcann !== true || domain === null ? null : toAscii(domain);
    },
    online() {
      const now = performance.now();
      if (now >= online.until) {
        const tries = references.map(async (url) => {
          const answer = await get(url, '*/*', closing.signal, REFERENCE_TIMEOUT_MS, 1);
          if (answer.http_status === 0) throw answer.failure;
          return true;
        });
        const answer = Promise.any(tries).catch(() => false);
        online = { answer, until: Number.POSITIVE_INFINITY };
        void answer.then(() => {
          online.until = performance.now() + freshMs;
        });
      }
      return online.answer;
    },
    async close() {
      closing.abort();
    },
  };
}

function toAscii(domain: string): string {
  try {
    return new URL(`http://${domain}`).hostname;
  } catch {
    return domain;
  }
}
