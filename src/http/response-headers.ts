/** The headers that every response carries. */

import type { ServerResponse } from 'node:http';

/** On every response that does not say otherwise: none is a page, none is to be framed, sniffed or kept. */
export const STANDARD_HEADERS = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cache-control', 'no-store'],
] as const;

/** Of a 503 that does not know better. */
const RETRY_AFTER_S = '5';

/**
 * Adds what all responses have and this one does not set itself. On Node's response where there is one: its own headers win when
 * they are written, and the `Response` of the routes stays the plain record that it is while nothing reads its `Headers`.
 */
export function completeHeaders(response: Response, outgoing: ServerResponse | undefined, requestId: string): void {
  const common: (readonly [string, string])[] = [...STANDARD_HEADERS, ['x-request-id', requestId]];
  if (response.status === 503) common.push(['retry-after', RETRY_AFTER_S]);
  for (const [name, value] of common) {
    if (outgoing !== undefined) outgoing.setHeader(name, value);
    else if (!response.headers.has(name)) response.headers.set(name, value);
  }
}
