/** The proxy of the audit's browser, over real sockets: what it lets through, what it refuses, and its limits. */

import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createTcp, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { OutletParts } from '../../src/outbound/audit/connections.js';
import { type AuditProxy, startProxy } from '../../src/outbound/audit/proxy.js';
import { closing } from '../support/cleanup.js';
import { listenLocally } from '../support/local-server.js';

/** The allowed address. Internal services listen on another address of this machine. */
const SITE = '127.0.0.2';
const ZONE: Record<string, readonly string[]> = {
  'site.example': [SITE],
  'inside.example': ['127.0.0.1'],
  'both.example': ['127.0.0.1', SITE],
  'cloud.example': ['169.254.169.254'],
};

let inside = 0;
let outside = 0;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
/** Connections that reached each of them. */
let touched = 0;
let visits = 0;

beforeAll(async () => {
  const internal = createServer((_request, response) => response.end('secret'));
  internal.on('connection', () => touched++);
  inside = (await listenLocally(internal)).port;
  const site = createServer((request, response) => answer(request, response));
  site.on('connection', () => visits++);
  site.on('upgrade', (_request, socket: Socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\nhello'));
  outside = (await listenLocally(site, SITE)).port;
});

afterEach(() => {
  expect(touched).toBe(0);
});

async function proxyOf(parts: Partial<OutletParts> = {}): Promise<AuditProxy & { asked: string[] }> {
  answer = (_request, response) => response.end('page');
  visits = 0;
  const asked: string[] = [];
  const lookup = async (host: string) => {
    asked.push(host);
    const found = ZONE[host];
    if (found === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    return found.map((address) => ({ address, family: 4 as const }));
  };
  const proxy = closing(await startProxy({ allowPrivate: [SITE], lookup, ...parts }));
  return { ...proxy, asked };
}

interface Got {
  status: number;
  headers: string[];
  body: string;
}

/** A request in absolute form, as browsers send it to a proxy. */
async function ask(
  proxy: AuditProxy,
  url: string,
  {
    method = 'GET',
    body = '',
    headers = {},
  }: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<Got> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest({ port: proxy.port, host: '127.0.0.1', method, path: url, headers, agent: false });
    request.on('response', resolve).on('error', reject).end(body);
  });
  return { status: response.statusCode ?? 0, headers: response.rawHeaders, body: await text(response) };
}

/** Opens a tunnel; null when it was refused. */
async function tunnel(proxy: AuditProxy, authority: string): Promise<{ status: number; socket: Socket }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      port: proxy.port,
      host: '127.0.0.1',
      method: 'CONNECT',
      path: authority,
      agent: false,
    });
    request.on('connect', (response, socket) =>
      resolve({ status: response.statusCode ?? 0, socket: socket as Socket }),
    );
    request.on('error', reject).end();
  });
}

const INTERNAL: [string, (port: number) => string][] = [
  ['loopback', (port) => `127.0.0.1:${port}`],
  ['its name', (port) => `localhost:${port}`],
  ['a name that resolves to it', (port) => `inside.example:${port}`],
  ['one number', (port) => `2130706433:${port}`],
  ['hexadecimal', (port) => `0x7f.1:${port}`],
  ['octal', (port) => `0177.0.0.01:${port}`],
  ['unspecified', (port) => `0.0.0.0:${port}`],
  ['IPv6', (port) => `[::1]:${port}`],
  ['mapped', (port) => `[::ffff:127.0.0.1]:${port}`],
  ['full-width', (port) => `${encodeURI('１２７.０.０.１')}:${port}`],
];

describe('what is internal', () => {
  test.each(INTERNAL)('is not reached as %s, by any method or tunnel', async (_name, authority) => {
    const lookup = async (host: string) =>
      (host === 'localhost' ? ['127.0.0.1'] : (ZONE[host] ?? [])).map((address) => ({ address, family: 4 as const }));
    const proxy = await proxyOf({ lookup });
    const host = authority(inside);
    const url = `http://${host}/`;
    for (const method of ['GET', 'POST', 'PUT', 'OPTIONS'])
      expect(await ask(proxy, url, { method, ...(/GET|OPTIONS/.test(method) ? {} : { body: 'x' }) })).toMatchObject({
        status: 403,
        body: '',
      });
    const { status, socket } = await tunnel(proxy, host);
    expect(status).toBe(403);
    socket.destroy();
    expect(proxy.refusal()).toMatch(/is a private or local address, which this service does not call/);
  });

  test('is not reached at other addresses either: networks, clouds, the proxy itself', async () => {
    const proxy = await proxyOf();
    for (const host of [
      '10.0.0.1',
      '192.168.1.1',
      '172.16.0.1',
      '100.64.0.1',
      'cloud.example',
      '[fd00::1]',
      '[fe80::1]',
    ])
      expect((await ask(proxy, `http://${host}/`)).status, host).toBe(403);
    expect((await ask(proxy, `http://127.0.0.1:${proxy.port}/`)).status).toBe(403);
  });

  test('a name with a public and an internal address leads to the public one', async () => {
    const proxy = await proxyOf();
    expect(await ask(proxy, `http://both.example:${outside}/`)).toMatchObject({ status: 200, body: 'page' });
  });

  test('a name that changes its address is connected where it was checked, without a second look', async () => {
    let asked = 0;
    const lookup = async () => [{ address: asked++ === 0 ? SITE : '127.0.0.1', family: 4 as const }];
    const proxy = await proxyOf({ lookup });
    // A second lookup for connecting, or one per connection, would use the second answer.
    for (let time = 0; time < 3; time++) {
      const { status, socket } = await tunnel(proxy, `rebinding.example:${outside}`);
      expect(status).toBe(200);
      socket.destroy();
    }
    expect(asked).toBe(1);
  });

  test('is allowed where private sites are', async () => {
    const open = await proxyOf({ allowPrivate: true });
    expect(await ask(open, `http://127.0.0.1:${outside}/`)).toMatchObject({ status: 502 });
    expect(await ask(open, `http://${SITE}:${outside}/`)).toMatchObject({ status: 200 });
    const demo = await proxyOf({ allowPrivate: 'loopback' });
    expect(await ask(demo, `http://site.example:${outside}/`)).toMatchObject({ status: 200 });
    expect(await ask(demo, 'http://cloud.example/')).toMatchObject({ status: 403 });
  });
});

describe('what is forwarded', () => {
  test('a request and its answer as they are, without what belongs to the hop', async () => {
    const proxy = await proxyOf();
    let seen: { method?: string | undefined; url?: string | undefined; headers: string[]; body: string } | undefined;
    answer = async (request, response) => {
      seen = { method: request.method, url: request.url, headers: request.rawHeaders, body: await text(request) };
      response.writeHead(201, 'Made', ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Odd', 'é', 'Connection', 'close']);
      response.end('done');
    };
    const got = await ask(proxy, `http://site.example:${outside}/p/a%20th?q=1&q=2`, {
      method: 'POST',
      body: 'a=b',
      headers: {
        'X-Sent': 'yes',
        'Proxy-Connection': 'keep-alive',
        'Proxy-Authorization': 'Basic eDp5',
        TE: 'trailers',
      },
    });
    expect(got).toMatchObject({ status: 201, body: 'done' });
    expect(got.headers.join('|')).toContain('Set-Cookie|a=1|Set-Cookie|b=2|X-Odd|é');
    expect(seen).toMatchObject({ method: 'POST', url: '/p/a%20th?q=1&q=2', body: 'a=b' });
    const names = seen?.headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    expect(names).toEqual(expect.arrayContaining(['host', 'x-sent']));
    expect(names).not.toEqual(expect.arrayContaining(['proxy-connection']));
    expect(names).not.toEqual(expect.arrayContaining(['proxy-authorization']));
    expect(seen?.headers[(names?.indexOf('host') ?? 0) * 2 + 1]).toBe(`site.example:${outside}`);
  });

  test('statuses without a body, HEAD, and a body that is streamed', async () => {
    const proxy = await proxyOf();
    const url = `http://${SITE}:${outside}/`;
    answer = (_request, response) => response.writeHead(304, { etag: '"x"' }).end();
    expect(await ask(proxy, url)).toMatchObject({ status: 304, body: '' });
    answer = (_request, response) => response.writeHead(200, { 'content-length': '1000' }).end();
    expect(await ask(proxy, url, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    const long = 'x'.repeat(300_000);
    answer = (_request, response) => {
      response.write(long);
      response.end(long);
    };
    expect((await ask(proxy, url)).body).toHaveLength(600_000);
  });

  test('keeps its connections to a site between requests', async () => {
    const proxy = await proxyOf();
    for (let time = 0; time < 5; time++) await ask(proxy, `http://${SITE}:${outside}/${time}`);
    expect(visits).toBe(1);
  });

  test('a connection that the site has closed meanwhile is no answer', async () => {
    const proxy = await proxyOf();
    const used = new Set<Socket>();
    const asked: string[] = [];
    answer = ({ socket, url = '' }, response) => {
      asked.push(url);
      if (used.has(socket)) socket.destroy();
      else response.end('page');
      used.add(socket);
    };
    // A connection is free for the next request a moment after the answer: until one was used again.
    let sent = 0;
    do {
      sent++;
      expect(await ask(proxy, `http://${SITE}:${outside}/${sent}`)).toMatchObject({ status: 200 });
    } while (asked.length === sent);
    expect(asked.slice(-2)).toEqual([`/${sent}`, `/${sent}`]);
  });

  test('what changes something is not sent twice', async () => {
    const proxy = await proxyOf();
    let posts = 0;
    answer = ({ socket, method }, response) => {
      if (method === 'GET') response.end('page');
      else {
        posts++;
        socket.destroy();
      }
    };
    expect(await ask(proxy, `http://${SITE}:${outside}/`)).toMatchObject({ status: 200 });
    expect(await ask(proxy, `http://${SITE}:${outside}/`, { method: 'POST', body: 'x' })).toMatchObject({
      status: 502,
    });
    expect(posts).toBe(1);
  });

  test('a tunnel carries what is said, such as an upgrade to WebSocket', async () => {
    const proxy = await proxyOf();
    const { socket } = await tunnel(proxy, `site.example:${outside}`);
    socket.write(`GET / HTTP/1.1\r\nHost: site.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 101 .*hello$/s);
  });

  test('says what went wrong, and goes on', async () => {
    const proxy = await proxyOf();
    expect((await ask(proxy, 'http://unknown.example/')).status).toBe(502);
    expect((await ask(proxy, 'http://site.example:1/')).status).toBe(502);
    // Not a proxy request: other programs on this machine must not be able to use the port.
    for (const path of ['/', '*', 'ftp://site.example/', 'file:///etc/passwd', 'https://site.example/'])
      expect((await ask(proxy, path)).status, path).toBe(400);
    const { status } = await tunnel(proxy, '%%%');
    expect(status).toBe(400);
    answer = (request) => request.socket.destroy();
    expect((await ask(proxy, `http://${SITE}:${outside}/`)).status).toBe(502);
    answer = (_request, response) => response.end('still here');
    expect(await ask(proxy, `http://${SITE}:${outside}/`)).toMatchObject({ status: 200, body: 'still here' });
    expect(proxy.refusal()).toBeNull();
  });

  test('nonsense on its port does not end it', async () => {
    const proxy = await proxyOf();
    const socket = connect(proxy.port, '127.0.0.1');
    socket.write('\x16\x03\x01 no HTTP at all\r\n\r\n');
    await text(socket).catch(() => undefined);
    const raw = createTcp((peer) => peer.end('HTTP/1.1 200 OK\r\nX\x01: y\r\n\r\nbody'));
    const { port: odd } = await listenLocally(raw, SITE);
    expect((await ask(proxy, `http://${SITE}:${odd}/`)).status).toBe(502);
    raw.close();
    expect((await ask(proxy, `http://${SITE}:${outside}/`)).status).toBe(200);
  });
});

describe('its limits', () => {
  test('bytes: everything through it ends', async () => {
    const proxy = await proxyOf({ limits: { bytes: 2_000_000 } });
    let sent = 0;
    answer = (_request, response) => {
      const more = () => {
        do sent += 65_536;
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      response.on('error', () => undefined);
      more();
    };
    await expect(ask(proxy, `http://${SITE}:${outside}/`)).rejects.toThrow();
    expect(sent).toBeGreaterThan(1_000_000);
    await expect(ask(proxy, `http://${SITE}:${outside}/`)).rejects.toThrow();
  });

  test('connections and names in all', async () => {
    const proxy = await proxyOf({ limits: { connections: 3 } });
    const statuses: number[] = [];
    for (let time = 0; time < 5; time++) statuses.push((await tunnel(proxy, `${SITE}:${outside}`)).status);
    expect(statuses).toEqual([200, 200, 200, 502, 502]);
    const few = await proxyOf({ limits: { names: 2 } });
    for (const name of ['a', 'b', 'c', 'd']) await tunnel(few, `${name}.example:80`);
    expect(few.asked).toEqual(['a.example', 'b.example']);
  });

  test('silence', async () => {
    const proxy = await proxyOf({ limits: { idleMs: 300 } });
    answer = () => undefined;
    const { socket } = await tunnel(proxy, `${SITE}:${outside}`);
    expect(await text(socket)).toBe('');
    await expect(ask(proxy, `http://${SITE}:${outside}/`)).resolves.toMatchObject({ status: 502 });
  });

  test('the end of the run: no connection outlives it, and its port is closed', async () => {
    const proxy = await proxyOf();
    const { socket } = await tunnel(proxy, `${SITE}:${outside}`);
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.resume();
    await proxy.close();
    await ended;
    await expect(ask(proxy, `http://${SITE}:${outside}/`)).rejects.toThrow(/ECONNREFUSED/);
  });

  test('it listens on loopback only', async () => {
    const proxy = await proxyOf();
    const socket = connect(proxy.port, '127.0.0.3');
    await expect(
      new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject)),
    ).rejects.toThrow(/ECONNREFUSED/);
  });
});
