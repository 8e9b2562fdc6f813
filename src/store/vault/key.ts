import { createHash, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { realPath } from '../../runtime/real-path.js';
import { hasCode } from '../driver/sqlite-errors.js';

export class VaultError extends Error {
  readonly kind: 'unknown_key' | 'tampered' | 'malformed' | 'bad_key';
  constructor(kind: VaultError['kind'], message: string) {
    super(message);
    this.name = 'VaultError';
    this.kind = kind;
  }
}

export interface VaultKey {
  /** First 8 hex digits of the SHA-256 of the key: identifies it without revealing it. */
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

/** The name of a key: first 8 hex digits of its SHA-256. */
export function keyId(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}

/**
 * A key from 64 hex digits or base64 (also base64url) of 32 bytes; white space around it is ignored.
 * @throws VaultError `bad_key`; the text is never repeated
 */
export function loadKey(text: string): Buffer {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return Buffer.from(trimmed, 'base64');
  throw new VaultError('bad_key', 'A secret key is 32 bytes, written as 64 hex digits or as base64 (44 characters).');
}

/**
 * The key in a file, which is created with a random key (mode 0600, folder 0700) when it does not exist. Processes that
 * start at once agree on one key.
 * @returns `created` when the key is new, `exposed` when others may read the file
 * @throws VaultError `bad_key` when the file holds no key; errors of the file system as they are
 */
export function keyFile(path: string): VaultKey & { created: boolean; exposed: boolean } {
  const file = realPath(path);
  const created = createKeyFile(file);
  let key: Buffer;
  try {
    key = loadKey(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof VaultError) throw new VaultError('bad_key', `${file}: ${error.message}`);
    throw error;
  }
  return { id: keyId(key), key, created, exposed: (statSync(file).mode & 0o077) !== 0 };
}

function createKeyFile(file: string): boolean {
  if (statSync(file, { throwIfNoEntry: false })) return false;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { flag: 'wx', mode: 0o600, flush: true });
    // A link appears complete or not at all, and fails when another process was first.
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (hasCode(error) && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
