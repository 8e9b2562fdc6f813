/** The HTTP server: listens, starts requests in small batches, and drains requests in flight before it closes. */

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTrial, type Socket } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { inTurns } from '../../runtime/turns.js';
import { joinFirstPart, MAX_BODY } from './chunked-bodies.js';
import type { HttpEnv } from './request-info.js';

export interface HttpListener {
  /** `http://127.0.0.1:8787`, with the port that is actually bound. */
  url: string;
  host: string;
  port: number;
  /** Accepts no new requests, lets those in flight finish for `graceMs`, then closes their connections. */
  close(graceMs?: number): Promise<void>;
}

/** How long a client may read nothing of an answer that waits for it. */
const UNREAD_MS = 60_000;

/** Listens; rejects with a human-readable message when the address is not available. */
export async function listen(
  app: Pick<Hono<HttpEnv>, 'fetch'>,
  address: { host: string; port: number },
  unreadMs = UNREAD_MS,
): Promise<HttpListener> {
  const streams = new Set<ServerResponse>();
  const serve = getRequestListener(async (request, env) => {
    const { incoming, outgoing } = env as HttpBindings;
    // The pipeline adds `info`.
    const bindings = { incoming, outgoing } as HttpEnv['Bindings'];
    const response = await app.fetch(request, bindings);
    if (bindings.endless && !outgoing.destroyed) {
      streams.add(outgoing);
      outgoing.once('close', () => streams.delete(outgoing));
    }
    return response;
  });
  // The request listener responds to failures itself.
  const begin = inTurns(PER_TURN);
  const server = createServer();
  oneByOne(server, (request, response) => begin(() => void serve(request, response)));
  server.requestTimeout = 60_000;
  server.headersTimeout = 20_000;
  server.keepAliveTimeout = 65_000;
  server.timeout = unreadMs;
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

/**
 * Requests started per turn of the event loop; the others wait in order. Node accepts one new connection per turn: if
 * every waiting request were answered first, 100 busy clients would keep out a new one, such as a health check, for seconds.
 */
const PER_TURN = 16;

/** Requests of one connection that may wait for the answers before theirs, one with a body as the last; no more is read from it until fewer do. */
const MOST_WAITING = 100;

/**
 * Requests that a client sends without waiting for the answers (pipelining) are started one by one, as they are answered:
 * thousands fit into a packet, and would all come before those of everyone else. None is started once the client has hung up.
 * Only some are read in advance: Node keeps all that were, and takes seconds to minutes to let go of 100,000.
 */
function oneByOne(server: Server, start: RequestListener): void {
  const waiting = new WeakMap<Socket, Parameters<RequestListener>[]>();
  const isFull = (socket: Socket) => {
    const queue = waiting.get(socket) ?? [];
    return queue.length >= MOST_WAITING || queue.some(([request]) => hasBody(request));
  };
  const run = (socket: Socket, ...[request, response]: Parameters<RequestListener>) => {
    response.once('close', () => {
      const next = socket.destroyed ? undefined : waiting.get(socket)?.shift();
      if (next === undefined) waiting.delete(socket);
      else run(socket, ...next);
      if (socket.isPaused() && !isFull(socket)) socket.resume();
    });
    start(request, response);
  };
  server.on('request', (request, response) => {
    const { socket } = request;
    if (request.headers['transfer-encoding'] !== undefined) joinFirstPart(request, response, MAX_BODY);
    const queue = waiting.get(socket);
    if (queue !== undefined) {
      queue.push([request, response]);
      if (isFull(socket)) socket.pause();
      return;
    }
    waiting.set(socket, []);
    run(socket, request, response);
  });
  server.on('connection', (socket) => {
    socket.on('resume', () => {
      if (!isFull(socket)) return;
      // Node resumes it whenever a request has been read or answered. It stops reading at the event, which `pause` leaves out
      // where it was paused between the call and this.
      socket.pause();
      socket.emit('pause');
    });
  });
  // Nothing was sent or received for a while: the connection is idle, its client does not read, or the answer takes its time.
  server.on('timeout', (socket) => {
    if (!waiting.has(socket) || socket.writableLength > 0) socket.destroy();
  });
}

/** Node buffers the beginning of every unread body, chunk by chunk. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Rejects as `listen` would when the address is not available. For a check before secrets are shown only once. */
export async function checkAddress(address: { host: string; port: number }): Promise<void> {
  const trial = createTrial();
  await new Promise<void>((resolve, reject) => {
    trial.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, address)));
    trial.listen(address.port, address.host, resolve);
  });
  await new Promise<void>((resolve) => trial.close(() => resolve()));
}

/** The host to use in a URL: loopback in place of "all addresses", and IPv6 in brackets. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function listenError(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'another program is listening there. Choose another port with --port or SITEFLEET_PORT',
    EACCES: 'this user may not listen there. Choose a port above 1023',
    EADDRNOTAVAIL: 'this machine does not have that address. Check --host or SITEFLEET_HOST',
    ENOTFOUND: 'that host name is unknown. Check --host or SITEFLEET_HOST',
  };
  return new Error(`Cannot listen on ${host}:${port}: ${reasons[error.code ?? ''] ?? error.message}.`, {
    cause: error,
  });
}

async function drain(server: Server, streams: ReadonlySet<ServerResponse>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  for (const response of streams) response.destroy();
  // A connection that has just sent its last response would be kept alive for the next request.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}
