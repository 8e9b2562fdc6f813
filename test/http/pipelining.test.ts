/**
 * Requests that a client sends without waiting for answers: all are answered, in order, they do not come before others, and only
 * some are read in advance. A client that does not read its answer is hung up on.
 */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Hono } from 'hono';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { createRouter } from '../../src/surfaces/http/router.js';
import type { HttpListener } from '../../src/surfaces/http/server.js';
import { serveLocally } from '../support/local-server.js';
import { silent } from '../support/surfaces.js';

const MANY = 5_000;

/** Of a client that reads nothing; what takes longer is not cut. */
const UNREAD_MS = 2_000;

let listener: HttpListener;
let started: string[] = [];
/** Ends `/held`. */
let release: () => void = () => undefined;
/** The server's end of the connection of the last `/held` or `/large`. */
let served: Socket | undefined;
const serverSide = () => served;

beforeAll(async () => {
  const app = new Hono<HttpEnv>();
  app.get('/held', async (c) => {
    served = c.env.incoming?.socket;
    started.push('held');
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return new Response('<held>');
  });
  app.get('/large', (c) => {
    served = c.env.incoming?.socket;
    return new Response(Buffer.alloc(64 * 1024 * 1024));
  });
  app.all('/:name', async (c) => {
    started.push(c.req.param('name'));
    const said = await c.req.text();
    return new Response(`<${c.req.param('name')}${said}>`);
  });
  const routed = createRouter({
    config: { host: '127.0.0.1', base_url: null, trust_proxy: false },
    log: silent,
    newRequestId: () => 'made',
    ready: async () => ({ ok: true, reasons: [] }),
    metrics: { token: null, request: () => undefined, text: async () => '' },
    mounts: [{ at: '/', app }],
  });
  listener = await serveLocally(routed, UNREAD_MS);
});

beforeEach(() => {
  started = [];
});

function open() {
  const socket = connect(listener.port, '127.0.0.1');
  socket.on('error', () => undefined);
  return socket;
}

const get = (name: string, more = '') => `GET /${name} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const post = (name: string, body: string) =>
  `POST /${name} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

it('are answered in order, with their bodies', async () => {
  const socket = open();
  let text = '';
  socket.on('data', (bytes) => {
    text += String(bytes);
  });
  socket.write(`${get('a')}${post('b', '1'.repeat(100_000))}${get('c')}${post('d', '2')}`);
  socket.write(get('e', 'Connection: close\r\n'));
  await once(socket, 'close');
  expect(text.match(/<\w+>/g)).toEqual(['<a>', `<b${'1'.repeat(100_000)}>`, '<c>', '<d2>', '<e>']);
});

it('do not come before those of a newcomer', async () => {
  const socket = open().resume();
  await once(socket, 'connect');
  socket.write(get('pipelined').repeat(MANY));
  await expect.poll(() => started.length, { interval: 1 }).toBeGreaterThan(0);
  expect(await (await fetch(`${listener.url}/newcomer`)).text()).toBe('<newcomer>');
  expect(started.indexOf('newcomer')).toBeLessThan(MANY / 2);
  await expect.poll(() => started.length, { interval: 20, timeout: 60_000 }).toBe(MANY + 1);
  socket.destroy();
});

it('are not started once the client has hung up', async () => {
  const socket = open().pause();
  await once(socket, 'connect');
  socket.write(get('pipelined').repeat(MANY));
  await expect.poll(() => started.length, { interval: 1 }).toBeGreaterThan(0);
  const ended = once(socket, 'close');
  socket.destroy();
  await ended;
  // A newcomer comes after all that was to be started.
  for (let i = 0; i < 3; i++) await (await fetch(`${listener.url}/newcomer`)).text();
  expect(started.filter((name) => name === 'pipelined').length).toBeLessThan(MANY / 2);
});

it('are not read in advance by the thousands', async () => {
  const socket = open().resume();
  await once(socket, 'connect');
  socket.write(get('held'));
  await expect.poll(() => started).toContain('held');
  const all = get('pipelined').repeat(4 * MANY);
  socket.write(all);
  // In all these turns of the server, more could be read.
  for (let i = 0; i < 200; i++) await (await fetch(`${listener.url}/newcomer`)).text();
  expect(served?.bytesRead).toBeLessThan(all.length / 4);
  release();
  await expect
    .poll(() => started.filter((name) => name === 'pipelined').length, { timeout: 60_000 })
    .toBeGreaterThan(1_000);
  socket.destroy();
});

it('that have bodies are not read in advance but for one: each chunk of theirs would be kept apart', async () => {
  const socket = open().resume();
  await once(socket, 'connect');
  socket.write(get('held'));
  await expect.poll(() => started).toContain('held');
  const tiny = '1\r\nx\r\n'.repeat(10_000);
  const one = `POST /posted HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${tiny}0\r\n\r\n`;
  socket.write(one.repeat(40));
  // In all these turns of the server, more could be read.
  for (let i = 0; i < 200; i++) await (await fetch(`${listener.url}/newcomer`)).text();
  expect(served?.bytesRead).toBeLessThan(2 * one.length);
  release();
  await expect.poll(() => started.filter((name) => name === 'posted').length, { timeout: 60_000 }).toBe(40);
  socket.destroy();
});

it('a client that does not read its answer is hung up on, and one whose answer takes its time is not', async () => {
  const slow = fetch(`${listener.url}/held`);
  await expect.poll(() => started).toContain('held');
  const socket = open().pause();
  await once(socket, 'connect');
  served = undefined;
  socket.write(get('large'));
  await expect.poll(serverSide).toBeDefined();
  await expect.poll(() => serverSide()?.destroyed, { timeout: 60_000 }).toBe(true);
  release();
  expect(await (await slow).text()).toBe('<held>');
  socket.destroy();
});
