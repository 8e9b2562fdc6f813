/**
 * The HTTP gate: which requests are let in at all, for every way in. Guards against DNS rebinding, by the name that is called,
 * and against cross-site request forgery, by the origin of the page: browsers attach a Basic login that they remember to any
 * request, whichever page made it.
 */

import type { IncomingMessage } from 'node:http';
import type { Config } from '../config/types.js';
import { ServiceError } from '../core/errors.js';

export type GateRules = Pick<Config, 'host' | 'base_url' | 'trust_proxy'> & Partial<Pick<Config, 'cors_origins'>>;

/** What a request says about where it comes from. */
export interface RequestOrigin {
  /** Name, and port if any, that it calls: what a trusted proxy was called by, else `Host`. */
  host: string;
  /** `Origin`, if any. */
  origin: string | undefined;
  /** `Sec-Fetch-Site`, if any. */
  site: string | undefined;
  /** The connection comes from this machine. */
  local: boolean;
}

export interface Verdict {
  /** It calls a name that this server answers to. */
  named: boolean;
  /** A browser sent it for a page of another origin. */
  foreign: boolean;
  /** A browser sent it for a page of this server, which it says by `Origin`. */
  own: boolean;
}

const LOOPBACK_NAME = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;
const LOOPBACK_ADDRESS = /^(::ffff:)?127\.|^::1$/i;

/** Whether a host name, without port, means the machine itself. */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK_NAME.test(hostname);
}

/** Whether the address of a peer is one of the machine itself. */
export function isLoopbackAddress(address: string): boolean {
  return LOOPBACK_ADDRESS.test(address);
}

/** Host of an absolute URL with its port, read off its text. */
export function hostOf(url: string): string {
  const start = url.indexOf('://') + 3;
  return url.slice(start, url.indexOf('/', start));
}

/** The entry that the nearest proxy added; what stands before it is the client's own claim. */
export function lastOf(header: string | null | undefined): string | undefined {
  const last = header?.split(',').at(-1)?.trim();
  return last === '' ? undefined : last;
}

/**
 * A judge by the rules of one server.
 *
 * Names: bound to loopback, the names of loopback and the host of the base URL. Bound elsewhere, the host of the base URL,
 * and the names of loopback for who calls from this machine; without a base URL any name, because we cannot know by which
 * ones we are reached.
 *
 * Origins: only that of the address which is called, that of the base URL, and those which the operator allows. Another port or
 * scheme is another origin.
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
  // The scheme behind a proxy is not known, so it decides only where the base URL tells it.
  const called = parsed(`${from.protocol}//${host}`);
  return called?.host === from.host && called.host !== base?.host;
}

function parsed(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export interface Gate {
  verdict(request: Request, incoming: IncomingMessage | undefined): Verdict;
  /** Why a request is not let in, whatever it asks for; undefined when it is. `open` paths answer to any name. */
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
  return new ServiceError('svc_forbidden_origin', 'The Host header names a place this server does not answer to.', {
    advice:
      'Call it by localhost, or set SITEFLEET_BASE_URL to the address you use. A proxy must pass the Host header on, or send X-Forwarded-Host with SITEFLEET_TRUST_PROXY=1.',
  });
}

/** For what a page of another origin may not make a browser ask. */
export function foreignPage(): ServiceError {
  return new ServiceError('svc_forbidden_origin', 'A web page of another origin asks for this, which it may not.', {
    advice:
      'Call from a program, or from a page of this server; SITEFLEET_CORS_ORIGINS allows pages of other origins. Behind a proxy set SITEFLEET_BASE_URL to the address that the browser shows.',
  });
}
