/** Who asks, from where, and by which address: read once per request, before anything else looks at it. */

import type { IncomingMessage } from 'node:http';
import type { Config } from '../config/types.js';
import { hostOf, isLoopbackAddress, isLoopbackName, lastOf } from './gate.js';

/** What is known of one HTTP request before anything of ours looks at it. `http.ts` makes it, once per request. */
export interface RequestInfo {
  request_id: string;
  authorization: string | undefined;
  /** Of the client; behind a trusted proxy the one the proxy names. */
  address: string;
  /** HTTPS, or loopback: nobody in between can read along. */
  secure: boolean;
  /** Public base URL without a trailing slash. */
  base_url: string;
  /** A browser sent it for a page of another origin, and may have added a login that it remembers. */
  foreign: boolean;
}

/** Head of an answer as a flat list of names and values, which is how Node writes one fastest. */
export type Head = (string | number)[];

/** Where an answer leaves through a socket. */
export interface Outlet {
  /** Completes the head of the answer before it is written. */
  depart?: (status: number, head: Head) => void;
}

/** What the Hono apps are handed with each request; what comes from the socket is absent when there is none. */
export type HttpEnv = { Bindings: { info: RequestInfo; incoming?: IncomingMessage; outgoing?: Outlet } };

export interface RequestInfoParts {
  config: Pick<Config, 'base_url' | 'trust_proxy'>;
  newRequestId(): string;
}

const SAFE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;

/** @returns a function of the request, of what Node knows of it where it came through a socket, and of the gate's verdict */
export function requestInfoReader({ config, newRequestId }: RequestInfoParts) {
  const isLoopback = sameAsLast(isLoopbackAddress);
  const isLocalName = sameAsLast((host) => isLoopbackName(host.replace(/:\d+$/, '')));

  return (request: Request, incoming: IncomingMessage | undefined, foreign: boolean): RequestInfo => {
    const { headers, url } = request;
    const given = headers.get('x-request-id');
    // A request that did not come through a socket was made inside this process.
    const peer = incoming?.socket.remoteAddress ?? '127.0.0.1';
    const host = hostOf(url);
    const forwarded = config.trust_proxy ? lastOf(headers.get('x-forwarded-for')) : undefined;
    const forwardedProto = config.trust_proxy ? lastOf(headers.get('x-forwarded-proto'))?.toLowerCase() : undefined;
    const encrypted = forwardedProto === undefined ? url.startsWith('https:') : forwardedProto === 'https';
    const address = forwarded ?? peer;
    const local = isLoopback(address) || (forwarded === undefined && isLocalName(host));
    return {
      request_id: given !== null && SAFE_REQUEST_ID.test(given) ? given : newRequestId(),
      authorization: headers.get('authorization') ?? undefined,
      address,
      secure: encrypted || local,
      base_url: config.base_url ?? `${encrypted ? 'https' : 'http'}://${host}`,
      foreign,
    };
  };
}

/** Most requests come from where the one before came from. */
function sameAsLast<T>(judge: (text: string) => T): (text: string) => T {
  let last: string | undefined;
  let judged: T;
  return (text) => {
    if (text !== last) {
      judged = judge(text);
      last = text;
    }
    return judged;
  };
}
