/** Behaviour common to all answers, both over a socket and in-process. */

import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Hono } from 'hono';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RequestFacts } from '../../src/surfaces/http/pipeline.js';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { createRouter } from '../../src/surfaces/http/router.js';
import type { HttpListener } from '../../src/surfaces/http/server.js';
import { serveLocally } from '../support/local-server.js';
import { silent } from '../support/surfaces.js';

const STANDARD = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'x-request-id': 'given-1',
};

function ways(): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get('/plain', () => new Response('{}', { headers: { 'content-type': 'application/json' } }));
  app.get(
    '/own',
    () => new Response('{}', { headers: { 'Cache-Control': 'public', 'X-Frame-Options': 'SAMEORIGIN' } }),
  );
  app.get('/headers', (c) => {
    c.header('Link', '<a>; rel="next"');
    c.header('Cache-Control', 'private');
    return c.json({});
  });
  app.get('/cookies', (c) => {
    c.header('Set-Cookie', 'a=1', { append: true });
    c.header('Set-Cookie', 'b=2', { append: true });
    return c.body(null, 204);
  });
  app.get('/later', async () => new Response('later'));
  app.get('/stream', () => new Response(new ReadableStream({ start: (to) => void to.close() })));
  app.get('/away', () => new Response(null, { status: 503 }));
  app.get('/away-long', () => new Response(null, { status: 503, headers: { 'Retry-After': '77' } }));
  app.get('/bug', () => {
    throw new TypeError('secret internals');
  });
  app.get('/held', async (c) => {
    held = c.env.incoming;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return c.text('held');
  });
  app.post('/echo', async (c) => c.text(await c.req.text()));
  app.get('/events', (c) => {
    c.env.endless = true;
    const stream = new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(': here\n\n')) });
    return c.body(stream, 200, { 'Content-Type': 'text/event-stream' });
  });
  return app;
}

/** Of the last `/held`, and what ends it. */
let held: IncomingMessage | undefined;
let release: () => void = () => undefined;
const counted: RequestFacts[] = [];
const lines: Record<string, unknown>[] = [];

function shell(maxBody = 1000): Hono<HttpEnv> {
  return createRouter({
    config: { host: '127.0.0.1', base_url: null, trust_proxy: false },
    log: { ...silent, info: (facts) => void lines.push(facts) },
    newRequestId: () => 'made',
    ready: async () => ({ ok: true, reasons: [] }),
    metrics: { token: null, request: (facts) => void counted.push(facts), text: async () => '' },
    mounts: [{ at: '/', app: ways() }],
    maxBody,
  });
}

type Ask = (path: string, init?: RequestInit) => Promise<Response>;
let listener: HttpListener;
/** One that takes larger bodies. */
let roomy: HttpListener;
const app = shell();
const inProcess: Ask = async (path, init) => app.request(path, init);
const overSocket: Ask = (path, init) => fetch(`${listener.url}${path}`, init);

beforeAll(async () => {
  listener = await serveLocally(shell());
  roomy = await serveLocally(shell(100_000));
});

/** Sends raw bytes and reads until the server closes. */
function raw(text: string, { port } = listener): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}

describe.each<[string, Ask]>([
  ['in the process', inProcess],
  ['over a socket', overSocket],
])('an answer %s', (_where, ask) => {
  const with_ = (path: string, init: RequestInit = {}) =>
    ask(path, { ...init, headers: { 'x-request-id': 'given-1', ...(init.headers as object) } });

  it.each([
    ['/plain', 200],
    ['/later', 200],
    ['/stream', 200],
    ['/cookies', 204],
    ['/bug', 500],
    ['/nowhere', 404],
    ['/healthz', 200],
  ])('%s carries all headers', async (path, status) => {
    const answer = await with_(path);
    expect(answer.status).toBe(status);
    expect(Object.fromEntries(answer.headers)).toMatchObject(STANDARD);
  });

  it('keeps what it says itself, once', async () => {
    const own = await with_('/own');
    expect([own.headers.get('cache-control'), own.headers.get('x-frame-options')]).toEqual(['public', 'SAMEORIGIN']);
    expect(own.headers.get('x-content-type-options')).toBe('nosniff');
    const headers = (await with_('/headers')).headers;
    expect([headers.get('cache-control'), headers.get('link')]).toEqual(['private', '<a>; rel="next"']);
    expect((await with_('/cookies')).headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it('of HEAD has the headers of GET', async () => {
    const answer = await with_('/own', { method: 'HEAD' });
    expect([answer.headers.get('cache-control'), answer.headers.get('referrer-policy')]).toEqual([
      'public',
      'no-referrer',
    ]);
    expect(await answer.text()).toBe('');
  });

  it('that refuses for now says when to come again', async () => {
    expect((await with_('/away')).headers.get('retry-after')).toBe('5');
    expect((await with_('/away-long')).headers.get('retry-after')).toBe('77');
    expect((await with_('/plain')).headers.has('retry-after')).toBe(false);
  });

  it('is counted and noted, without the query', async () => {
    counted.length = 0;
    lines.length = 0;
    await with_('/plain?token=secret');
    await with_('/nowhere');
    const ms = expect.any(Number);
    expect(counted).toEqual([
      { surface: 'other', method: 'GET', status: 200, ms },
      { surface: 'other', method: 'GET', status: 404, ms },
    ]);
    const common = { request_id: 'given-1', method: 'GET', address: '127.0.0.1', ms };
    expect(lines).toEqual([
      { ...common, path: '/plain', status: 200 },
      { ...common, path: '/nowhere', status: 404 },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('to a body over the limit is a refusal, announced or not', async () => {
    const fits = await with_('/echo', { method: 'POST', body: 'x'.repeat(1000) });
    expect([fits.status, (await fits.text()).length]).toEqual([200, 1000]);
    const parts = (n: number) =>
      new ReadableStream({
        start(to) {
          for (let i = 0; i < n; i++) to.enqueue(new TextEncoder().encode('y'.repeat(100)));
          to.close();
        },
      });
    const sent = (n: number) => ({
      method: 'POST',
      body: parts(n),
      duplex: 'half',
      headers: { 'transfer-encoding': 'chunked' },
    });
    if (ask === inProcess) {
      const chunked = await with_('/echo', sent(5) as RequestInit);
      expect([chunked.status, (await chunked.text()).length]).toEqual([200, 500]);
    }
    // Over a socket, fetch sets the length itself.
    const length: Record<string, string> = ask === inProcess ? { 'content-length': '1001' } : {};
    const announced = { method: 'POST', body: 'x'.repeat(1001), headers: length };
    for (const init of ask === inProcess ? [announced, sent(11) as RequestInit] : [announced]) {
      const refused = await with_('/echo', init);
      expect([refused.status, await refused.json()]).toMatchObject([
        413,
        { code: 'svc_rest_request_entity_too_large' },
      ]);
      expect(refused.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });
});

describe('over a socket', () => {
  it('a chunked body is read no further than the limit', async () => {
    const chunk = `64\r\n${'z'.repeat(100)}\r\n`;
    const head = 'POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
    expect(await raw(`${head}${chunk.repeat(5)}0\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 [\s\S]*z{500}/);
    expect(await raw(`${head}${chunk.repeat(20)}`)).toMatch(/^HTTP\/1.1 413 [\s\S]*svc_rest_request_entity_too_large/);
  });

  it('a chunked body may have any number of chunks, however small', async () => {
    const head = 'POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
    const inChunks = (chunks: number) => raw(`${head}${'1\r\nz\r\n'.repeat(chunks)}0\r\n\r\n`, roomy);
    const whole = await inChunks(100_000);
    expect([whole.slice(0, 13), whole.endsWith(`\n${'z'.repeat(100_000)}`)]).toEqual(['HTTP/1.1 200 ', true]);
    expect(await inChunks(100_001)).toMatch(/^HTTP\/1.1 413 [\s\S]*The body is larger than 100000 bytes\./);
  });

  it('the body of a read is dropped while the answer takes its time', async () => {
    const head = 'GET /held HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
    const tiny = '1\r\nz\r\n'.repeat(20_000);
    const answer = raw(`${head}${tiny}0\r\n\r\n`);
    await expect.poll(() => held?.socket.bytesRead).toBeGreaterThan(tiny.length);
    expect(held?.readableLength).toBe(0);
    release();
    expect(await answer).toMatch(/^HTTP\/1.1 200 [\s\S]*held/);
  });

  it('requests that come together are all answered, those of one connection in their order', async () => {
    const request = (i: number) => `GET /plain HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: n${i}\r\n`;
    const last = 'GET /plain HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const lines = Array.from({ length: 40 }, (_, i) => `${request(i)}\r\n`);
    const connections = await Promise.all(Array.from({ length: 8 }, () => raw(lines.join('') + last)));
    for (const answers of connections) {
      const ids = [...answers.matchAll(/x-request-id: n(\d+)/g)].map(([, id]) => Number(id));
      expect(ids).toEqual(lines.map((_, i) => i));
    }
  });

  it('a newcomer is answered while many others keep on asking', async () => {
    let on = true;
    const busy = Array.from({ length: 60 }, async () => {
      while (on) await (await fetch(`${listener.url}/later`)).text();
    });
    const answers = [];
    for (let i = 0; i < 5; i++)
      answers.push(await raw('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'));
    on = false;
    await Promise.all(busy);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });

  it('names of headers are written once', async () => {
    for (const path of ['/plain', '/own', '/headers', '/stream', '/away-long', '/nowhere']) {
      const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      const names = answer
        .slice(0, answer.indexOf('\r\n\r\n'))
        .split('\r\n')
        .slice(1)
        .map((line) => line.slice(0, line.indexOf(':')).toLowerCase());
      expect(names).toEqual([...new Set(names)]);
      expect(names).toContain('x-request-id');
    }
  });

  it('what cannot be a request is refused with an empty answer', async () => {
    const answer = await raw('GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe('0\r\n\r\n');
  });

  it('a stream that only listens does not hold up the end', async () => {
    const own = await serveLocally(shell());
    const answer = await fetch(`${own.url}/events`);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const reader = answer.body?.getReader();
    await reader?.read();
    // Longer than any test may take.
    await own.close(3_600_000);
    await reader?.cancel().catch(() => undefined);
  });
});
