import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { Counters, type FleetStats } from './counters.js';
import { FleetHandler } from './handler.js';
import { Listeners, type Place } from './listeners.js';
import { type CompleteOptions, completeOptions, type FleetOptions } from './options.js';
import { DemoSite } from './site.js';

export type { FleetStats } from './counters.js';
export type { Faults } from './faults.js';
export type { FleetOptions } from './options.js';
export type { DemoSite } from './site.js';

export interface Fleet {
  readonly sites: DemoSite[];
  /** Port of the first listener; the only one in mode `path`. */
  readonly port: number;
  /** The site, counted from 0. Throws a RangeError when there is none. */
  site(index: number): DemoSite;
  stats(): FleetStats;
  /** Resets the counters. */
  resetStats(): void;
  /** Cuts every connection and frees every port. May be called twice. */
  close(): Promise<void>;
}

/**
 * Starts simulated child sites on loopback. They speak the real protocol over real HTTP and are as unhelpful as the
 * real plugin. Throws a RangeError that names an invalid option, or the system's error for a port in use.
 */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const complete = completeOptions(options);
  const counters = new Counters();
  const sites: DemoSite[] = [];
  const handler = new FleetHandler(sites, counters, complete);
  const server = makeServer(complete, handler.listener);
  const listeners = new Listeners((socket) => server.emit('connection', socket), counters);
  let places: Place[];
  try {
    places = await listeners.open(complete.mode, complete.sites, complete.host, complete.port);
  } catch (error) {
    await listeners.close();
    throw error;
  }
  for (let index = 0; index < complete.sites; index += 1) {
    const place = complete.mode === 'path' ? places[0] : places[index];
    if (place === undefined) throw new Error(`site ${index} has no listener`);
    const site = makeSite(index, place, complete);
    sites.push(site);
    handler.place(place, site);
  }
  return {
    sites,
    port: places[0]?.port ?? 0,
    site: (index) => {
      const site = sites[index];
      if (site === undefined) throw new RangeError(`site ${index}: there are ${sites.length}, counted from 0`);
      return site;
    },
    stats: () => counters.snapshot(),
    resetStats: () => counters.reset(),
    close: async () => {
      handler.close();
      await listeners.close();
    },
  };
}

function makeServer(options: CompleteOptions, listener: RequestListener<typeof IncomingMessage>) {
  if (options.tls === undefined) return createHttpServer(listener);
  const server = createHttpsServer({ key: options.tls.key, cert: options.tls.cert }, listener);
  // A client that does not trust the certificate hangs up in the middle of the handshake, which is legitimate.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return server;
}

function makeSite(index: number, place: Place, options: CompleteOptions): DemoSite {
  const scheme = options.tls === undefined ? 'http' : 'https';
  const host = place.host.includes(':') ? `[${place.host}]` : place.host;
  const path = options.mode === 'path' ? `${folderOf(index)}/` : '';
  return new DemoSite({ ...options, index, url: `${scheme}://${host}:${place.port}/${path}`, host: place.host });
}

/** `site-0007`: WordPress in a subfolder. */
function folderOf(index: number): string {
  return `site-${String(index).padStart(4, '0')}`;
}
