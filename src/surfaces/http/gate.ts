/**
 * The HTTP gate: decides which requests are admitted at all, for every way in. Guards against DNS rebinding by checking
 * the requested host name, and against cross-site request forgery by checking the origin of the page: browsers attach a
 * remembered Basic login to any request, no matter which page made it.
 */

import type { IncomingMessage } from 'node:http';
import type { Config } from '../../runtime/config/types.js';
import { ServiceError } from '../../runtime/errors.js';

export type GateRules = Pick<Config, 'host' | 'base_url' | 'trust_proxy'> & Partial<Pick<Config, 'cors_origins'>>;

/** The facts of a request by which the gate judges it. */
export interface RequestOrigin {
  /** Host name, and port if any: `X-Forwarded-Host` of a trusted proxy, otherwise `Host`. */
  host: string;
  /** `Origin`, if any. */
  origin: string | undefined;
  /** `Sec-Fetch-Site`, if any. */
  site: string | undefined;
  /** The connection comes from this machine. */
  local: boolean;
}

export interface Verdict {
  /** The host name is one that this server answers to. */
  named: boolean;
  /** A browser sent it for a page of another origin. */
  foreign: boolean;
  /** A browser sent it for a page of this server, as `Origin` states. */
  own: boolean;
}

const LOOPBACK_NAME = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;
const LOOPBACK_ADDRESS = /^(::ffff:)?127\.|^::1$/i;

/** Whether a host name, without port, is a loopback name. */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK_NAME.test(hostname);
}

/** Whether the address of a peer is a loopback address. */
export function isLoopbackAddress(address: string): boolean {
  return LOOPBACK_ADDRESS.test(address);
}

/** Host of an absolute URL with its port, taken from its text. */
export function hostOf(url: string): string {
  const start = url.indexOf('://') + 3;
  return url.slice(start, url.indexOf('/', start));
}

/** The last entry of a list header, which the nearest proxy added; earlier entries may be the client's own claim. */
export function lastOf(header: string | null | undefined): string | undefined {
  const last = header?.split(',').at(-1)?.trim();
  return last === '' ? undefined : last;
}

/**
 * Returns a function that judges requests by the rules of one server.
 *
 * Names: when bound to loopback, the loopback names and the host of the base URL. Otherwise the host of the base URL,
 * and the loopback names for callers on this machine; without a base URL any name, because ours are not known.
 *
 * Origins: only that of the requested address, that of the base URL, and those that the operator allows. Another port
 * or scheme is another origin.
 */
export function createJudge(rules: GateRules): (request: RequestOrigin) => Verdict {
  const base = rules.base_url === null ? undefined : new URL(rules.base_url);
  const bound = parsed(`http://${rules.host.includes(':') ? `[${rules.host}]` : rules.host}`);
  const onLoopback = bound !== undefined && isLoopbackName(bound.hostname);
  const isNamed = (name: string, local: boolean) =>
    name === base?.hostname ||
    (isLoopbackName(name) && (onLoopback || local || base === undefined)) ||
    (!onLoopback && base === undefined);
  return ({ host, origin, site, local }) => {
    const called = parsed(`http://${host}`);
    const allowed = origin !== undefined && rules.cors_origins?.includes(origin) === true;
    const own = origin !== undefined && isOwnOrigin(origin, host, base);
    return {
      own,
      named: called !== undefined && isNamed(called.hostname, local),
      foreign:
        !allowed &&
        ((site !== undefined && site !== 'same-origin' && site !== 'none') || (origin !== undefined && !own)),
    };
  };
}

function isOwnOrigin(origin: string, host: string, base: URL | undefined): boolean {
  const from = parsed(origin);
  if (from === undefined || !/^https?:$/.test(from.protocol)) return false;
  if (from.origin === base?.origin) return true;
  // Behind a proxy the scheme is unknown, so it only counts for the host of the base URL, which states it.
  const called = parsed(`${from.protocol}//${host}`);
  return called?.host === from.host && called.host !== base?.host;
}

function parsed(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export interface Gate {
  verdict(request: Request, incoming: IncomingMessage | undefined): Verdict;
  /** Why a request is refused before routing; undefined when it is admitted. `open` paths answer to any host name. */
  barrier(verdict: Verdict, method: string, open: boolean): ServiceError | undefined;
}

export function createGate(rules: GateRules): Gate {
  const judge = createJudge(rules);

  function verdict({ headers, url }: Request, incoming: IncomingMessage | undefined): Verdict {
    const called = hostOf(url);
    const forwarded = rules.trust_proxy ? lastOf(headers.get('x-forwarded-host')) : undefined;
    const host = forwarded ?? called;
    const origin = headers.get('origin') ?? undefined;
    const site = headers.get('sec-fetch-site')?.toLowerCase();
    const local = isLoopbackAddress(incoming?.socket.remoteAddress ?? '127.0.0.1');
    return judge({ host, origin, site, local });
  }

  return {
    verdict,
    barrier({ named, foreign }, method, open) {
      if (!named && !open) return unknownName();
      return foreign && !SAFE_METHODS.has(method) ? foreignPage() : undefined;
    },
  };
}

function unknownName(): ServiceError {
  return new ServiceError('svc_forbidden_origin', 'The Host header names a host this server does not answer for.', {
    advice:
      'Use localhost, or set SITEFLEET_BASE_URL to the address you use. A proxy must forward the Host header, or send X-Forwarded-Host with SITEFLEET_TRUST_PROXY=1.',
  });
}

/** The error for a request that a page of another origin may not send. */
export function foreignPage(): ServiceError {
  return new ServiceError('svc_forbidden_origin', 'A web page of another origin may not send this request.', {
    advice:
      "Call from a program, or from this server's own page; SITEFLEET_CORS_ORIGINS allows pages of other origins. Behind a proxy set SITEFLEET_BASE_URL to the address that the browser shows.",
  });
}
