/** HTTP statuses as the REST interface spells them. */

import { STATUS_CODES } from 'node:http';

/** Statuses that a front page usually returns; others have no words. */
const USUAL: ReadonlySet<number> = new Set([
  200, 204, 206, 301, 302, 303, 307, 308, 400, 401, 403, 404, 410, 429, 500, 502, 503, 504,
]);

/** `200 - OK`; null when the site was never visited, `0` when it did not answer. */
export function statusText(status: number | null): string | null {
  if (status === null) return null;
  return USUAL.has(status) ? `${status} - ${STATUS_CODES[status]}` : String(status);
}
