/**
 * The effect of a sync of the whole fleet on callers of REST and MCP: latency at a fixed rate, during a sync and idle.
 */

import { compare, type Slice } from '../lib/ab.js';
import { type Rig, startRig } from '../lib/fleet.js';
import { type Exchange, openLoop } from '../lib/http-client.js';
import { message, openSession } from '../lib/mcp-wire.js';
import { cpuWaitMs, type Helper, startHelper } from '../lib/process.js';
import { type Measure, measureOf, type Scenario } from '../lib/scenario.js';
import type { ServerReady } from '../lib/server-process.js';
import { quantile } from '../lib/stats.js';

const PER_SECOND = 100;
const SITES = 400;

export const scenario: Scenario = {
  number: 8,
  name: 'api-under-sync',
  title: 'p99 of REST and MCP while a sync runs, and while it saturates the CPU, against idle',
  async run({ quick, dir }) {
    const rig = await startRig({ dir, name: 'api-under-sync', groups: Array<number>(SITES).fill(1) });
    const config = { db: rig.db, concurrency: 50, batch_threshold: 100_000, direct_call_ms: 600_000 };
    const server = await startHelper<ServerReady>(new URL('../lib/server-process.js', import.meta.url), config);
    const exchanges = await probes(server.ready);
    const ms = quick ? 2_500 : 6_000;
    const rounds = quick ? 2 : 5;
    // The first sync of each site stores everything; the requests warm up REST and MCP.
    await server.ask('sync');
    await openLoop(server.ready.url, exchanges, PER_SECOND, 2_000);
    const waits = { idle: new Waits(server.pid), busy: new Waits(server.pid) };
    const probe = (wait: Waits) => wait.during(() => openLoop(server.ready.url, exchanges, PER_SECOND, ms));
    const idle: Slice = async () => quantile(await probe(waits.idle), 0.99);
    const measures: Measure[] = [];
    for (const { name, latency, atMost } of [
      { name: 'sync, 50 at once, about 1 s latency', latency: { seed: 3, min: 700, max: 1_300 }, atMost: 3 },
      { name: 'sync that saturates the CPU', latency: 0, atMost: 8 },
    ]) {
      await rig.latency(latency);
      const busy = whileSyncing(server, rig, () => probe(waits.busy));
      const compared = await compare(busy.slice, idle, { rounds, calibrate: false, warmups: 1 });
      // Fleet and clients share the machine: the serving thread's wait for a CPU is not its own fault.
      const detail = `${PER_SECOND} requests a second; ${Math.round(busy.rate())} sites a second meanwhile; waited for a CPU ${waits.busy.take()}, idle ${waits.idle.take()}`;
      measures.push(measureOf(`p99 during a ${name}, against idle`, { atMost }, compared, 'ms', detail));
    }
    await server.close();
    await rig.close();
    return measures;
  },
};

/** Concurrent requests of one session need distinct ids. */
const IDS = 1_000;

/** A list of sites by REST and by MCP, alternating. */
async function probes({ url, key }: ServerReady): Promise<Exchange[]> {
  const session = await openSession(url, '/mcp', key);
  const call = { name: 'svc-list-sites-v1', arguments: {} };
  const rest: Exchange = { method: 'GET', path: '/v2/sites/basic?per_page=20', headers: { authorization: key } };
  return Array.from({ length: IDS }, (_, i) => [
    rest,
    { method: 'POST' as const, path: '/mcp', headers: session, body: message('legacy', i + 1, 'tools/call', call) },
  ]).flat();
}

/** The share of time in which the serving thread was runnable but had no CPU. */
class Waits {
  readonly #pid: number;
  #waited = 0;
  #passed = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    const [waited, began] = [cpuWaitMs(this.#pid), performance.now()];
    const result = await work();
    this.#waited += (cpuWaitMs(this.#pid) ?? Number.NaN) - (waited ?? Number.NaN);
    this.#passed += performance.now() - began;
    return result;
  }

  /** The share as text; resets the counters. */
  take(): string {
    const share = (100 * this.#waited) / this.#passed;
    this.#waited = this.#passed = 0;
    return Number.isFinite(share) ? `${share.toFixed(0)} %` : 'unknown';
  }
}

function whileSyncing(server: Helper<ServerReady>, rig: Rig, probe: () => Promise<number[]>) {
  let sites = 0;
  let seconds = 0;
  const slice: Slice = async () => {
    let on = true;
    const began = performance.now();
    await rig.stats();
    const syncing = (async () => {
      while (on) await server.ask('sync');
    })();
    // Wait until the sync is well under way.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const latencies = await probe();
    on = false;
    sites += (await rig.stats()).requests;
    seconds += (performance.now() - began) / 1_000;
    await syncing;
    return quantile(latencies, 0.99);
  };
  return { slice, rate: () => sites / seconds };
}
