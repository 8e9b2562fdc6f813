/**
 * A large fleet in its own process. Front pages, which monitors visit, are the same for all sites; calls of the child
 * protocol are answered by simulated sites.
 */

import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { Counters } from '../../src/demo/counters.js';
import { FleetHandler } from '../../src/demo/handler.js';
import { completeOptions } from '../../src/demo/options.js';
import { DemoSite } from '../../src/demo/site.js';
import { serveCommands } from './process.js';
import {
  addressesFor,
  addressOf,
  SCALE_ADMIN,
  type ScaleSitesCounts,
  type ScaleSitesReady,
  type ScaleSitesSpec,
  scaleSiteUrl,
} from './scale-sites.js';

const SEED = 11;
/** About as long as a small front page. */
const PAGE = Buffer.from(`<!DOCTYPE html><title>A site</title><p>${'A page as it is visited. '.repeat(320)}</p>\n`);

const counters = new Counters();
const listeners: Server[] = [];
const sockets = new Set<Socket>();
let handler: FleetHandler | undefined;
let latencyMs = 0;
let visits = 0;
let calls = 0;

async function start(spec: ScaleSitesSpec): Promise<ScaleSitesReady> {
  latencyMs = spec.latencyMs;
  const server = createHttpServer(receive);
  server.keepAliveTimeout = 2_000;
  const addresses = addressesFor(spec);
  let port = 0;
  for (let place = 0; place < addresses; place++) {
    const listener = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      server.emit('connection', socket);
    });
    listener.listen({ host: addressOf(place + 1, addresses), port, backlog: 1_024 });
    await once(listener, 'listening');
    listeners.push(listener);
    const bound = listener.address();
    if (port === 0 && typeof bound === 'object') port = bound?.port ?? 0;
  }
  const sites = Array.from({ length: spec.sites }, (_, index) => makeSite(spec, index, addresses, port));
  for (const id of spec.connected) {
    const site = sites[id - 1];
    if (site === undefined) throw new RangeError(`There is no site ${id}.`);
    const publicKey = spec.publicKeys[(id - 1) % spec.publicKeys.length] ?? '';
    site.inner.connection = { publicKey, server: spec.server, user: SCALE_ADMIN };
    site.faults.latencyMs = latencyMs;
  }
  // The number of sites only affects the handler's ports and addresses, which this process manages itself.
  handler = new FleetHandler(sites, counters, completeOptions({ sites: 1, verify: false, keepCalls: false }));
  return { port };
}

function makeSite({ plugins }: ScaleSitesSpec, index: number, addresses: number, port: number): DemoSite {
  return new DemoSite({
    index,
    seed: SEED,
    url: scaleSiteUrl(index + 1, addresses, port),
    host: addressOf(index + 1, addresses),
    admin: SCALE_ADMIN,
    password: undefined,
    plugins,
    now: Date.now,
    keepCalls: false,
    cache: false,
  });
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === 'POST') {
    calls++;
    handler?.listener(request, response);
    return;
  }
  visits++;
  setTimeout(() => {
    response.writeHead(200, { 'content-type': 'text/html; charset=UTF-8', 'content-length': PAGE.length });
    response.end(request.method === 'HEAD' ? undefined : PAGE);
  }, latencyMs);
}

/** Since the last call. */
function counts(): ScaleSitesCounts {
  const { errors } = counters.snapshot();
  const counted = { visits, calls, errors };
  visits = 0;
  calls = 0;
  return counted;
}

serveCommands({ start, counts }, async () => {
  handler?.close();
  for (const socket of sockets) socket.destroy();
  for (const listener of listeners) listener.close();
});
