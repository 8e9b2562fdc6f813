/** Request info: credentials, client address and public URL of a request. Read once, before anything else. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../../runtime/config/types.js';
import { hostOf, isLoopbackAddress, isLoopbackName, lastOf, type Verdict } from './gate.js';

/** Facts about an HTTP request, known before it is routed. */
export interface RequestInfo {
  request_id: string;
  authorization: string | undefined;
  /** IP address of the client; behind a trusted proxy the one that the proxy reports. */
  address: string;
  /** HTTPS or loopback: the request cannot be read in transit. */
  secure: boolean;
  /** The client used HTTPS, to this server or to the proxy in front of it. */
  https: boolean;
  /** Public base URL without a trailing slash. */
  base_url: string;
  /** A browser sent it for a page of another origin, and may have added a remembered login. */
  foreign: boolean;
  /** A browser sent it for a page of this server, as `Origin` states. */
  own_origin: boolean;
}

/** Bindings that the Hono apps get with each request. */
export type HttpEnv = {
  Bindings: {
    info: RequestInfo;
    /** Node's request and response; absent where there is no socket. */
    incoming?: IncomingMessage;
    outgoing?: ServerResponse;
    /** Set by a route whose response never ends on its own, so that a closing server does not wait for it. */
    endless?: boolean;
    /** Set by a route that reads its body before any login: the most bytes that it needs of it. */
    most_before_login?: number;
  };
};

export interface RequestInfoParts {
  config: Pick<Config, 'base_url' | 'trust_proxy'>;
  newRequestId(): string;
}

const SAFE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;

/**
 * An address as proxies report it, without the port that some add: each connection has another, and failed logins are
 * counted by address.
 */
function withoutPort(entry: string | undefined): string | undefined {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(entry ?? '')?.[1] ?? /^(\d[\d.]*):\d+$/.exec(entry ?? '')?.[1] ?? entry;
}

/** Returns a function of the request, Node's request (if it came through a socket), and the gate's verdict. */
export function requestInfoReader({ config, newRequestId }: RequestInfoParts) {
  return (request: Request, incoming: IncomingMessage | undefined, { foreign, own }: Verdict): RequestInfo => {
    const { headers, url } = request;
    const given = headers.get('x-request-id');
    // A request that did not come through a socket was made inside this process.
    const peer = incoming?.socket.remoteAddress ?? '127.0.0.1';
    const host = hostOf(url);
    const forwarded = config.trust_proxy ? withoutPort(lastOf(headers.get('x-forwarded-for'))) : undefined;
    const forwardedProto = config.trust_proxy ? lastOf(headers.get('x-forwarded-proto'))?.toLowerCase() : undefined;
    const encrypted = forwardedProto === undefined ? url.startsWith('https:') : forwardedProto === 'https';
    const address = forwarded ?? peer;
    const local = isLoopbackAddress(address) || (forwarded === undefined && isLoopbackName(host.replace(/:\d+$/, '')));
    return {
      request_id: given !== null && SAFE_REQUEST_ID.test(given) ? given : newRequestId(),
      authorization: headers.get('authorization') ?? undefined,
      address,
      secure: encrypted || local,
      https: encrypted || (forwardedProto === undefined && config.base_url?.startsWith('https:') === true),
      base_url: config.base_url ?? `${encrypted ? 'https' : 'http'}://${host}`,
      foreign,
      own_origin: own,
    };
  };
}
