/** What every answer carries, whoever gave it, and whether it leaves through a socket or stays in the process. */

import type { Head } from './request-info.js';

/** On every answer that does not say otherwise: none is a page, none is to be framed, sniffed or kept. */
export const STANDARD_HEADERS = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cache-control', 'no-store'],
] as const;

/** Of a 503 that does not know better. */
const RETRY_AFTER_S = '5';

/** One bit for each header that is looked for. */
const BITS = new Map<string, number>([
  ...STANDARD_HEADERS.map(([name], i) => [name, 1 << i] as const),
  ['retry-after', 1 << 30],
]);
const RETRY_AFTER = 1 << 30;

const ALL = STANDARD_HEADERS.flat();

/** Adds to the head of an answer what all have and this one does not say itself. */
export function completeHeaders(status: number, head: Head, requestId: string): void {
  let given = 0;
  for (let i = 0; i < head.length; i += 2) given |= BITS.get(String(head[i]).toLowerCase()) ?? 0;
  if (given === 0) head.push(...ALL);
  else
    for (const [i, [name, value]] of STANDARD_HEADERS.entries()) if ((given & (1 << i)) === 0) head.push(name, value);
  if (status === 503 && (given & RETRY_AFTER) === 0) head.push('retry-after', RETRY_AFTER_S);
  head.push('x-request-id', requestId);
}
