/**
 * Bodies without a length, which strangers may send: they wait for no login, cost no more than their bytes, and end at a share for
 * each network.
 */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Hono } from 'hono';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import type { HttpListener } from '../../src/surfaces/http/server.js';
import { closing } from '../support/cleanup.js';
import { collect } from '../support/collect.js';
import { testApp } from '../support/harness.js';
import { serveLocally } from '../support/local-server.js';
import { newKey } from '../support/logins.js';

const MB = 1024 * 1024;
let listener: HttpListener;
let token: string;
/** The server's ends of the connections that sent a request. */
const served = new Set<Socket>();
const read = () => [...served].reduce((sum, { bytesRead }) => sum + bytesRead, 0);

beforeAll(async () => {
  const app = await testApp({ config: { trust_proxy: true } });
  token = (await newKey(app.service.store.keys)).token;
  const http: Hono<HttpEnv> = await app.service.http();
  listener = await serveLocally({
    fetch: (request, env) => {
      served.add((env as HttpEnv['Bindings']).incoming?.socket as Socket);
      return http.fetch(request, env);
    },
  });
});

beforeEach(() => served.clear());

/** Sends this, and more later. */
function send(text: string): { socket: Socket; answer: () => string } {
  const socket = connect(listener.port, '127.0.0.1').setEncoding('utf8');
  closing({ close: () => void socket.destroy() });
  let answer = '';
  socket
    .on('error', () => undefined)
    .on('data', (piece: string) => {
      answer += piece;
    });
  socket.write(text);
  return { socket, answer: () => answer };
}

const head = (path: string, more = '') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${more}\r\n`;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const from = (address: string) => `X-Forwarded-For: ${address}\r\nX-Forwarded-Proto: https\r\n`;
const END = '0\r\n\r\n';

describe('a body without a length', () => {
  it.each(['/v2/tags/add', '/mcp', '/abilities/svc/run-updates-v1/run', '/session/reads'])(
    'is not waited for where a login is missing: %s',
    async (path) => {
      const { socket, answer } = send(`${head(path)}${chunk('{')}`);
      await once(socket, 'data');
      expect(answer()).toMatch(/^HTTP\/1.1 401 /);
    },
  );

  it('arrives whole after the login', async () => {
    const key = `Authorization: Bearer ${token}\r\nConnection: close\r\n`;
    const { socket, answer } = send(`${head('/v2/tags/add', key)}${chunk('{"name":')}`);
    socket.write(`${chunk('"In ')}${chunk('pieces"}')}${END}`);
    await once(socket, 'close');
    expect(answer()).toMatch(/^HTTP\/1.1 200 [\s\S]*"name":"In pieces"/);
  });

  it('that is too large is refused in the envelope of its way in, and the connection is closed', async () => {
    const key = `Authorization: Bearer ${token}\r\n`;
    for (const path of ['/v2/tags/add', '/mcp']) {
      const { socket, answer } = send(`${head(path, key)}${chunk(' '.repeat(MB))}${chunk(' ')}`);
      await once(socket, 'close');
      expect(answer()).toMatch(/^HTTP\/1.1 413 [\s\S]*The body is larger than 1048576 bytes/);
    }
  });

  it('of a login is read no further than a login needs', async () => {
    const { socket, answer } = send(`${head('/session')}${chunk(' '.repeat(16 * 1024))}${chunk(' ')}`);
    await once(socket, 'close');
    expect(answer()).toMatch(/^HTTP\/1.1 413 [\s\S]*The body is larger than 16384 bytes/);
  });

  it('of logins ends at a share of its network, and others still log in', async () => {
    const body = chunk(' '.repeat(16_000));
    const sent = Array.from({ length: 300 }, (_, i) => send(`${head('/session', from(`2001:db8::${i}`))}${body}`));
    await expect.poll(read).toBeGreaterThan(300 * 16_000);
    const refused = () => sent.filter(({ answer }) => answer().startsWith('HTTP/1.1 429 '));
    // 2 MB, of which each may take 16 kB.
    await expect.poll(() => refused().length).toBeGreaterThanOrEqual(300 - 131);
    expect(refused()[0]?.answer()).toMatch(/\r\nretry-after: 5\r\n/i);
    expect(refused()[0]?.answer()).toMatch(/\r\nconnection: close\r\n/i);
    const login = `${chunk('{"username":"nobody","password":"x"}')}${END}`;
    const other = send(`${head('/session', `${from('2001:db8:0:1::1')}Connection: close\r\n`)}${login}`);
    await once(other.socket, 'close');
    expect(other.answer()).toMatch(/^HTTP\/1.1 401 /);
    // What has gone makes room.
    for (const { socket } of sent) socket.destroy();
    await expect.poll(() => [...served].filter(({ destroyed }) => !destroyed).length).toBe(0);
    const again = send(`${head('/session', `${from('2001:db8::1')}Connection: close\r\n`)}${login}`);
    await once(again.socket, 'close');
    expect(again.answer()).toMatch(/^HTTP\/1.1 401 /);
  });
});

describe('chunks of one byte', () => {
  const CONNECTIONS = 10;
  const tiny = '1\r\nx\r\n'.repeat(9_990);
  const heap = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };

  it('are not kept one by one', async () => {
    const before = heap();
    const sent = Array.from({ length: CONNECTIONS }, (_, i) => send(`${head('/session', from(`10.0.0.${i}`))}${tiny}`));
    await expect.poll(read).toBeGreaterThan(CONNECTIONS * tiny.length);
    // 100 kB of bodies.
    expect(heap() - before).toBeLessThan(5 * MB);
    expect(sent.map(({ answer }) => answer()).join('')).toBe('');
  });
});
