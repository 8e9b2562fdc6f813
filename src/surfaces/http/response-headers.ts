/** Headers of every response. */

import type { ServerResponse } from 'node:http';

/** Defaults for responses that do not set their own: not a page, and not to be framed, sniffed or cached. */
export const STANDARD_HEADERS = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cache-control', 'no-store'],
] as const;

/** Default `Retry-After` of a 503, in seconds. */
const RETRY_AFTER_S = '5';

/**
 * Adds the standard headers that a response does not set itself. Sets them on Node's response if there is one: headers
 * of the `Response` override them when it is written, and it stays a plain record while its `Headers` are not read.
 */
export function completeHeaders(response: Response, outgoing: ServerResponse | undefined, requestId: string): void {
  const common: (readonly [string, string])[] = [...STANDARD_HEADERS, ['x-request-id', requestId]];
  if (response.status === 503) common.push(['retry-after', RETRY_AFTER_S]);
  for (const [name, value] of common) {
    if (outgoing !== undefined) outgoing.setHeader(name, value);
    else if (!response.headers.has(name)) response.headers.set(name, value);
  }
}
