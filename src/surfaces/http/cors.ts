/**
 * Cross-origin resource sharing: lets pages of the origins that the operator configured call the service from a
 * browser. Without configured origins, no CORS headers are sent. Credentials are not allowed, so a page needs its own
 * token: a login remembered by the browser is not used.
 */

import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';

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
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Seconds that a browser may cache a preflight. */
const MAX_AGE = 600;

/** @param origins as browsers write them: `https://app.example` */
export function createCors(origins: readonly string[]): MiddlewareHandler | undefined {
  if (origins.length === 0) return undefined;
  const shared = cors({ origin: [...origins], allowMethods: METHODS, exposeHeaders: EXPOSED, maxAge: MAX_AGE });
  return async (c, next) => {
    // Hono takes every OPTIONS for a preflight, but one that asks for no method wants to know those of the address.
    const described = c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') === undefined;
    return described ? next() : shared(c, next);
  };
}
