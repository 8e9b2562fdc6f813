/** Seals the chunks of the backup repository: compressed, then AES-256-GCM, each bound to its name. */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { RepositoryError } from '../../../runtime/repository-error.js';

const compress = promisify(deflateRaw);
const decompress = promisify(inflateRaw);

const IV_BYTES = 12;
const TAG_BYTES = 16;
const PLAIN = 0;
const DEFLATED = 1;
/** Below this compression gains nothing. */
const SMALL = 64;
/** Nothing that we seal is larger; what unpacks to more is not ours. */
export const MAX_CHUNK_BYTES = 16 * 1024 * 1024;

export interface Sealer {
  /** The name of a chunk: 64 hex digits that only holders of the key can tell from its bytes. */
  nameOf(bytes: Uint8Array): string;
  /**
   * @param name what is sealed; it is authenticated, so nothing stored can pass for something else
   * @throws RangeError for more than `MAX_CHUNK_BYTES`, which could not be opened
   */
  seal(bytes: Uint8Array, name: string): Promise<Buffer>;
  /** @throws RepositoryError `damaged` if it was changed, or is not what was sealed under this name */
  open(sealed: Uint8Array, name: string): Promise<Buffer>;
}

/** @param key 32 bytes, from which one key is derived for names and one for contents */
export function createSealer(key: Buffer): Sealer {
  const derived = (purpose: string) => Buffer.from(hkdfSync('sha256', key, '', `sitefleet:backup:${purpose}`, 32));
  const [naming, sealing] = [derived('names'), derived('contents')];
  return {
    nameOf: (bytes) => createHmac('sha256', naming).update(bytes).digest('hex'),

    async seal(bytes, name) {
      if (bytes.length > MAX_CHUNK_BYTES) throw new RangeError(`${name} has ${bytes.length} bytes.`);
      const packed = bytes.length < SMALL ? null : await compress(bytes, { level: 6 });
      const small = packed !== null && packed.length < bytes.length;
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(name));
      const head = cipher.update(Buffer.from([small ? DEFLATED : PLAIN]));
      const body = cipher.update(small ? packed : bytes);
      return Buffer.concat([iv, head, body, cipher.final(), cipher.getAuthTag()]);
    },

    async open(sealed, name) {
      if (sealed.length < IV_BYTES + TAG_BYTES + 1) throw damaged(name);
      const decipher = createDecipheriv('aes-256-gcm', sealing, sealed.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(name));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      try {
        const plain = Buffer.concat([
          decipher.update(sealed.subarray(IV_BYTES, sealed.length - TAG_BYTES)),
          decipher.final(),
        ]);
        const body = plain.subarray(1);
        return plain[0] === DEFLATED ? await decompress(body, { maxOutputLength: MAX_CHUNK_BYTES }) : body;
      } catch (error) {
        throw damaged(name, error);
      }
    },
  };
}

function damaged(name: string, cause?: unknown): RepositoryError {
  return new RepositoryError('damaged', `${name} in the backup repository is damaged.`, cause);
}
