/**
 * Cross-origin resource sharing: lets pages of the origins that the operator configured call the service from a
 * browser. Without configured origins, no CORS headers are sent. Credentials are not allowed, so a page needs its own
 * token: a login remembered by the browser is not used.
 */

/** Response headers that a page may read, besides those that browsers always expose. */
const EXPOSED = [
  'Allow',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Mcp-Session-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Total',
  'X-Total-Pages',
  'X-WP-Total',
  'X-WP-TotalPages',
].join(', ');
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** Seconds that a browser may cache a preflight. */
const MAX_AGE = '600';
const HEADER_NAMES = /^[\w\-, ]{1,1000}$/;

export interface Cors {
  /** The response to a preflight of an allowed origin; undefined for any other request. */
  preflight(request: Request): Response | undefined;
  /** Adds the headers that let a page of the request's origin read the response. */
  complete(headers: Headers, request: Request): void;
}

/** @param origins as browsers write them: `https://app.example` */
export function createCors(origins: readonly string[]): Cors | undefined {
  if (origins.length === 0) return undefined;
  const allowed = new Set(origins);
  const originOf = ({ headers }: Request) => {
    const origin = headers.get('origin');
    return origin !== null && allowed.has(origin) ? origin : undefined;
  };
  return {
    preflight(request) {
      const asked = request.headers.get('access-control-request-method');
      if (request.method !== 'OPTIONS' || asked === null || originOf(request) === undefined) return undefined;
      const headers = new Headers({ 'access-control-allow-methods': METHODS, 'access-control-max-age': MAX_AGE });
      const wanted = request.headers.get('access-control-request-headers') ?? '';
      if (HEADER_NAMES.test(wanted)) headers.set('access-control-allow-headers', wanted);
      return new Response(null, { status: 204, headers });
    },
    complete(headers, request) {
      headers.append('vary', 'Origin');
      const origin = originOf(request);
      if (origin === undefined) return;
      headers.set('access-control-allow-origin', origin);
      headers.set('access-control-expose-headers', EXPOSED);
    },
  };
}
