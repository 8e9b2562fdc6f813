/** The headers that every response carries. */

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

/** Adds what all responses have and this one does not set itself. */
export function completeHeaders({ headers, status }: Response, requestId: string): void {
  for (const [name, value] of STANDARD_HEADERS) if (!headers.has(name)) headers.set(name, value);
  if (status === 503 && !headers.has('retry-after')) headers.set('retry-after', RETRY_AFTER_S);
  headers.set('x-request-id', requestId);
}
