/** Password hashes that are cheap to check, for all tests except those of their cost. */

import { randomBytes, scryptSync } from 'node:crypto';

/** A stored hash with a twentieth of the work of `hashPassword`, also at each login: the cost is part of the hash. */
export function cheapHash(password: string): string {
  const [N, r, p] = [2 ** 12, 8, 1];
  const salt = randomBytes(16);
  const hash = scryptSync(password.normalize('NFC'), salt, 32, { N, r, p });
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}
