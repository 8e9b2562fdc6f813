/** The socket that an HTTP app is served on, and how it is given up without cutting anybody off. */

import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
} from 'node:http';
import { createServer as createTrial } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { ENDLESS_STREAM_HEADER } from './event-streams.js';
import type { Head, HttpEnv, Outlet } from './request-info.js';

export interface HttpListener {
  /** `http://127.0.0.1:8787`, with the port that was really taken. */
  url: string;
  host: string;
  port: number;
  /** Takes no new requests, lets those in flight finish for `graceMs`, then cuts. */
  close(graceMs?: number): Promise<void>;
}

/** Listens; rejects with a message for people when the address cannot be had. */
export async function listen(app: Hono<HttpEnv>, address: { host: string; port: number }): Promise<HttpListener> {
  const streams = new Set<ServerResponse>();
  const serve = getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0]);
  // Whatever fails in it has its answer there.
  const begin = inTurns((request, response) => void serve(request, response));
  const server = createServer({ ServerResponse: answersOf(streams) }, begin);
  server.requestTimeout = 60_000;
  server.headersTimeout = 20_000;
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, address)));
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
  const shown = reachable(address.host);
  return {
    url: `http://${shown}:${port}`,
    host: address.host,
    port,
    close: (graceMs = 10_000) => drain(server, streams, graceMs),
  };
}

/** Requests begun per turn of the event loop. */
const PER_TURN = 16;

/**
 * Begins the requests of a turn together, and no more than a few; the others wait for the next, in their order. Together they
 * take each step one after the other, so that its code and data are at hand in the processor: a list costs a third less than
 * when each runs to its end before the next begins. A few, because Node takes one new connection per turn: were every waiting
 * request answered first, 100 busy clients would keep a newcomer, such as a health check, out for seconds.
 */
function inTurns(begin: (request: IncomingMessage, response: ServerResponse) => void): typeof begin {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  const turn = () => {
    const together = waiting.splice(0, PER_TURN);
    if (waiting.length > 0) setImmediate(turn);
    for (const [request, response] of together) begin(request, response);
  };
  return (request, response) => {
    if (waiting.push([request, response]) === 1) setImmediate(turn);
  };
}

/** Rejects as `listen` would when the address cannot be had: asked before anything is made that is shown only once. */
export async function checkAddress(address: { host: string; port: number }): Promise<void> {
  const trial = createTrial();
  await new Promise<void>((resolve, reject) => {
    trial.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, address)));
    trial.listen(address.port, address.host, resolve);
  });
  await new Promise<void>((resolve) => trial.close(() => resolve()));
}

/** The host to write in a URL: nobody can call "all addresses". */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function listenError(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'another program listens there. Choose another port with --port or SITEFLEET_PORT',
    EACCES: 'this user may not listen there. Choose a port above 1023',
    EADDRNOTAVAIL: 'this machine does not have that address. Check --host or SITEFLEET_HOST',
    ENOTFOUND: 'that host name is not known. Check --host or SITEFLEET_HOST',
  };
  return new Error(`Cannot listen on ${host}:${port}: ${reasons[error.code ?? ''] ?? error.message}.`, {
    cause: error,
  });
}

/** The answers of one server. Each completes its head as the app wants it; one that only listens is kept track of. */
function answersOf(streams: Set<ServerResponse>) {
  return class Answer extends ServerResponse implements Outlet {
    depart?: (status: number, head: Head) => void;

    override writeHead(status: number, second?: unknown, third?: unknown): this {
      const head = headOf(typeof second === 'string' ? third : second);
      if (listens(this.req.method, head)) {
        streams.add(this);
        this.once('close', () => streams.delete(this));
      }
      this.depart?.(status, head);
      // Written at once from a list: headers that are set one by one cost three times as much.
      return super.writeHead(status, head as OutgoingHttpHeader[]);
    }
  };
}

function headOf(headers: unknown): Head {
  if (Array.isArray(headers)) return headers.flat() as Head;
  const head: Head = [];
  const named = (headers ?? {}) as OutgoingHttpHeaders;
  for (const name in named) {
    const value = named[name];
    if (Array.isArray(value)) for (const one of value) head.push(name, one);
    else if (value !== undefined) head.push(name, value);
  }
  return head;
}

/** Whether an answer would never end by itself. */
function listens(method: string | undefined, head: Head): boolean {
  let isStream = false;
  let isMarked = method === 'GET';
  for (let i = 0; i < head.length; i += 2) {
    const name = String(head[i]).toLowerCase();
    if (name === 'content-type') isStream = String(head[i + 1]).startsWith('text/event-stream');
    else if (name === LISTENS_NAME) isMarked = true;
  }
  return isStream && isMarked;
}

const LISTENS_NAME = ENDLESS_STREAM_HEADER.toLowerCase();

async function drain(server: Server, streams: ReadonlySet<ServerResponse>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  for (const response of streams) response.destroy();
  // A connection that just gave its last answer would be kept alive for the next request.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}
