/** Seals secrets for storage with AES-256-GCM. */

import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { keyId, VaultError, type VaultKey } from './key.js';

export { keyFile, keyId, loadKey, VaultError, type VaultKey } from './key.js';
export { hashPassword, unmatchableHash, verifyPassword } from './password.js';

export interface Vault {
  /**
   * Seals a secret for storage.
   * @param place the row and column where it is stored, e.g. `site_secret:12:private_key`. It is authenticated, so a
   * sealed text that is copied to another row cannot be opened there.
   * @returns `v1.<key id>.<iv>.<ciphertext and tag>`
   */
  seal(plain: string, place: string): string;
  /** @throws VaultError `malformed`, `unknown_key`, or `tampered` (changed, or sealed for another place) */
  open(sealed: string, place: string): string;
  /**
   * Id of the key a text was sealed with; a text sealed with another key than the current one should be sealed again.
   */
  keyIdOf(sealed: string): string;
  /**
   * A base64url token that only holders of the current key can derive from this text: it need not be stored, so it
   * cannot leak from there.
   */
  derive(text: string): string;
  /** Id of the key that seals. */
  readonly currentId: string;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/;

/** @param keys the first one seals; all of them open, so that keys can be changed without downtime */
export function createVault(keys: readonly VaultKey[]): Vault {
  const [current] = keys;
  if (!current) throw new VaultError('bad_key', 'A vault needs at least one key.');
  const byId = new Map<string, Buffer>();
  for (const { id, key } of keys) {
    if (key.length !== 32) throw new VaultError('bad_key', 'A vault key has 32 bytes.');
    if (id !== keyId(key)) throw new VaultError('bad_key', `The key named ${id} has another id.`);
    byId.set(id, key);
  }
  // A separate key for a separate purpose.
  const deriving = Buffer.from(hkdfSync('sha256', current.key, '', 'sitefleet:derive', 32));

  return {
    seal(plain, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.key, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(associated(current.id, place));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${current.id}.${iv.toString('base64url')}.${body.toString('base64url')}`;
    },
    open(sealed, place) {
      const { id, iv, body } = parse(sealed);
      const key = byId.get(id);
      if (!key)
        throw new VaultError('unknown_key', `The secret was sealed with the key ${id}, which is not configured.`);
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(associated(id, place));
      decipher.setAuthTag(body.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(body.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8');
      } catch {
        throw new VaultError('tampered', 'The sealed secret was changed, or belongs to another place.');
      }
    },
    keyIdOf: (sealed) => parse(sealed).id,
    derive: (text) => createHmac('sha256', deriving).update(text, 'utf8').digest('base64url'),
    currentId: current.id,
  };
}

/** The authenticated data besides the secret: format, key and place. */
function associated(id: string, place: string): Buffer {
  return Buffer.from(`v1.${id}.${place}`, 'utf8');
}

function parse(sealed: string): { id: string; iv: Buffer; body: Buffer } {
  const [, id, iv, body] = SEALED.exec(sealed) ?? [];
  if (id === undefined || iv === undefined || body === undefined) {
    throw new VaultError('malformed', 'The text is not a sealed secret.');
  }
  return { id, iv: Buffer.from(iv, 'base64url'), body: Buffer.from(body, 'base64url') };
}

/** SHA-256 in hex, for random tokens only: passwords that people choose need `hashPassword`. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}
