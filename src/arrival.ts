/** Who asks, from where, and by which address: read once per request, before anything else looks at it. */

import type { IncomingMessage } from 'node:http';
import type { Arrival } from './auth.js';
import type { Config } from './context.js';
import { isLoopbackName } from './mcp/origin.js';

export interface ArrivalParts {
  config: Pick<Config, 'base_url' | 'trust_proxy'>;
  newRequestId(): string;
}

const SAFE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;

/** @returns a function of the request and, where it came through a socket, of what Node knows of it */
export function arrivals({ config, newRequestId }: ArrivalParts) {
  const isLoopback = sameAsLast((address) => /^(::ffff:)?127\.|^::1$/i.test(address));
  const isLocalName = sameAsLast((host) => isLoopbackName(host.replace(/:\d+$/, '')));

  return (request: Request, incoming: IncomingMessage | undefined): Arrival => {
    const { headers, url } = request;
    const given = headers.get('x-request-id');
    // A request that did not come through a socket was made inside this process.
    const peer = incoming?.socket.remoteAddress ?? '127.0.0.1';
    const schemeEnd = url.indexOf('://') + 3;
    const host = url.slice(schemeEnd, url.indexOf('/', schemeEnd));
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
    };
  };
}

/** The entry that the nearest proxy added; what stands before it is the client's own claim. */
function lastOf(header: string | null): string | undefined {
  const last = header?.split(',').at(-1)?.trim();
  return last === '' ? undefined : last;
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
