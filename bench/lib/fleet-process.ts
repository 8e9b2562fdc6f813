/**
 * The simulated fleet in its own process: sites grouped by address, already connected to the dashboard of a benchmark.
 */

import { type Fleet, startFleet } from '../../src/demo/fleet.js';
import type { FleetReady, FleetSpec, FleetSums } from './fleet.js';
import { cpuMs, serveCommands } from './process.js';
import { SeededRandom } from './random.js';

type Site = Fleet['sites'][number];

let fleets: Fleet[] = [];
/** In the order in which the benchmark lists them. */
let sites: Site[] = [];

async function start(spec: FleetSpec): Promise<FleetReady> {
  const common = { cache: true, keepCalls: false, seed: 11, plugins: spec.plugins, tls: spec.tls, verify: spec.verify };
  if (spec.ports === true) {
    fleets = [await startFleet({ ...common, mode: 'port', sites: spec.groups.length })];
    sites = fleets.flatMap((fleet) => fleet.sites);
  } else {
    for (const [index, count] of spec.groups.entries()) {
      fleets.push(
        await startFleet({ ...common, mode: 'path', host: addressOf(index), port: fleets[0]?.port ?? 0, sites: count }),
      );
    }
    sites = mixed(fleets.map((fleet) => fleet.sites));
  }
  sites.forEach((site, index) => {
    site.inner.connection = {
      publicKey: spec.publicKeys[index % spec.publicKeys.length] ?? '',
      server: spec.server,
      user: site.admin,
    };
  });
  setLatency(spec.latency);
  return { sites: sites.map((site) => ({ url: site.url, admin: site.admin, host: site.host })) };
}

function addressOf(index: number): string {
  return `127.30.${Math.floor(index / 250)}.${(index % 250) + 1}`;
}

/** Sites of one host are spread over the whole list, as in a fleet that grew over years. */
function mixed(groups: readonly (readonly Site[])[]): Site[] {
  const random = new SeededRandom(5);
  return groups
    .flat()
    .map((site) => ({ site, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ site }) => site);
}

function setLatency(ms: number): void {
  for (const site of sites) site.faults.latencyMs = ms;
}

/** Bumps the version of one plugin on each site, as if it had been updated there. */
function updatePlugins(): void {
  for (const site of sites) {
    const plugin = site.inner.plugins.at(-1);
    if (plugin === undefined) continue;
    plugin.version = `${plugin.version}.1`;
    site.touch();
  }
}

/** Wire statistics since the last call. */
function stats(): FleetSums {
  const all = fleets.map((fleet) => fleet.stats());
  const sums: FleetSums = {
    requests: all.reduce((total, one) => total + one.requests, 0),
    maxPerHost: Math.max(0, ...all.flatMap((one) => Object.values(one.maxInFlightByHost))),
    openConnections: all.reduce((total, one) => total + one.openConnections, 0),
    errors: all.flatMap((one) => one.errors),
    cpuMs: cpuMs(),
  };
  for (const fleet of fleets) fleet.resetStats();
  return sums;
}

serveCommands({ start, latency: setLatency, updatePlugins, stats }, async () => {
  await Promise.all(fleets.map((fleet) => fleet.close()));
});
