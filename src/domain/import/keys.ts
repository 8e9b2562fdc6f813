/**
 * One-time keys of imports: the public half goes into the exporter, the private half is stored here, sealed, until its
 * file arrives.
 */

import { createPrivateKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';

/** How long a file can be opened after its exporter was printed. */
const KEY_DAYS = 7;
/** Maximum number of pending keys; the oldest are dropped. */
const MAX_KEYS = 20;
const PREFIX = 'import_key.';

export interface ImportKey {
  id: string;
  /** SPKI PEM. */
  public_key: string;
  /** Milliseconds. */
  expires_at: number;
}

const generate = promisify(generateKeyPair);

/** Creates a key and stores its private half. */
export async function makeImportKey(ctx: Ctx): Promise<ImportKey> {
  const pair = await generate('rsa', {
    modulusLength: 3072,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const now = ctx.clock.now();
  const id = randomBytes(6).toString('hex');
  const expires_at = now + KEY_DAYS * 86_400_000;
  await dropImportKeys(ctx, MAX_KEYS - 1);
  await ctx.store.settings.write([{ key: nameOf(id, expires_at), value: pair.privateKey, secret: true }], now);
  return { id, public_key: pair.publicKey, expires_at };
}

/** The private half. Throws `svc_invalid_input` if it is unknown or has expired. */
export async function importKey(ctx: Ctx, id: string): Promise<KeyObject> {
  await dropImportKeys(ctx, MAX_KEYS);
  const found = (await waiting(ctx)).find((key) => key.id === id);
  const pem = found === undefined ? undefined : await ctx.store.settings.secret(nameOf(found.id, found.expires_at));
  if (typeof pem === 'string') return createPrivateKey(pem);
  throw new ServiceError(
    'svc_invalid_input',
    `The file is encrypted for a key that is not here: its ${KEY_DAYS} days have passed, or it was made by another Sitefleet. Nothing changed.`,
    {
      field: 'file',
      advice: 'Print a new exporter with "sitefleet import mainwp", run it again, and import that file here.',
    },
  );
}

/** Deletes expired keys, and the oldest beyond `most`. */
export async function dropImportKeys(ctx: Pick<Ctx, 'store' | 'clock'>, most = MAX_KEYS): Promise<void> {
  const now = ctx.clock.now();
  const keys = (await waiting(ctx)).sort((a, b) => b.expires_at - a.expires_at);
  const over = keys.filter((key, index) => index >= most || key.expires_at <= now);
  await ctx.store.settings.write(
    over.map((key) => ({ key: nameOf(key.id, key.expires_at), value: undefined })),
    now,
  );
}

function nameOf(id: string, expiresAt: number): string {
  return `${PREFIX}${expiresAt}.${id}`;
}

async function waiting(ctx: Pick<Ctx, 'store'>): Promise<{ id: string; expires_at: number }[]> {
  return [...(await ctx.store.settings.group(PREFIX)).keys()].map((name) => {
    const [expires = '', id = ''] = name.split('.');
    return { id, expires_at: Number(expires) };
  });
}
