/** `sitefleet receipt verify`: whether receipts of runs were signed by their key and not changed since. Offline. */

import { createPublicKey, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { RECEIPT_FORMAT } from '../../schemas/receipt.js';
import { cleanLine, cut } from '../../schemas/text.js';
import { keyIdOf } from '../domain/common/signatures.js';
import { isObject } from '../runtime/plain-json.js';
import { CommandError } from './command-error.js';
import { type JsonFlag, print, printJson } from './output.js';

interface Verdict {
  site_url: string;
  run_id: string;
  written_at: string;
  key_id: string;
  valid: boolean;
  reason: string;
}

/** Far above an answer of 100 receipts. */
const MOST_BYTES = 64 * 1024 * 1024;
const SIGNED = ['document', 'signature', 'public_key'];
/** Of a line about one of them. */
const MOST_TEXT = 10_000;

/** @param key id that each receipt must be signed with; otherwise the key in it is used, and named */
export async function verifyReceipts(file: string, { key, json }: JsonFlag & { key?: string }): Promise<void> {
  const verdicts = receiptsIn(await contentOf(file), file).map((one) => verdictOn(one, key));
  if (json === true) printJson({ valid: verdicts.every(({ valid }) => valid), receipts: verdicts });
  else
    for (const { valid, site_url, run_id, written_at, key_id, reason } of verdicts)
      print(
        // The file may come from anyone, and a terminal would interpret an escape.
        cleanLine(
          valid
            ? `valid: ${site_url}, run ${run_id}, written ${written_at}, key ${key_id}`
            : `NOT VALID: ${site_url || 'unknown site'}: ${reason}`,
          MOST_TEXT,
        ),
      );
  if (!verdicts.every(({ valid }) => valid)) process.exitCode = 1;
}

async function contentOf(file: string): Promise<unknown> {
  try {
    const text = await readFile(file);
    if (text.length > MOST_BYTES) throw new Error('too large');
    return JSON.parse(text.toString('utf8')) as unknown;
  } catch {
    throw new CommandError(`${file} cannot be read as JSON.`);
  }
}

/** One receipt, a list of them, or an answer that has them in `data`. */
function receiptsIn(content: unknown, file: string): Record<string, unknown>[] {
  const inside = isObject(content) && Array.isArray(content.data) ? content.data : content;
  const list: unknown[] = Array.isArray(inside) ? inside : [inside];
  const receipts = list.filter(isObject).filter(({ document }) => typeof document === 'string');
  if (receipts.length === 0) throw new CommandError(`${file} holds no receipts.`);
  // Passed over, it would stand in a file that is called valid.
  if (receipts.length < list.length) throw new CommandError(`${file} holds something that is not a receipt.`);
  return receipts;
}

function verdictOn(receipt: Record<string, unknown>, wanted?: string): Verdict {
  const { signature, public_key } = receipt;
  const document = String(receipt.document);
  const told = contentOfDocument(document);
  const der = Buffer.from(String(public_key), 'base64');
  const key_id = keyIdOf(der);
  const reason = isAsWritten(document, signature, public_key)
    ? reasonAgainst(document, String(signature), der)
    : 'it was changed';
  const other = wanted !== undefined && wanted !== key_id ? `it is signed with the key ${key_id}` : '';
  const strange = told === null ? 'it is not a receipt of this version' : '';
  const { site_id, ...known } = told ?? { site_id: null, site_url: '', run_id: '', written_at: '' };
  const against = reason || other || strange || contradiction(receipt, { site_id, key_id });
  return { ...known, key_id, valid: against === '', reason: against };
}

/** What is signed are the bytes: other texts may decode to the same ones, but were not written by us. */
function isAsWritten(document: string, ...encoded: unknown[]): boolean {
  return (
    Buffer.from(document).toString() === document &&
    encoded.every((text) => typeof text === 'string' && Buffer.from(text, 'base64').toString('base64') === text)
  );
}

function reasonAgainst(document: string, signature: string, der: Buffer): string {
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    if (key.asymmetricKeyType !== 'ed25519') return 'its key is not one for receipts';
    const sound = verify(null, Buffer.from(document), key, Buffer.from(signature, 'base64'));
    return sound ? '' : 'it was changed, or signed with another key';
  } catch {
    return 'its key or signature cannot be read';
  }
}

/** What stands beside the document is not signed: people who read the file must not be told something else by it. */
function contradiction(receipt: Record<string, unknown>, signed: Record<string, unknown>): string {
  const name = Object.keys(signed).find((one) => receipt[one] !== undefined && receipt[one] !== signed[one]);
  if (name !== undefined) return `its ${name} differs from what is signed`;
  const added = Object.keys(receipt).find((one) => !SIGNED.includes(one) && !Object.hasOwn(signed, one));
  return added === undefined ? '' : `${cut(JSON.stringify(added), 100)} was added: it is not part of what is signed`;
}

function contentOfDocument(
  document: string,
): (Pick<Verdict, 'site_url' | 'run_id' | 'written_at'> & { site_id: unknown }) | null {
  try {
    const content = JSON.parse(document) as unknown;
    if (!isObject(content) || content.format !== RECEIPT_FORMAT || !isObject(content.site)) return null;
    return {
      site_id: content.site.id,
      site_url: String(content.site.url),
      run_id: String(content.run_id),
      written_at: String(content.written_at),
    };
  } catch {
    return null;
  }
}
