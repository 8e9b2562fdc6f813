/** Several reads of the page in one request: each is answered as alone, in the order in which the answers arrive. */

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { brotliDecompressSync, createGunzip, gunzipSync } from 'node:zlib';
import type { Hono } from 'hono';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { readsResponse } from '../../src/surfaces/page/session-reads.js';
import { cheapHash } from '../support/cheap-hash.js';
import { type TestApp, testApp } from '../support/harness.js';

const URL_ = 'http://127.0.0.1:8787';
const HOUR = 3600_000;

let app: TestApp;
let http: Hono<HttpEnv>;

beforeAll(async () => {
  app = await testApp({ sites: 1 });
  await app.connect(0);
  http = await app.service.http();
});

let users = 0;
async function login(rights: ('read' | 'write')[] = ['read']): Promise<string> {
  const name = `ada-${++users}`;
  await app.service.store.users.add({ name, password_hash: cheapHash('correct horse'), rights, now: app.clock.now() });
  const now = app.clock.now();
  const link = await app.service.store.loginLinks.add(name, now, now + HOUR);
  const reply = await send('/session', { link });
  return cookieIn(reply);
}

const cookieIn = (reply: Response) => reply.headers.get('set-cookie')?.split(';')[0] ?? '';

async function send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers } };
  return http.request(`${URL_}${path}`, { ...init, body: JSON.stringify(body) });
}

interface Answer {
  index: number;
  status: number;
  body: unknown;
}

function answersIn(text: string): Answer[] {
  const lines = text.split('\n').filter((line) => line !== '');
  expect(lines.length % 2).toBe(0);
  return lines.flatMap((line, at) =>
    at % 2 === 0 ? [{ ...(JSON.parse(line) as Answer), body: JSON.parse(lines[at + 1] ?? '') as unknown }] : [],
  );
}

const sorted = (answers: Answer[]) => answers.sort((a, b) => a.index - b.index);
const read = async (path: string, cookie: string): Promise<Answer> => {
  const reply = await http.request(`${URL_}${path}`, { headers: { cookie } });
  return { index: 0, status: reply.status, body: await reply.json() };
};

const PATHS = [
  '/v2/sites?per_page=5&search=e%20e',
  '/v2/sites/1',
  '/v2/sites/77',
  '/v2/tags?per_page=1000000',
  '/v2/users',
  '/v2/nothing',
];

describe('several reads in one request', () => {
  it('are answered as if each had been sent alone', async () => {
    for (const rights of [['read'], ['read', 'write']] as const) {
      const cookie = await login([...rights]);
      const reply = await send('/session/reads', { paths: PATHS }, { cookie });
      expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
      const alone = await Promise.all(PATHS.map((path) => read(path, cookie)));
      const expected = alone.map((answer, index) => ({ ...answer, index }));
      expect(sorted(answersIn(await reply.text()))).toEqual(expected);
      expect(new Set(alone.map(({ status }) => status)).size).toBeGreaterThan(2);
    }
  });

  it.each([
    ['br', (packed: Buffer) => brotliDecompressSync(packed)],
    ['gzip', (packed: Buffer) => gunzipSync(packed)],
  ])('can be compressed: %s', async (encoding, unpack) => {
    const cookie = await login();
    const headers = { cookie, 'accept-encoding': encoding };
    const reply = await send('/session/reads', { paths: ['/v2/openapi.json', '/v2/sites'] }, headers);
    expect(reply.headers.get('content-encoding')).toBe(encoding);
    const packed = Buffer.from(await reply.arrayBuffer());
    const text = unpack(packed).toString();
    expect(packed.length).toBeLessThan(text.length / 4);
    expect(sorted(answersIn(text)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('come as soon as they are there, compressed too', async () => {
    const cookie = await login(['read', 'write']);
    const { faults } = app.fleet.site(0);
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    faults.latencyMs = () => held;
    const paths = ['/v2/comments?websites=1', '/v2/sites/1'];
    const reply = await send('/session/reads', { paths }, { cookie, 'accept-encoding': 'gzip' });
    const unpacked = createGunzip();
    let text = '';
    const first = new Promise<void>((resolve) => {
      unpacked.on('data', (piece: Buffer) => {
        text += piece.toString();
        if (text.endsWith('\n')) resolve();
      });
    });
    const all = new Promise((resolve) => unpacked.on('end', resolve));
    const sent = (async () => {
      for await (const piece of reply.body ?? []) unpacked.write(piece);
      unpacked.end();
    })();
    await first;
    expect(answersIn(text)).toMatchObject([{ index: 1, status: 200, body: { data: { id: 1 } } }]);
    faults.latencyMs = undefined;
    letGo();
    await Promise.all([sent, all]);
    expect(answersIn(text)).toMatchObject([
      { index: 1, status: 200 },
      { index: 0, status: 200 },
    ]);
  });

  it('replace a cookie that is due, once', async () => {
    const cookie = await login();
    app.clock.move(2 * HOUR);
    const reply = await send('/session/reads', { paths: ['/v2/sites', '/v2/tags'] }, { cookie });
    expect(answersIn(await reply.text()).map(({ status }) => status)).toEqual([200, 200]);
    const next = cookieIn(reply);
    expect([next === '', next === cookie]).toEqual([false, false]);
    expect((await read('/v2/sites', next)).status).toBe(200);
  });
});

describe('answers that wait for their client', () => {
  const paths = Array.from({ length: 20 }, (_, i) => `/v2/sites?page=${i + 1}`);
  const json = (body: string) => new Response(body, { headers: { 'content-type': 'application/json' } });

  it('are six at most: the next read begins once one was taken', async () => {
    let begun = 0;
    const response = readsResponse(paths, null, () => {
      begun += 1;
      return json(`["${'x'.repeat(100_000)}"]`);
    });
    // In all these turns, all could be read.
    for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
    // Beside the six, the streams between them and the client hold a few.
    expect(begun).toBeLessThan(10);
    const answers = answersIn(await response.text());
    expect([begun, answers.length, new Set(answers.map(({ index }) => index)).size]).toEqual([20, 20, 20]);
  });

  it('are sent up to 4 MB each, on one line', async () => {
    const large = 4 * 1024 * 1024 - 2;
    const bodies = [`"${'x'.repeat(large)}"`, `"${'x'.repeat(large + 1)}"`, '{\n"a":\n1}'];
    const response = readsResponse(paths.slice(0, 3), null, (path) => json(bodies[Number(path.at(-1)) - 1] ?? ''));
    expect(sorted(answersIn(await response.text()))).toMatchObject([
      { status: 200 },
      { status: 413, body: { message: 'The answer is larger than 4 MB.', data: { advice: 'Read it on its own.' } } },
      { status: 200, body: { a: 1 } },
    ]);
  });
});

describe('what is no list of reads', () => {
  const all = ['/v2/sites'];
  it.each([
    ['an address outside /v2', { paths: [...all, '/mcp'] }, 'paths[1]'],
    ['another server', { paths: ['http://example.com/v2/sites'] }, 'paths[0]'],
    ['the same without a scheme', { paths: ['//example.com/v2/sites'] }, 'paths[0]'],
    ['a way out of /v2', { paths: ['/v2/../session'] }, 'paths[0]'],
    ['an encoded way out', { paths: ['/v2/%2e%2e/session'] }, 'paths[0]'],
    ['a line break', { paths: ['/v2/sites\n'] }, 'paths[0]'],
    ['what never ends', { paths: ['/v2/events'] }, 'paths[0]'],
    ['a file of many megabytes', { paths: ['/v2/actions/export?limit=10000'] }, 'paths[0]'],
    ['a number', { paths: [7] }, 'paths[0]'],
    ['no list', { paths: '/v2/sites' }, 'paths'],
    ['an empty list', { paths: [] }, 'paths'],
    ['too many', { paths: Array.from({ length: 21 }, () => '/v2/sites') }, 'paths'],
    ['an unknown field', { paths: all, method: 'DELETE' }, 'method'],
  ])('is refused by name: %s', async (_, body, field) => {
    const reply = await send('/session/reads', body, { cookie: await login() });
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { code: 'svc_invalid_input', message: expect.stringContaining(field), data: { field } },
    ]);
  });

  it('is refused without a session, with one that has ended, and as a form', async () => {
    const body = { paths: all };
    expect((await send('/session/reads', body)).status).toBe(401);
    const cookie = await login();
    expect((await send('/session/reads', body, { cookie, 'Content-Type': 'text/plain' })).status).toBe(415);
    app.clock.move(13 * HOUR);
    expect((await send('/session/reads', body, { cookie })).status).toBe(401);
  });
});

it('of requests that are not read, twelve of one user wait at a time', async () => {
  const [cookie, other] = [await login(), await login()];
  const open: ServerResponse[] = [];
  const ask = async (as: string) => {
    const outgoing = new ServerResponse(new IncomingMessage(new Socket()));
    open.push(outgoing);
    const headers = { 'Content-Type': 'application/json', cookie: as };
    const init = { method: 'POST', headers, body: JSON.stringify({ paths: ['/v2/tags'] }) };
    return (await http.request(`${URL_}/session/reads`, init, { outgoing })).status;
  };
  for (let n = 0; n < 12; n++) expect(await ask(cookie)).toBe(200);
  expect([await ask(cookie), await ask(other)]).toEqual([429, 200]);
  open[0]?.emit('close');
  expect(await ask(cookie)).toBe(200);
});
