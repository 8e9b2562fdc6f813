/** The socket that an HTTP app is served on, and how it is given up without cutting anybody off. */

import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import type { HttpEnv } from './auth.js';
import { LISTENS } from './streams.js';

export interface Listener {
  /** `http://127.0.0.1:8787`, with the port that was really taken. */
  url: string;
  host: string;
  port: number;
  /** Takes no new requests, lets those in flight finish for `graceMs`, then cuts. */
  close(graceMs?: number): Promise<void>;
}

/** Listens; rejects with a message for people when the address cannot be had. */
export async function listen(app: Hono<HttpEnv>, address: { host: string; port: number }): Promise<Listener> {
  // Known by what the app answered: Node does not keep headers that were written at once.
  const streams = new Set<ServerResponse>();
  const fetch = async (request: Request, env: { outgoing: ServerResponse }) => {
    const response = await app.fetch(request, env);
    if (listens(request, response)) {
      streams.add(env.outgoing);
      env.outgoing.once('close', () => streams.delete(env.outgoing));
    }
    return response;
  };
  const server = createAdaptorServer({ fetch: fetch as unknown as typeof app.fetch }) as Server;
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

/** Rejects as `listen` would when the address cannot be had: asked before anything is made that is shown only once. */
export async function checkAddress(address: { host: string; port: number }): Promise<void> {
  const trial = createServer();
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

/** Whether an answer would never end by itself. */
function listens(request: Request, response: Response): boolean {
  if (request.method !== 'GET' && !response.headers.has(LISTENS)) return false;
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

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
