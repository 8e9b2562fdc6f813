/** Passwords that are quick to check, for tests of anything but their cost. */

import { randomBytes, scryptSync } from 'node:crypto';

/** A stored hash that asks a twentieth of the work of `hashPassword`, at each login as well: the cost stands in it. */
export function cheapHash(password: string): string {
  const [N, r, p] = [2 ** 12, 8, 1];
  const salt = randomBytes(16);
  const hash = scryptSync(password.normalize('NFC'), salt, 32, { N, r, p });
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}
