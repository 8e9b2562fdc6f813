/** Password hashes: scrypt. */

import { type BinaryLike, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { VaultError } from './key.js';

const derive = promisify<BinaryLike, BinaryLike, number, ScryptOptions, Buffer>(scrypt);

/** Cost recommended by OWASP for scrypt with 32 MB of memory. Stored with each hash, so that it can be raised later. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const HASH_BYTES = 32;
const STORED = /^scrypt\$(\d{1,7})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9_-]{22})\$([A-Za-z0-9_-]{43})$/;

/** `scrypt$N$r$p$salt$hash`. Runs on the thread pool and takes about a quarter of a second. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return storedText(salt, await stretch(password, salt, COST));
}

/** A hash that no password matches, created without work. Verifying against it takes as long as against a real one. */
export function unmatchableHash(): string {
  return storedText(randomBytes(16), randomBytes(HASH_BYTES));
}

function storedText(salt: Buffer, hash: Buffer): string {
  const { N, r, p } = COST;
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** @throws VaultError `malformed` if `stored` was not created by `hashPassword` */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, N, r, p, salt, hash] = STORED.exec(stored) ?? [];
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  if (salt === undefined || hash === undefined || !isAffordable(cost)) {
    throw new VaultError('malformed', 'The stored password hash cannot be read.');
  }
  const given = await stretch(password, Buffer.from(salt, 'base64url'), cost);
  return timingSafeEqual(given, Buffer.from(hash, 'base64url'));
}

/** A cost read from the database must not be able to occupy the whole machine. */
function isAffordable({ N, r, p }: typeof COST): boolean {
  const powerOfTwo = N > 1 && Number.isInteger(Math.log2(N));
  return powerOfTwo && r >= 1 && p >= 1 && 128 * N * r <= 2 ** 28 && p <= 16;
}

function stretch(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  // The same password typed on two systems may arrive as different code points; NFC unifies them.
  const options = { ...cost, maxmem: 2 ** 29 };
  return derive(password.normalize('NFC'), salt, HASH_BYTES, options);
}
