/**
 * The wire format of the guard, the must-use plugin in `../../../php`: signatures, requests and answers. Pure functions;
 * both sides are tested against `../../../php/vectors.json`. The protocol is described in `../../../docs/guard.md`.
 */

import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  privateEncrypt,
  randomBytes,
} from 'node:crypto';
import { isObject } from '../../runtime/plain-json.js';
import { shapeProblem } from '../json-shape.js';
import { KeyCache } from '../key-cache.js';

export const GUARD_PROTOCOL = 'sitefleet-guard-v2';
/** Largest body that the guard accepts, and that it accepts where the plugin for backups is beside it. */
const MAX_REQUEST_BYTES = 65_536;
export const MAX_BACKUP_REQUEST_BYTES = 1_048_576;
/** Largest possible answer: 50 faults and some 100 snapshots are well below it. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** The guard's reply to a request; `failure` has the guard's own code, with a text for people. */
export type GuardReply =
  | { ok: true; value: Record<string, unknown> }
  | { ok: false; code: string; message: string; time: number | null };

/**
 * A site's address as it is signed: host without `www.`, port unless it is the default, path with slashes around it. No
 * scheme.
 */
export function siteName(address: string): string {
  const url = new URL(address);
  const port = url.port === '' || url.port === '80' || url.port === '443' ? '' : `:${url.port}`;
  const path = url.pathname.replace(/^\/+|\/+$/g, '');
  return `${url.hostname.replace(/^www\./, '')}${port}${path === '' ? '/' : `/${path}/`}`;
}

/** The bytes that are signed: six lines, each ended by a line feed. */
export function canonicalText(site: string, time: number, nonce: string, body: string): string {
  const digest = createHash('sha256').update(body, 'utf8').digest('hex');
  return `${[GUARD_PROTOCOL, 'POST', site, time, nonce, digest].join('\n')}\n`;
}

/** Of the sites that are looked at just now. */
const keys = new KeyCache(createPrivateKey, 500);
const ids = new WeakMap<KeyObject, string>();

/** First 32 hex digits of SHA-256 over the DER form of the public key: identifies the key of a request. */
export function keyId(key: KeyObject): string {
  const known = ids.get(key);
  if (known !== undefined) return known;
  const half = key.type === 'private' ? createPublicKey(key) : key;
  const der = half.export({ type: 'spki', format: 'der' });
  const id = createHash('sha256').update(der).digest('hex').slice(0, 32);
  ids.set(key, id);
  return id;
}

/** Stands before the digest in what is signed. */
const MARK = Buffer.from('sitefleet-guard');

/**
 * Base64 of an RSA signature with the padding of PKCS #1 v1.5, over `MARK` and the SHA-256 of the text, as bytes: without the name of
 * the hash, which the child's own check needs. To the child any text with a signature that it accepts is a login, without
 * an end and as often as one likes (`parse_login_required` of MainWP Child): no header of ours may be one.
 */
function guardSignature(text: string, key: KeyObject): string {
  const signed = Buffer.concat([MARK, createHash('sha256').update(text, 'utf8').digest()]);
  return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signed).toString('base64');
}

/** A signed request. `now` in milliseconds. */
export function signedRequest(
  site: { url: string; private_key: string },
  action: string,
  parameters: Readonly<Record<string, unknown>>,
  now: number,
  nonce = randomBytes(16).toString('hex'),
  maxBytes = MAX_REQUEST_BYTES,
) {
  const key = keys.get(site.private_key);
  const body = JSON.stringify({ ...parameters, action });
  if (Buffer.byteLength(body) > maxBytes) throw new RangeError(`The request is larger than ${maxBytes} bytes.`);
  const name = siteName(site.url);
  const time = Math.floor(now / 1000);
  const headers = {
    'x-sitefleet-guard': keyId(key),
    'x-sitefleet-site': name,
    'x-sitefleet-time': String(time),
    'x-sitefleet-nonce': nonce,
    'x-sitefleet-signature': guardSignature(canonicalText(name, time, nonce, body), key),
  };
  return { headers, body, nonce };
}

/** What Sitefleet signs when it looks at a site as a visitor does: three lines, each ended by a line feed. */
function lookText(site: string, time: number): string {
  return `sitefleet-look-v2\n${site}\n${time}\n`;
}

/**
 * Headers by which the guard recognizes Sitefleet's own look at a site. `now` in milliseconds. Only what fails in such
 * a request counts as seen by us: a visitor may provoke errors at will.
 */
export function lookHeaders(site: { url: string; private_key: string }, now: number): Record<string, string> {
  const time = Math.floor(now / 1000);
  const signature = guardSignature(lookText(siteName(site.url), time), keys.get(site.private_key));
  return { 'x-sitefleet-look': `${time} ${signature}` };
}

/** What Sitefleet signs when it looks at a page in the guard's sandbox: the address as it is requested, and a nonce. */
function sessionText(site: string, time: number, nonce: string, address: string): string {
  return `sitefleet-session-v2\n${site}\n${time}\n${nonce}\n${address}\n`;
}

/** The header of a request that the guard answers once, as a user who exists in that request only. */
export function sessionHeaders(site: { url: string; private_key: string }, address: URL, now: number) {
  const nonce = randomBytes(16).toString('hex');
  const time = Math.floor(now / 1000);
  const text = sessionText(siteName(site.url), time, nonce, `${address.pathname}${address.search}`);
  const signature = guardSignature(text, keys.get(site.private_key));
  return { headers: { 'x-sitefleet-session': `${time} ${nonce} ${signature}` }, nonce };
}

const OPEN = '<sitefleet-guard>';
const CLOSE = '</sitefleet-guard>';

/**
 * The guard's answer to the request with this nonce; null if the body does not contain one: something else answered.
 */
export function readReply(body: Buffer, nonce: string, hide = (text: string) => text): GuardReply | null {
  const begin = body.indexOf(OPEN);
  const end = body.indexOf(CLOSE, begin);
  if (begin < 0 || end < 0) return null;
  const json = body.subarray(begin + OPEN.length, end);
  if (shapeProblem(json) !== null) return null;
  let value: unknown;
  try {
    value = JSON.parse(json.toString('utf8'));
  } catch {
    return null;
  }
  // A cached answer to another request has another nonce.
  if (!isObject(value) || value.protocol !== GUARD_PROTOCOL || value.nonce !== nonce) return null;
  if (value.ok === true) return { ok: true, value };
  const { error } = value;
  if (!isObject(error) || typeof error.code !== 'string') return null;
  return {
    ok: false,
    code: hide(error.code).slice(0, 40),
    message: typeof error.message === 'string' ? hide(error.message).slice(0, 500) : '',
    time: typeof value.time === 'number' ? value.time : null,
  };
}
