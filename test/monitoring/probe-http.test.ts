import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { loginHeader } from '../../src/outbound/http-login.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import type { HttpProbe } from '../../src/outbound/probe/probe.js';
import { closing } from '../support/cleanup.js';
import { authority } from './authority.js';
import { httpServer, tcpServer, tlsServer } from './servers.js';

const probe = closing(createProbe({ allowPrivate: true, references: [] }));

const GET: Omit<HttpProbe, 'url'> = {
  method: 'GET',
  http_user: null,
  http_pass: null,
  ssl_verify: true,
  timeoutMs: 60_000,
  expected: [200],
  maxBytes: 1_000,
  signal: new AbortController().signal,
};

const look = (url: string, change: Partial<HttpProbe> = {}) => probe.http({ ...GET, url, ...change });

describe('an HTTP probe', () => {
  it('answers status, body and the time of each step', async () => {
    const headers = { 'retry-after': '600' };
    const port = await httpServer((_, reply) => setTimeout(() => reply.writeHead(200, headers).end('hello'), 50));
    const answer = await look(`http://127.0.0.1:${port}/`);
    expect(answer).toMatchObject({ http_status: 200, body: 'hello', redirects: 0, failure: null });
    expect(answer).toMatchObject({ ip: '127.0.0.1', retry_after: '600' });
    expect(answer.timing.first_byte_ms).toBeGreaterThanOrEqual(45);
    expect(answer.timing.total_ms).toBeGreaterThanOrEqual(answer.timing.first_byte_ms ?? 0);
    expect(answer.timing).toMatchObject({ dns_ms: null, tls_ms: null, connect_ms: expect.any(Number) });
  });

  it('follows redirects, except those that are expected, and keeps the login to its host', async () => {
    const seen: (string | undefined)[] = [];
    const other = await httpServer((request, reply) => {
      seen.push(request.headers.authorization);
      reply.end('there');
    });
    const port = await httpServer((request, reply) => {
      seen.push(request.headers.authorization);
      reply.writeHead(302, { location: request.url === '/' ? '/next' : `http://127.0.0.1:${other}/` }).end();
    });
    const url = `http://127.0.0.1:${port}/`;
    const answer = await look(url, { http_user: 'ada', http_pass: 'secret' });
    expect(answer).toMatchObject({ http_status: 200, body: 'there', redirects: 2 });
    const login = `Basic ${Buffer.from('ada:secret').toString('base64')}`;
    expect(seen).toEqual([login, login, undefined]);
    expect(await look(url, { expected: [302] })).toMatchObject({ http_status: 302, redirects: 0 });
  });

  it('does not repeat its login in what it says of a host that a redirect named after it', async () => {
    const port = await httpServer((request, reply) => {
      const [, pass] = Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64')
        .toString()
        .split(':');
      reply.writeHead(302, { location: `http://x-${pass}.example:8080/` }).end();
    });
    const nameless = closing(createProbe({ allowPrivate: true, references: [], lookup: async () => [] }));
    const url = `http://127.0.0.1:${port}/`;
    const answer = await nameless.http({ ...GET, url, http_user: 'ada', http_pass: 'Sekret77' });
    expect(answer.failure?.message).toBe('x-(hidden).example has no address: the name does not resolve.');
  });

  it('posts a changing value, and does not post again where it is sent elsewhere', async () => {
    const seen: string[] = [];
    const port = await httpServer((request, reply) => {
      let body = '';
      request.on('data', (chunk) => {
        body += String(chunk);
      });
      request.on('end', () => {
        seen.push(`${request.method} ${body}`);
        if (request.url === '/') reply.writeHead(303, { location: '/thanks' }).end();
        else reply.end('ok');
      });
    });
    await look(`http://127.0.0.1:${port}/`, { method: 'POST' });
    expect(seen[0]).toMatch(/^POST time=\d{10}$/);
    expect(seen[1]).toBe('GET ');
  });

  it('gives up on redirects without end', async () => {
    const port = await httpServer((_, reply) => reply.writeHead(301, { location: '/again' }).end());
    const answer = await look(`http://127.0.0.1:${port}/`);
    expect(answer).toMatchObject({ http_status: 0, failure: { kind: 'bad_answer' } });
  });

  it('reads no more than it wants, also of compressed and endless bodies', async () => {
    const zipped = await httpServer((_, reply) =>
      reply.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(5_000_000))),
    );
    const answer = await look(`http://127.0.0.1:${zipped}/`);
    expect(answer).toMatchObject({ http_status: 200, truncated: true, body: 'x'.repeat(1_000) });
    const endless = await httpServer((_, reply) => {
      reply.flushHeaders();
      const drip = setInterval(() => reply.write('y'.repeat(500)), 5);
      reply.on('close', () => clearInterval(drip));
    });
    expect(await look(`http://127.0.0.1:${endless}/`)).toMatchObject({ http_status: 200, truncated: true });
    expect(await look(`http://127.0.0.1:${endless}/`, { maxBytes: 0 })).toMatchObject({ http_status: 200, body: '' });
    expect(await look(`http://127.0.0.1:${endless}/`, { method: 'HEAD' })).toMatchObject({
      http_status: 200,
      body: '',
    });
  });

  it.each([13_000, 26_000, 27_000, 39_000])(
    'reads what takes long to decompress while the server hangs up: %s blocks',
    async (blocks) => {
      // Of gzip: its head, blocks with nothing in them, one with the text, sum and length of it.
      const empty = Buffer.alloc(5 * blocks, Buffer.from('000000ffff', 'hex'));
      const [head, text] = [
        Buffer.from('1f8b0800000000000003', 'hex'),
        Buffer.from('010500faff68656c6c6f86a6103605000000', 'hex'),
      ];
      const port = await tcpServer((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\n\r\n');
          socket.end(Buffer.concat([head, empty, text]));
        });
      });
      // An error that undici throws there is caught by no one: the run fails, and this look never ends.
      const answer = await look(`http://127.0.0.1:${port}/`, { maxBytes: 1_000_000, timeoutMs: 10_000 });
      expect(answer).toMatchObject({ http_status: 200, body: 'hello', truncated: false, failure: null });
    },
  );

  it('takes in no more of a body than it needs, though nothing comes of it', async () => {
    const empty = Buffer.alloc(100_000, Buffer.from('000000ffff', 'hex'));
    const port = await httpServer((_, reply) => {
      reply.writeHead(200, { 'content-encoding': 'gzip' }).write(Buffer.from('1f8b0800000000000003', 'hex'));
      const more = () => void (reply.destroyed || reply.write(empty, more));
      more();
    });
    expect(await look(`http://127.0.0.1:${port}/`)).toMatchObject({ http_status: 200, body: '', failure: null });
  });

  it('reads no more than so many pieces of a body', async () => {
    const inPieces = (pieces: number) =>
      tcpServer((socket) => {
        const body = '1\r\nz\r\n'.repeat(pieces);
        socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`));
      });
    const limits = { maxBytes: 1_000_000, timeoutMs: 30_000 };
    const most = 'z'.repeat(20_000);
    const whole = await look(`http://127.0.0.1:${await inPieces(20_000)}/`, limits);
    expect(whole).toMatchObject({ http_status: 200, truncated: false, body: most });
    const cut = await look(`http://127.0.0.1:${await inPieces(40_000)}/`, limits);
    expect(cut).toMatchObject({ http_status: 200, truncated: true, body: most });
  });

  it('reads no more than some interim answers', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n';
    const fine = await tcpServer((socket) =>
      socket.once('data', () => socket.end(`${early.repeat(20)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi`)),
    );
    expect(await look(`http://127.0.0.1:${fine}/`)).toMatchObject({ http_status: 200, body: 'hi', failure: null });
    const endless = await tcpServer((socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write(early.repeat(1_000)));
      };
      socket
        .once('data', more)
        .on('drain', more)
        .on('error', () => undefined);
    });
    const { failure } = await look(`http://127.0.0.1:${endless}/`, { timeoutMs: 30_000 });
    expect(failure).toEqual({
      kind: 'bad_answer',
      message: `127.0.0.1:${endless} sends interim answers and no real one.`,
    });
  });

  it('reads the charset a page declares', async () => {
    const port = await httpServer((_, reply) =>
      reply.writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' }).end(Buffer.from([0x53, 0xfc, 0xdf])),
    );
    expect((await look(`http://127.0.0.1:${port}/`)).body).toBe('Süß');
  });

  it('names what failed', async () => {
    const silent = await tcpServer(() => undefined);
    const cut = await tcpServer((socket) => socket.destroy());
    const babble = await tcpServer((socket) => socket.once('data', () => socket.write('220 mail.example ESMTP\r\n')));
    const closed = await tcpServer(() => undefined);
    const kinds = async (url: string, change: Partial<HttpProbe> = {}) => (await look(url, change)).failure?.kind;
    expect(await kinds(`http://127.0.0.1:${silent}/`, { timeoutMs: 100 })).toBe('timed_out');
    expect(await kinds(`http://127.0.0.1:${cut}/`)).toBe('unreachable');
    expect(await kinds(`http://127.0.0.1:${babble}/`)).toBe('bad_answer');
    expect(await kinds(`https://127.0.0.1:${closed}/`, { timeoutMs: 200 })).toBe('timed_out');
    expect(await kinds('http://127.0.0.1:9/')).toBe('unreachable');
    expect(await kinds('ftp://127.0.0.1/')).toBe('bad_answer');
  });

  it('checks certificates unless the site says not to', async () => {
    const ca = authority();
    const port = await tlsServer({ ...ca.issue({ host: '127.0.0.1' }) });
    const answer = await look(`https://127.0.0.1:${port}/`);
    expect(answer.failure).toMatchObject({ kind: 'tls' });
    // The server speaks TLS only: after the handshake it just hangs up.
    const lenient = await look(`https://127.0.0.1:${port}/`, { ssl_verify: false });
    expect(lenient.failure?.kind).toBe('unreachable');
    expect(lenient.timing.tls_ms).toBeGreaterThan(0);
  });

  it('calls no private address unless it may, whatever a name resolves to or a site redirects to', async () => {
    let asked = 0;
    const port = await httpServer((_, reply) => {
      asked++;
      reply.end();
    });
    const strict = closing(
      createProbe({
        allowPrivate: false,
        references: [],
        lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      }),
    );
    const request = { ...GET, url: `http://inside.example:${port}/` };
    expect(await strict.http(request)).toMatchObject({ http_status: 0, failure: { kind: 'blocked_address' } });
    expect(await strict.http({ ...request, url: `http://127.0.0.1:${port}/` })).toMatchObject({
      failure: { kind: 'blocked_address' },
    });
    expect(asked).toBe(0);
  });

  it('ends with the caller’s signal', async () => {
    const silent = await tcpServer(() => undefined);
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('enough')), 50);
    await expect(look(`http://127.0.0.1:${silent}/`, { signal: stop.signal })).rejects.toThrow('enough');
  });
});

describe('our own network', () => {
  it('is up when any reference answers, and the answer holds for a while', async () => {
    let asked = 0;
    const port = await httpServer((_, reply) => {
      asked++;
      reply.writeHead(404).end();
    });
    const references = ['http://127.0.0.1:9/', `http://127.0.0.1:${port}/`];
    const one = createProbe({ allowPrivate: true, references });
    expect(await one.online()).toBe(true);
    expect(await one.online()).toBe(true);
    expect(asked).toBe(1);
    const cut = createProbe({ allowPrivate: true, references: ['http://127.0.0.1:9/'] });
    expect(await cut.online()).toBe(false);
    await Promise.all([one.close(), cut.close()]);
  });
});

describe('registrable domains', () => {
  it.each([
    ['www.example.co.uk', 'example.co.uk'],
    ['example.com', 'example.com'],
    ['a.b.c.example.com.au', 'example.com.au'],
    ['shop.münchen.de', 'xn--mnchen-3ya.de'],
    ['127.0.0.1', null],
    ['::1', null],
    ['localhost', null],
    ['wordpress.local', null],
    ['com', null],
  ])('%s → %s', (host, domain) => {
    expect(probe.registrableDomain(host)).toBe(domain);
  });
});

describe('the HTTP login of a site', () => {
  const of = (site: string, to: string) =>
    loginHeader({ http_user: 'ada', http_pass: 'secret' }, new URL(site), new URL(to));

  it.each([
    ['http://a.example/', 'http://a.example/next'],
    ['https://a.example/', 'https://a.example:443/next'],
    ['http://a.example/', 'https://a.example/'],
  ])('of %s is sent to %s', (site, to) => {
    // From RFC 7617: the words "ada:secret" in base64.
    expect(of(site, to)).toEqual({ authorization: 'Basic YWRhOnNlY3JldA==' });
  });

  it.each([
    ['https://a.example/', 'http://a.example/'],
    ['http://a.example/', 'http://b.example/'],
    ['http://a.example/', 'https://b.example/'],
    ['http://a.example/', 'http://a.example:8080/'],
    ['http://a.example/', 'https://a.example:8443/'],
    ['http://a.example:8080/', 'https://a.example/'],
    ['https://a.example:8443/', 'https://a.example/'],
    ['https://a.example/', 'https://www.a.example/'],
  ])('of %s is not sent to %s', (site, to) => {
    expect(of(site, to)).toEqual({});
  });
});
