/** Compares secrets. */

import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares digests: equal lengths and no early exit, regardless of the texts. */
export function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
