/** Long answers that need no login: packed and unpacked once, however often strangers ask for them. */

import { createHook } from 'node:async_hooks';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Hono } from 'hono';
import { beforeAll, expect, it } from 'vitest';
import { builtFolder } from '../../src/runtime/built-folder.js';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { testApp } from '../support/harness.js';

let http: Hono<HttpEnv>;

beforeAll(async () => {
  http = await (await testApp({ sites: 1 })).service.http();
});

const UNPACK = { identity: (bytes: Buffer) => bytes, gzip: gunzipSync, br: brotliDecompressSync };
const largest = (folder: 'docs' | 'web') => {
  const assets = join(builtFolder(folder), 'assets');
  const bytes = (file: string) => statSync(join(assets, file)).size;
  const scripts = readdirSync(assets).filter((file) => file.endsWith('.js.br'));
  return scripts.sort((a, b) => bytes(b) - bytes(a))[0]?.slice(0, -'.br'.length);
};

/** How often something was packed or unpacked meanwhile. */
async function packings(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const init = (_id: number, type: string) => {
    if (type === 'ZLIB') count++;
  };
  const hook = createHook({ init }).enable();
  await work();
  hook.disable();
  return count;
}

it.each([
  ['the description of the routes', () => '/v2/openapi.json'],
  ['the description behind the reference', () => '/docs/openapi.json'],
  ['the script of the reference', () => `/docs/assets/${largest('docs')}`],
  ['the script of the page', () => `/assets/${largest('web')}`],
])('%s is packed once for all who ask', async (_what, path) => {
  const ask = async (encoding: keyof typeof UNPACK) => {
    const answer = await http.request(`http://127.0.0.1${path()}`, { headers: { 'accept-encoding': encoding } });
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([
      200,
      encoding === 'identity' ? null : encoding,
    ]);
    expect(answer.headers.get('vary')).toBe('Accept-Encoding');
    return Buffer.from(await answer.arrayBuffer());
  };
  const askAll = () => Promise.all((['identity', 'gzip', 'br', 'gzip', 'br', 'identity'] as const).map(ask));
  const first: Buffer[] = [];
  expect(await packings(async () => first.push(...(await askAll())))).toBeGreaterThan(0);
  const again: Buffer[] = [];
  expect(await packings(async () => again.push(...(await askAll()), ...(await askAll())))).toBe(0);
  const wanted = [...first, ...first];
  expect(again.map((bytes, at) => bytes.equals(wanted[at] as Buffer))).toEqual(wanted.map(() => true));
  const [plain, gzip, br] = first as [Buffer, Buffer, Buffer];
  expect(plain.length).toBeGreaterThan(100_000);
  expect(UNPACK.gzip(gzip).equals(plain)).toBe(true);
  expect(UNPACK.br(br).equals(plain)).toBe(true);
});
