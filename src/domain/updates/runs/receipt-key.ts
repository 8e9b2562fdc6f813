/** Names of the keys that sign receipts. */

import { createHash } from 'node:crypto';

/** The beginning of the SHA-256 of a public key (SPKI). */
export function keyIdOf(publicKey: Buffer): string {
  return createHash('sha256').update(publicKey).digest('hex').slice(0, 32);
}
