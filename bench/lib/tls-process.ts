/** Handshakes and calls to https sites, in a process that trusts their certificate (trust is set at process start). */

import type { TLSSocket } from 'node:tls';
import type { ChildSites } from '../../src/child/child.js';
import { type Connector, createConnector } from '../../src/child/connect.js';
import { createChildSites } from '../../src/child/http.js';
import { Resolver } from '../../src/child/resolve.js';
import { type LoadedSite, loadSites } from '../../src/domain/sites/load.js';
import { TASK_CALLER } from './config.js';
import { type BenchEngine, type Rig, startEngine } from './fleet.js';
import { cpuMs, serveCommands } from './process.js';

interface TlsSpec {
  db: string;
  ids: readonly number[];
}

type Connection = NonNullable<LoadedSite['connection']>;

const AT_ONCE = 50;
let engine: BenchEngine;
let sites: Connection[] = [];
let connector: Connector;
let child: ChildSites;

async function start({ db, ids }: TlsSpec): Promise<void> {
  engine = await startEngine({ db, ids } as Rig);
  const targets = await loadSites(engine.ctx(TASK_CALLER), ids);
  sites = [...targets.values()].flatMap(({ connection }) => connection ?? []);
  connector = makeConnector();
  child = makeChild();
  await handshakes(connector);
  await calls(child);
}

function makeConnector(): Connector {
  const resolver = new Resolver({
    allowPrivate: true,
    lookup: undefined,
    timeoutMs: 5_000,
    now: () => performance.now(),
  });
  return createConnector({ resolver, allowPrivate: true, verify: true, timeoutMs: 5_000 });
}

function makeChild(): ChildSites {
  return createChildSites({
    dashboardUrl: 'https://bench.invalid/wp-admin/',
    concurrency: AT_ONCE,
    perHost: AT_ONCE,
    minDelayMs: 0,
    perHostDelayMs: 0,
    allowPrivate: true,
  });
}

/** Milliseconds of CPU per connection, up to receiving the server's ticket for the next one. */
async function handshakes(connect: Connector): Promise<number> {
  const before = cpuMs();
  const queue = sites.values();
  const worker = async () => {
    for (const { url } of queue) await handshake(connect, new URL(url));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return (cpuMs() - before) / sites.length;
}

function handshake(connect: Connector, { hostname, host, protocol, port }: URL): Promise<void> {
  return new Promise((resolve, reject) => {
    connect({ hostname, host, protocol, port }, (error, socket) => {
      if (error !== null) {
        reject(error);
        return;
      }
      const end = () => {
        socket.destroy();
        resolve();
      };
      // A full handshake is followed by the ticket that lets the next connection resume.
      if ((socket as TLSSocket).isSessionReused()) end();
      else socket.once('session', end).resume();
    });
  });
}

/** Milliseconds of CPU per whole call. */
async function calls(to: ChildSites): Promise<number> {
  const before = cpuMs();
  await Promise.all(sites.map((site) => to.stats(site, { abandonedAfterDays: 730, changesAfter: 0 })));
  return (cpuMs() - before) / sites.length;
}

/** The same without a session to resume. */
async function fullCalls(): Promise<number> {
  const fresh = makeChild();
  const cost = await calls(fresh);
  await fresh.close();
  return cost;
}

const commands = {
  start,
  resumed: () => handshakes(connector),
  full: () => handshakes(makeConnector()),
  resumedCalls: () => calls(child),
  fullCalls,
};

serveCommands(commands, async () => {
  await child.close();
  await engine.close();
});
