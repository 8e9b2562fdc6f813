/**
 * A forward proxy on loopback for one browser: its only way to the network. Plain HTTP is forwarded, everything else
 * (TLS, WebSocket) is tunneled by CONNECT. Each connection goes to a checked address, so no redirect, form, script or
 * name that changes its address leads to a forbidden one.
 */

import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { StepFailure } from '../probe/failure.js';
import { hostOf } from '../probe/names.js';
import { Outlet, type OutletParts } from './connections.js';

/** As large as browsers accept. */
const MAX_HEADERS = 256 * 1024;

export interface AuditProxy {
  /** Where it listens, on loopback. */
  port: number;
  /** Why the first connection to a private or local address was refused; null if there was none. */
  refusal(): string | null;
  /** Closes it and every connection through it. */
  close(): Promise<void>;
}

/** Starts a proxy on its own port. */
export async function startProxy(parts: OutletParts): Promise<AuditProxy> {
  const outlet = new Outlet(parts);
  const server = createServer({ maxHeaderSize: MAX_HEADERS, requestTimeout: 0 });
  server.maxConnections = outlet.limits.open;
  server.on('connection', (socket) => outlet.hold(socket));
  server.on('clientError', (_error, socket) => socket.destroy());
  server.on('request', (request, response) => forward(outlet, request, response));
  server.on('connect', (request, socket, head) => void tunnel(outlet, request, socket, head));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    refusal: () => outlet.refusal,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      outlet.close();
      await closed;
    },
  };
}

/** Without a body that would be sent twice, and without effect (RFC 9110, 9.2.1). */
const REPEATABLE = new Set(['GET', 'HEAD']);

/** Meant for one connection only (RFC 9110, 7.6.1). `host` is set by the proxy. */
const OF_THE_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]);

/** Raw headers as received, name and value alternating, without those of the hop. */
function endToEnd(raw: readonly string[], ...without: string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const lower = name.toLowerCase();
    if (!OF_THE_HOP.has(lower) && !without.includes(lower)) kept.push(name, raw[at + 1] as string);
  }
  return kept;
}

function forward(outlet: Outlet, request: IncomingMessage, response: ServerResponse): void {
  const url = urlOf(request.url ?? '');
  // A request in origin form was meant for this port itself, which is only a proxy.
  if (url?.protocol !== 'http:') {
    refuse(response, new StepFailure('bad_answer', 'No proxy URL.'));
    return;
  }
  const onward = httpRequest({
    agent: outlet.agent,
    host: hostOf(url),
    port: Number(url.port) || 80,
    method: request.method,
    path: url.pathname + url.search,
    headers: ['Host', url.host, ...endToEnd(request.rawHeaders, 'host')],
    maxHeaderSize: MAX_HEADERS,
    // Browsers are as lenient with sites.
    insecureHTTPParser: true,
  });
  onward.on('error', (error) => {
    // The site closed a connection that had been kept open: not an answer. Browsers ask again, too; a new connection ends it.
    if (onward.reusedSocket && !response.headersSent && REPEATABLE.has(request.method ?? ''))
      forward(outlet, request, response);
    else refuse(response, error);
  });
  onward.on('response', (answer) => {
    try {
      const headers = endToEnd(answer.rawHeaders, 'transfer-encoding');
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', headers);
    } catch (error) {
      // Headers that may not be passed on.
      onward.destroy();
      refuse(response, error);
      return;
    }
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  });
  response.on('close', () => onward.destroy());
  request.on('error', () => onward.destroy());
  request.pipe(onward);
}

async function tunnel(outlet: Outlet, request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
  const url = urlOf(`http://${request.url ?? ''}`);
  try {
    if (url === null) throw new StepFailure('bad_answer', 'No authority.');
    const site = await outlet.open(hostOf(url), Number(url.port) || 80);
    client.on('close', () => site.destroy());
    site.on('close', () => client.destroy());
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) site.write(head);
    client.pipe(site).pipe(client);
  } catch (error) {
    client.end(`HTTP/1.1 ${statusOf(error)} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  }
}

/** Reports to the browser why there is no response; one that has begun is cut off. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(statusOf(error), { 'content-length': '0', 'cache-control': 'no-store' }).end();
}

function statusOf(error: unknown): number {
  const kind = error instanceof StepFailure ? error.kind : 'unreachable';
  return ({ blocked_address: 403, timed_out: 504, bad_answer: 400 } as Record<string, number>)[kind] ?? 502;
}

function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
