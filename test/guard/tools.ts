/**
 * Shared tools of the guard's tests: a client over the real network, digests computed independently of PHP, plugins of
 * any size.
 */

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Resolver } from '../../src/outbound/child/wire/resolve.js';
import { Transport } from '../../src/outbound/child/wire/transport.js';
import { GuardClient } from '../../src/outbound/guard/client.js';
import type { GuardFailure } from '../../src/outbound/guard/failure.js';
import { signedRequest } from '../../src/outbound/guard/protocol.js';
import { systemClock } from '../../src/runtime/clock.js';
import type { WordPress } from './wordpress.js';

let transport: Transport | undefined;

/** Reopened after each test file that has closed it: the files of a worker share this module. */
function openTransport(): Transport {
  const clock = systemClock;
  const resolver = new Resolver({ allowPrivate: true, lookup: undefined, timeoutMs: 5_000, now: clock.elapsed });
  transport ??= new Transport({ resolver, clock, allowPrivate: true, connectTimeoutMs: 5_000, finishMs: 0 });
  return transport;
}

export async function closeTransport(): Promise<void> {
  await transport?.close();
  transport = undefined;
}

export function clientOf(
  site: WordPress,
  privateKey: string,
  now: () => number = Date.now,
  url = site.url,
): GuardClient {
  const at = { url, private_key: privateKey, http_user: null, http_pass: null, ssl_verify: true };
  return new GuardClient(at, { exchange: (request) => openTransport().exchange(request), userAgent: 'test', now });
}

/** Sends one signed request unchanged, so that tests can manipulate it. */
export async function post(url: string, headers: Record<string, string>, body: string) {
  const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  return { status: answer.status, text: await answer.text() };
}

export function signed(site: WordPress, privateKey: string, action = 'hello', parameters = {}, now = Date.now()) {
  return signedRequest({ url: site.url, private_key: privateKey }, action, parameters, now);
}

/** The code of a call that must fail. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'no failure',
    (error: GuardFailure) => error.code,
  );
}

/** Of files that were read, by inode. */
const digests = new Map<string, { state: string; digest: string }>();
/** The kernel's clock for files moves on in steps, at most this long: a second write within a step leaves the same time. */
const STEP_MS = 1_000;

/** Name → SHA-256 of every file below a folder, or of one file. */
export function contents(path: string): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (at: string, name: string) => {
    const stat = lstatSync(at, { bigint: true });
    if (stat.isDirectory()) {
      found[`${name}/`] = '';
      for (const entry of readdirSync(at).sort()) look(join(at, entry), `${name}/${entry}`);
    } else {
      found[name] = stat.isFile() ? digestOf(at, stat) : 'no file';
    }
  };
  look(path, '');
  return found;
}

/**
 * A file is read again only when its inode has changed, which no program can hide: it sets the time of the content, not the time of the
 * inode. WordPress has 57 MB, and tests compare it before and after each of many updates.
 */
function digestOf(path: string, { dev, ino, size, ctimeNs, ctimeMs }: BigIntStats): string {
  const [inode, state] = [`${dev} ${ino}`, `${size} ${ctimeNs}`];
  const settled = Date.now() - Number(ctimeMs) > STEP_MS;
  const known = digests.get(inode);
  if (settled && known?.state === state) return known.digest;
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
  if (settled) digests.set(inode, { state, digest });
  return digest;
}

const KINDS = ['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'];
const SALTS = ['KEY', 'SALT'].flatMap((half) =>
  KINDS.map((kind) => createHash('sha256').update(`${kind}_${half} of the tests`).digest('hex')),
);

/** A file of the guard's folder as the guard itself writes it. */
export function sealed(name: string, text: string): string {
  const secret = createHmac('sha256', SALTS.join('\n')).update('sitefleet-guard').digest('hex');
  return `${createHmac('sha256', secret).update(`${name}\n${text}`).digest('hex')}\n${text}`;
}

/** A plugin's main file; `code` runs when it loads. */
export function plugin(version: string, code = ''): string {
  return `<?php\n/*\nPlugin Name: Test\nVersion: ${version}\n*/\n${code}\n`;
}

/** Writes a working plugin with `files` files of `bytes` bytes each beside its main file. */
export function writePlugin(site: WordPress, slug: string, version: string, files = 3, bytes = 200, code = ''): void {
  const all: Record<string, string | Buffer> = { [`plugins/${slug}/${slug}.php`]: plugin(version, code) };
  for (let i = 0; i < files; i += 1) {
    const inner = bytes > 1_000 ? randomBytes(bytes) : Buffer.alloc(bytes, `${version} ${i} `);
    all[`plugins/${slug}/part ${i % 7}/ä-${i}.php.txt`] = inner;
  }
  site.writeAll(all);
}

/**
 * A visit without following redirects. Reads the whole body: undici 7 crashes on an unread one whose connection ends.
 */
export async function visit(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers, redirect: 'manual' });
  const cookies = answer.headers.getSetCookie();
  return { status: answer.status, headers: answer.headers, cookies, text: await answer.text() };
}

export async function status(url: string): Promise<number> {
  return (await visit(url)).status;
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
