/** A minimal client of the child protocol, so that tests of the simulator do not depend on the product's client. */

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { DemoSite } from '../../src/demo/fleet.js';

export const SERVER = 'http://127.0.0.1:9999/wp-admin/';
export type Json = Record<string, unknown>;

export interface KeyPair {
  publicKey: string;
  privateKey: KeyObject;
}

export interface Reply {
  status: number;
  /** The decoded frame; undefined when there was none. */
  value: unknown;
  body: string;
  headers: Headers;
}

const HASHES: Record<number, string> = { 1: 'sha1', 6: 'sha224', 7: 'sha256', 8: 'sha384', 9: 'sha512' };

export function makeKey(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })), privateKey };
}

export const KEY = makeKey();

export function encode(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function form(fields: Record<string, string | number>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${encode(name)}=${encode(String(value))}`)
    .join('&');
}

export async function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    redirect: 'manual',
  });
  const answer = await response.text();
  const found = /<mainwp>(.*?)<\/mainwp>/s.exec(answer);
  const content = found?.[1] === undefined ? '' : Buffer.from(found[1], 'base64').toString('utf8');
  const value: unknown = content === '' ? undefined : JSON.parse(content);
  return { status: response.status, value, body: answer, headers: response.headers };
}

export function ajax(site: DemoSite): string {
  return `${site.url}wp-admin/admin-ajax.php`;
}

export async function register(site: DemoSite, fields: Record<string, string | number> = {}, key = KEY): Promise<Json> {
  const reply = await post(
    ajax(site),
    form({
      user: site.admin,
      function: 'register',
      mainwpver: '6.1.2',
      pubkey: key.publicKey,
      server: SERVER,
      uniqueId: site.uniqueId,
      userpwd: encode(site.password),
      ...fields,
    }),
  );
  return record(reply.value);
}

export interface SignOptions {
  key?: KeyPair;
  algorithm?: number;
  /** Omits `sign_algo`. */
  silent?: boolean;
  nonce?: string;
}

export function signedBody(
  site: DemoSite,
  name: string,
  fields: Record<string, string | number> = {},
  options: SignOptions = {},
): string {
  const { key = KEY, algorithm = 7, nonce = '4242' } = options;
  const signature = sign(HASHES[algorithm], Buffer.from(name + nonce), key.privateKey).toString('base64');
  const algo: Record<string, number> = options.silent ? {} : { sign_algo: algorithm };
  const common = { user: site.admin, function: name, nonce, mainwpver: '6.1.2' };
  return form({ ...common, ...fields, ...algo, mainwpsignature: signature });
}

export function callRaw(
  site: DemoSite,
  name: string,
  fields: Record<string, string | number> = {},
  options: SignOptions = {},
): Promise<Reply> {
  return post(ajax(site), signedBody(site, name, fields, options));
}

/** A signed call whose answer is an object. */
export async function call(
  site: DemoSite,
  name: string,
  fields: Record<string, string | number> = {},
  options: SignOptions = {},
): Promise<Json> {
  return record((await callRaw(site, name, fields, options)).value);
}

export function record(value: unknown): Json {
  if (typeof value !== 'object' || value === null) throw new Error(`expected an object, got ${JSON.stringify(value)}`);
  return value as Json;
}

/** The value at a path in an answer. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((node, key) => record(node)[key], value);
}
