/** A simulated fleet, the database it is stored in, and the engine that syncs it. */

import { generateKeyPair } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createInstance } from '../../src/store/settings/instance.js';
import { benchVault, openWriter } from './database.js';
import { type Helper, startHelper } from './process.js';
import { storeLiveSites } from './seed.js';

export interface FleetSpec {
  /** Number of sites on each address: `[3, 2]` = three on one, two on another. */
  groups: readonly number[];
  /** One port per group on a single address instead: one certificate serves all. */
  ports?: boolean;
  plugins: number;
  latency: number;
  tls?: { key: string; cert: string };
  /** False skips signature verification, which costs the sites CPU and not us. */
  verify: boolean;
  publicKeys: readonly string[];
  /** Name of the dashboard the sites are connected to. */
  server: string;
}

export interface FleetReady {
  sites: { url: string; admin: string; host: string }[];
}

export interface FleetSums {
  requests: number;
  /** Most requests in flight at one address. */
  maxPerHost: number;
  openConnections: number;
  errors: string[];
  cpuMs: number;
}

interface RigOptions {
  dir: string;
  name: string;
  groups: readonly number[];
  ports?: boolean;
  plugins?: number;
  latency?: number;
  tls?: { key: string; cert: string };
  sslVerify?: boolean;
  /** Number of different keys. A real fleet has one per site, but generating one takes 0.1 s. Default 16. */
  keys?: number;
}

/** Fleet and database; engines are started and stopped on top of them. */
export interface Rig {
  readonly db: string;
  readonly ids: readonly number[];
  readonly fleet: Helper<FleetReady>;
  latency(latency: number): Promise<void>;
  /** Changes the version of one plugin on each site. */
  updatePlugins(): Promise<void>;
  stats(): Promise<FleetSums>;
  close(): Promise<void>;
}

const SERVER = 'https://bench.invalid/wp-admin/';
const KEYS = 16;

const generate = promisify(generateKeyPair);

/** A pool of keys: generating one per site would take longer than the benchmark. */
async function keyPool(count: number): Promise<{ publicKey: string; privateKey: string }[]> {
  return Promise.all(
    Array.from({ length: count }, () =>
      generate('rsa', {
        modulusLength: 2048,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      }),
    ),
  );
}

export async function startRig(options: RigOptions): Promise<Rig> {
  const keys = await keyPool(options.keys ?? KEYS);
  const spec: FleetSpec = {
    groups: options.groups,
    ports: options.ports ?? false,
    plugins: options.plugins ?? 30,
    latency: options.latency ?? 0,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    verify: false,
    publicKeys: keys.map((key) => key.publicKey),
    server: SERVER,
  };
  const fleet = await startHelper<FleetReady>(new URL('./fleet-process.js', import.meta.url), spec);
  const url = `file:${join(options.dir, `${options.name}.db`)}`;
  const db = await openWriter(url);
  await createInstance(db).claim('dashboard_url', SERVER);
  const ids = await storeLiveSites(
    db,
    benchVault(),
    fleet.ready.sites.map((site, index) => ({
      url: site.url,
      admin: site.admin,
      private_key: keys[index % keys.length]?.privateKey ?? '',
      ssl_verify: options.sslVerify ?? true,
    })),
  );
  await db.close();
  return {
    db: url,
    ids,
    fleet,
    latency: (latency) => fleet.ask('latency', latency),
    updatePlugins: () => fleet.ask('updatePlugins'),
    stats: () => fleet.ask('stats'),
    close: () => fleet.close(),
  };
}
