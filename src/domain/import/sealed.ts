/**
 * Fleet files: records sealed in pages, each a JWE (RFC 7516), for a public key or with a passphrase. Every page names
 * the run that wrote it, its number and whether it is the last, so that a mix of two files, or an incomplete file, is
 * detected.
 */

import { createPublicKey, type KeyObject, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { once } from '../../runtime/once.js';
import { parsedOrNull } from '../../runtime/plain-json.js';

/** Maximum characters of a file; 100,000 sites take about a third of it. */
const MAX_FILE = 500_000_000;
/** Records per page when writing. */
const PAGE = 100;

/** Most memory of a derivation, in bytes. */
const MAX_MEMORY = 2 ** 30;

const cost = once(() =>
  z
    .object({
      n: z.number().int().min(16_384).max(1_048_576),
      r: z.number().int().min(1).max(16),
      p: z.number().int().min(1).max(4),
      salt: z.string().regex(/^[A-Za-z0-9_-]{22,86}$/),
    })
    .refine(({ n, r }) => Number.isInteger(Math.log2(n)) && 128 * n * r <= MAX_MEMORY),
);
const sealedFile = once(() =>
  z.object({
    sitefleet_fleet: z.literal(1),
    from: z.enum(['mainwp', 'sitefleet']),
    /** Id of the key that it is sealed for. */
    key: z.string().max(100).optional(),
    /** How the key is derived from a passphrase. */
    scrypt: cost().optional(),
    sealed: z.array(z.string()).min(1),
  }),
);
export type SealedFile = z.output<ReturnType<typeof sealedFile>>;

type Cost = z.output<ReturnType<typeof cost>>;
/** 64 MB and about 0.3 s per attempt. */
const COST = { n: 65_536, r: 8, p: 2 };

/** Whether a text is meant to be a fleet file rather than CSV. */
export function isFleetFile(text: string): boolean {
  return text.includes('"sitefleet_fleet"');
}

/**
 * Throws `svc_invalid_input` for anything but a complete fleet file. Text before its first brace, such as PHP notices,
 * is skipped.
 */
export function parseFile(text: string): SealedFile {
  if (text.length > MAX_FILE) throw unusable('It is larger than 500 MB.');
  const start = text.indexOf('{"sitefleet_fleet"');
  let value: unknown;
  try {
    value = JSON.parse(start < 0 ? '' : text.slice(start));
  } catch {
    // Reported below: the parser's own message may quote the file.
  }
  const parsed = sealedFile().safeParse(value);
  if (parsed.success) return parsed.data;
  if (parsed.error.issues.every(({ path }) => path[0] === 'scrypt'))
    throw unusable(
      'The cost of deriving its key (scrypt) is not usable: n must be a power of two from 16384 to 1048576, r 1 to 16, p 1 to 4, and n * r at most 8388608.',
    );
  throw unusable('It is incomplete, or not a fleet file.');
}

/** Derives a key from a passphrase; slow on purpose. */
export async function passphraseKey(passphrase: string, { n, r, p, salt }: Cost): Promise<Uint8Array> {
  const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
  return derive(passphrase.normalize('NFC'), Buffer.from(salt, 'base64url'), 32, {
    N: n,
    r,
    p,
    maxmem: 2 * MAX_MEMORY,
  });
}

/**
 * The records of a file in order. Throws `svc_invalid_input` if the key does not fit, or a page is missing or altered.
 */
export async function openFile(file: SealedFile, key: KeyObject | Uint8Array): Promise<unknown[]> {
  const records: unknown[] = [];
  let run: unknown;
  for (const [index, jwe] of file.sealed.entries()) {
    const { plaintext, protectedHeader } = await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: key instanceof Uint8Array ? ['dir'] : ['RSA-OAEP', 'RSA-OAEP-256'],
      contentEncryptionAlgorithms: ['A256GCM'],
    }).catch(() => {
      throw unusable('The key or passphrase does not open it, or it was modified.');
    });
    run ??= protectedHeader.run;
    const whole = protectedHeader.part === index && protectedHeader.run === run;
    if (!whole || protectedHeader.last !== (index === file.sealed.length - 1))
      throw unusable('It is incomplete: pages are missing, or from another file.');
    const page = parsedOrNull(new TextDecoder().decode(plaintext));
    if (!Array.isArray(page)) throw unusable('One of its pages has no records.');
    for (const record of page) records.push(record);
  }
  return records;
}

export type Recipient = { public_key: KeyObject; key_id: string } | { passphrase: string };

/** Reads a recipient's key: an RSA public key of 2048 bits or more, as `sitefleet import key` prints it. */
export function recipientKey(pem: string): { public_key: KeyObject; key_id: string } {
  let public_key: KeyObject | undefined;
  try {
    public_key = createPublicKey(pem);
  } catch {
    // Reported below.
  }
  if (public_key?.asymmetricKeyType !== 'rsa' || (public_key.asymmetricKeyDetails?.modulusLength ?? 0) < 2048) {
    throw new ServiceError(
      'svc_invalid_input',
      'The recipient key is not an RSA public key of at least 2048 bits in PEM.',
      {
        field: 'to',
        advice: 'Make one on the receiving side: sitefleet import key > key.pem',
      },
    );
  }
  return { public_key, key_id: /^Key-Id: (\S{1,100})$/m.exec(pem)?.[1] ?? '' };
}

/** Writes a fleet file in chunks. */
export async function* sealFile(records: AsyncIterable<unknown>, to: Recipient): AsyncGenerator<string> {
  const open = 'passphrase' in to;
  const setup: Cost = { ...COST, salt: randomBytes(16).toString('base64url') };
  const key = open ? await passphraseKey(to.passphrase, setup) : to.public_key;
  const how = open ? { scrypt: setup } : { key: to.key_id };
  yield `${JSON.stringify({ sitefleet_fleet: 1, from: 'sitefleet', ...how }).slice(0, -1)},"sealed":[`;
  const run = randomBytes(8).toString('hex');
  let part = 0;
  const seal = async (page: unknown[], last: boolean) => {
    const header = { alg: open ? 'dir' : 'RSA-OAEP-256', enc: 'A256GCM', run, part, last };
    const text = new TextEncoder().encode(JSON.stringify(page));
    const jwe = await new CompactEncrypt(text).setProtectedHeader(header).encrypt(key);
    return `${part++ === 0 ? '\n' : ',\n'}"${jwe}"`;
  };
  let page: unknown[] = [];
  for await (const record of records) {
    if (page.length === PAGE) {
      yield await seal(page, false);
      page = [];
    }
    page.push(record);
  }
  yield await seal(page, true);
  yield '\n]}\n';
}

export function unusable(what: string): ServiceError {
  return new ServiceError('svc_invalid_input', `The file cannot be used. ${what} Nothing changed.`, {
    field: 'file',
    advice: 'Export again, and copy the file unchanged.',
  });
}
