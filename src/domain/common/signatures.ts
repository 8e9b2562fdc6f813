/** Signatures of this installation, under receipts of runs and checkpoints of the action log. */

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import type { Ctx } from '../context.js';

/** The private key, sealed: receipts were its first use. */
const KEY = 'receipt-key';

export interface Signature {
  /** Ed25519 of the text in UTF-8, in base64. */
  signature: string;
  /** SPKI in base64. */
  public_key: string;
}

export async function signText(ctx: Ctx, text: string): Promise<Signature> {
  const key = await signingKey(ctx);
  return { signature: sign(null, Buffer.from(text), key).toString('base64'), public_key: publicKeyOf(key) };
}

/** Whether this installation signed the text; null if it has no key, so that it has signed nothing. */
export async function isOwnSignature(
  ctx: Ctx,
  text: string,
  { signature, public_key }: Signature,
): Promise<boolean | null> {
  const known = await ctx.store.settings.secret(KEY);
  if (typeof known !== 'string') return null;
  const key = createPrivateKey(known);
  return (
    publicKeyOf(key) === public_key &&
    verify(null, Buffer.from(text), createPublicKey(key), Buffer.from(signature, 'base64'))
  );
}

function publicKeyOf(key: KeyObject): string {
  return createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
}

/** The key of this installation, made when it is first needed. */
async function signingKey({ store, clock }: Ctx): Promise<KeyObject> {
  const known = await store.settings.secret(KEY);
  if (typeof known === 'string') return createPrivateKey(known);
  const { privateKey } = generateKeyPairSync('ed25519');
  const value = privateKey.export({ type: 'pkcs8', format: 'pem' });
  await store.settings.write([{ key: KEY, value, secret: true }], clock.now());
  // Another process may have made one at the same moment.
  return createPrivateKey(String(await store.settings.secret(KEY)));
}

/** Names a public key (SPKI): the beginning of its SHA-256. */
export function keyIdOf(publicKey: Buffer): string {
  return createHash('sha256').update(publicKey).digest('hex').slice(0, 32);
}
