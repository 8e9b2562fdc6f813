import { createHash, createPrivateKey, generateKeyPair, type KeyObject, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { ChildFailure } from './child.js';

const generate = promisify(generateKeyPair);
const signInPool = promisify<string, Buffer, KeyObject, Buffer>(sign);

/** PHP's numbers of the hashes (child protocol §2). SHA-1 and SHA-224 are not supported. */
export const SIGN_ALGOS = { SHA256: 7, SHA384: 8, SHA512: 9 } as const;
export type SignatureHash = keyof typeof SIGN_ALGOS;

export const SIGN_ALGO = SIGN_ALGOS.SHA256;

/** A new RSA-2048 pair for one site: PKCS#8 and SPKI PEM. Asynchronous, as it takes about 170 ms of CPU. */
export async function generateKey(): Promise<{ private_key: string; public_key: string }> {
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

/**
 * Signs calls. Parsing a PEM costs four times a signature, so parsed keys are cached, with the least recently used
 * dropped first; they are looked up by digest, so that no PEM stays in memory for it.
 */
export class Signer {
  readonly #keys = new Map<string, KeyObject>();
  readonly #capacity: number;

  constructor(capacity = 10_000) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#keys.size;
  }

  /**
   * Base64 RSASSA-PKCS1-v1_5 signature of `fn` + `nonce` (child protocol §2). `refused` if the PEM cannot be parsed.
   * Computed in Node's thread pool: the first one with a key takes half a millisecond, and calls of many sites begin
   * together.
   */
  async sign(pem: string, fn: string, nonce: string, hash: SignatureHash = 'SHA256'): Promise<string> {
    const signature = await signInPool(hash.toLowerCase(), Buffer.from(fn + nonce, 'utf8'), this.#key(pem));
    return signature.toString('base64');
  }

  #key(pem: string): KeyObject {
    const id = createHash('sha256').update(pem).digest('base64');
    const known = this.#keys.get(id);
    if (known !== undefined) {
      this.#keys.delete(id);
      this.#keys.set(id, known);
      return known;
    }
    const key = parse(pem);
    if (this.#keys.size >= this.#capacity) {
      for (const oldest of this.#keys.keys()) {
        this.#keys.delete(oldest);
        break;
      }
    }
    this.#keys.set(id, key);
    return key;
  }
}

function parse(pem: string): KeyObject {
  try {
    const rsa = rsaPart(pem);
    const key = createPrivateKey(rsa === null ? pem : { key: rsa, format: 'der', type: 'pkcs1' });
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // The parser's own error may quote the key: it is not passed on.
  }
  throw new ChildFailure('refused', 'The stored key of this site is not a readable RSA private key.', {
    advice: 'Reconnect the site: that makes a new key.',
  });
}

/** Start of every PKCS#8 RSA key with a two-byte length: version 0 and the algorithm, then the key as PKCS#1. */
const PKCS8_RSA = Buffer.from('020100300d06092a864886f70d010101050004', 'hex');

/**
 * The PKCS#1 key within a PKCS#8 PEM; null if it is wrapped differently. OpenSSL determines the contents of a PEM or
 * PKCS#8 key by trial, which takes three times as long as reading a key of a known kind.
 */
function rsaPart(pem: string): Buffer | null {
  const base64 = /^-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*$/.exec(pem)?.[1];
  if (base64 === undefined) return null;
  const der = Buffer.from(base64, 'base64');
  // 30 82 and the length, the algorithm, then 82 and the length of the key, which is the rest.
  const inner = 4 + PKCS8_RSA.length + 3;
  const fits = der[0] === 0x30 && der[1] === 0x82 && der.readUInt16BE(2) === der.length - 4;
  if (!fits || !der.subarray(4).subarray(0, PKCS8_RSA.length).equals(PKCS8_RSA)) return null;
  if (der[inner - 3] !== 0x82 || der.readUInt16BE(inner - 2) !== der.length - inner) return null;
  return der.subarray(inner);
}
