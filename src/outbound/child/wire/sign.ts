import { createPrivateKey, generateKeyPair, type JsonWebKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { KeyCache } from '../../key-cache.js';
import { ChildFailure } from '../failure.js';
import type { KeyPair } from '../port.js';

const generate = promisify(generateKeyPair);
const signInPool = promisify<string, Buffer, KeyObject, Buffer>(sign);

/** PHP's numbers of the hashes (child protocol §2). SHA-1 and SHA-224 are not supported. */
export const SIGN_ALGOS = { SHA256: 7, SHA384: 8, SHA512: 9 } as const;
export type SignatureHash = keyof typeof SIGN_ALGOS;

/** A new RSA-2048 pair for one site: PKCS#8 and SPKI PEM. Asynchronous, as it takes about 170 ms of CPU. */
export async function generateKey(): Promise<KeyPair> {
  const pair = await generate('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { private_key: pair.privateKey, public_key: pair.publicKey };
}

/**
 * 32 hex digits. The child does not remember nonces, but only this alphabet survives its sanitizing (child
 * protocol §2).
 */
export function newNonce(): string {
  return randomBytes(16).toString('hex');
}

/** Signs calls. */
export class Signer {
  readonly #keys: KeyCache;

  constructor(capacity = 10_000) {
    this.#keys = new KeyCache(parse, capacity);
  }

  get size(): number {
    return this.#keys.size;
  }

  /**
   * Base64 RSASSA-PKCS1-v1_5 signature of `fn` + `nonce` (child protocol §2). `refused` if the PEM is not a usable key.
   * Computed in Node's thread pool: the first one with a key takes half a millisecond, and calls of many sites begin
   * together.
   */
  async sign(pem: string, fn: string, nonce: string, hash: SignatureHash = 'SHA256'): Promise<string> {
    const key = this.#keys.get(pem);
    const signature = await signInPool(hash.toLowerCase(), Buffer.from(fn + nonce, 'utf8'), key).catch(() => {
      throw unusable();
    });
    return signature.toString('base64');
  }
}

function parse(pem: string): KeyObject {
  try {
    const numbers = rsaNumbers(pem);
    const key = createPrivateKey(numbers === null ? pem : { key: numbers, format: 'jwk' });
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // The parser's own error may quote the key: it is not passed on.
  }
  throw unusable();
}

function unusable(): ChildFailure {
  return new ChildFailure('refused', 'The stored key of this site is not a readable RSA private key.', {
    advice: 'Reconnect the site: this creates a new key.',
  });
}

/** The algorithm identifier of RSA keys in PKCS#8 (RFC 5208 §5): the object identifier and no parameters. */
const RSA_ALGORITHM = Buffer.from('06092a864886f70d0101010500', 'hex');
/** The numbers of a PKCS#1 key after its version (RFC 8017 A.1.2), by their names in a JSON Web Key. */
const RSA_NUMBERS = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const;

/**
 * The numbers of an RSA key in a PKCS#8 PEM; null if it is written differently. OpenSSL finds out by trial what a PEM
 * contains: 0.3 ms of a site's first call, against 0.02 if it is handed the numbers.
 */
function rsaNumbers(pem: string): JsonWebKey | null {
  const base64 = /^-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*$/.exec(pem)?.[1];
  if (base64 === undefined) return null;
  const [key] = derValues(Buffer.from(base64, 'base64'));
  const [, algorithm, octets] = derValues(key);
  if (algorithm?.equals(RSA_ALGORITHM) !== true) return null;
  const [rsa] = derValues(octets);
  const [version, ...numbers] = derValues(rsa);
  if (version?.equals(Buffer.of(0)) !== true || numbers.length !== RSA_NUMBERS.length) return null;
  const named = RSA_NUMBERS.map((name, index) => [name, numbers[index]?.toString('base64url')]);
  return { kty: 'RSA', ...Object.fromEntries(named) };
}

/** The contents of the DER values that follow each other in `bytes` (X.690, 8.1); none if any of them is cut off. */
function derValues(bytes: Buffer = Buffer.alloc(0)): Buffer[] {
  const values: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at + 1] ?? 0;
    const lengthBytes = first < 0x80 ? 0 : first - 0x80;
    const from = at + 2 + lengthBytes;
    if (first === 0x80 || lengthBytes > 3 || from > bytes.length) return [];
    const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
    at = from + length;
    if (at > bytes.length) return [];
    values.push(bytes.subarray(from, at));
  }
  return values;
}
