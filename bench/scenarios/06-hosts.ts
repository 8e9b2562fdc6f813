/** The fan-out under a limit per host, with five distributions of sites over addresses. */

import { LatencyBook } from '../../src/child/latency.js';
import { type PaceClock, Pacer } from '../../src/child/pace.js';
import { hostBound } from '../lib/bound.js';
import { type FleetReady, startEngine, startRig } from '../lib/fleet.js';
import { latencies, SeededRandom } from '../lib/random.js';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { rounded, sum } from '../lib/stats.js';

const PER_HOST = 2;
const CONCURRENCIES = [20, 50, 100];
const LATENCY = { seed: 42, min: 300, max: 2_000 };

/** Sites per address. */
function distributions(sites: number): Record<string, number[]> {
  const even = (hosts: number) => spread(Array<number>(hosts).fill(1), sites);
  return {
    'one site per address': even(sites),
    'five per address': even(Math.ceil(sites / 5)),
    'twenty per address': even(Math.ceil(sites / 20)),
    'few large, many small (Zipf)': spread(
      Array.from({ length: Math.ceil(sites / 8) }, (_, i) => 1 / (i + 1) ** 0.8),
      sites,
    ),
    'one address with a tenth of all': [
      Math.floor(sites / 10),
      ...spread(Array<number>(Math.ceil(sites / 4)).fill(1), sites - Math.floor(sites / 10)),
    ],
  };
}

/** Distributes `total` sites by weight, at least one each. */
function spread(weights: readonly number[], total: number): number[] {
  const all = sum(weights);
  const shares = weights.map((weight) => Math.max(1, Math.floor((weight / all) * total)));
  for (let i = 0, left = total - sum(shares); left !== 0; i = (i + 1) % shares.length) {
    const step = Math.sign(left);
    if ((shares[i] ?? 0) + step < 1) continue;
    shares[i] = (shares[i] ?? 0) + step;
    left -= step;
  }
  return shares;
}

export const scenario: Scenario = {
  number: 6,
  name: 'hosts',
  title: 'Fan-out with a limit per host on five address distributions, against the bound of both limits',
  async run({ quick, dir }) {
    const measures: Measure[] = [];
    for (const [name, groups] of Object.entries(distributions(1_000))) {
      const results: { cold: number; warm: number }[] = [];
      for (const concurrency of CONCURRENCIES) results.push(await simulated(groups, concurrency));
      const warm = results.map((result) => result.warm);
      const cold = Math.min(...results.map((result) => result.cold));
      const detail = `worst of ${CONCURRENCIES.join(', ')} at once; ${rounded(cold)} while latencies are not known yet`;
      const measure = figure(`virtual clock, 1000 sites, ${name}`, { atLeast: 0.9 }, warm, detail);
      measures.push({ ...measure, ratio: Math.min(...warm) });
    }
    const sites = quick ? 200 : 400;
    for (const [name, groups] of Object.entries(distributions(sites)).slice(0, quick ? 2 : 5)) {
      measures.push(await real(dir, name, groups, quick ? 1 : 3));
    }
    return measures;
  },
};

/** Makespan of the pacer itself on a clock that jumps from event to event, before and after latencies are known. */
async function simulated(groups: readonly number[], concurrency: number): Promise<{ cold: number; warm: number }> {
  const clock = new JumpingClock();
  const book = new LatencyBook();
  const length = latencies(42, sum(groups), 300, 2_000);
  const random = new SeededRandom(9);
  const sites = groups
    .flatMap((count, host) => Array<number>(count).fill(host))
    .map((host, index) => ({ host, site: `s${index}`, ms: length[index] ?? 0, at: random.next() }))
    .sort((a, b) => a.at - b.at);
  const byHost = groups.map((_, host) => sites.filter((site) => site.host === host).map((site) => site.ms));
  const bound = hostBound(byHost, concurrency, PER_HOST);
  const once = async (): Promise<number> => {
    const limits = { concurrency, perHost: PER_HOST, perHostDelayMs: 0, minDelayMs: 0 };
    const pacer = new Pacer(limits, clock, book);
    const running = groups.map(() => 0);
    const began = clock.now();
    const all = Promise.all(
      sites.map(({ host, site, ms }) =>
        pacer.run({ host: `h${host}`, site }, async () => {
          running[host] = (running[host] ?? 0) + 1;
          assertLimits(running, host, pacer.running, concurrency);
          await new Promise<void>((resolve) => clock.after(ms, resolve));
          running[host] = (running[host] ?? 0) - 1;
        }),
      ),
    );
    await clock.runUntil(all);
    return clock.now() - began;
  };
  return { cold: bound / (await once()), warm: bound / (await once()) };
}

function assertLimits(running: readonly number[], host: number, all: number, concurrency: number): void {
  if ((running[host] ?? 0) > PER_HOST) throw new Error(`${running[host]} calls at one address, ${PER_HOST} allowed`);
  if (all > concurrency) throw new Error(`${all} calls at once, ${concurrency} allowed`);
}

class JumpingClock implements PaceClock {
  #now = 0;
  readonly #events: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const event = { at: this.#now + ms, callback };
    this.#events.push(event);
    return () => {
      const index = this.#events.indexOf(event);
      if (index >= 0) this.#events.splice(index, 1);
    };
  }

  /** Jumps to the next event, lets everything that follows from it happen, and repeats. */
  async runUntil(work: Promise<unknown>): Promise<void> {
    let open = true;
    const ended = work.finally(() => {
      open = false;
    });
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!open) break;
      const next = this.#events.reduce((a, b) => (b.at < a.at ? b : a));
      this.#events.splice(this.#events.indexOf(next), 1);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    await ended;
  }
}

/** The whole service against simulated sites that count how many requests each address has in flight. */
async function real(dir: string, name: string, groups: readonly number[], rounds: number): Promise<Measure> {
  const rig = await startRig({ dir, name: `hosts-${groups.length}`, groups });
  const concurrency = 50;
  const engine = await startEngine(rig, { concurrency, per_host: PER_HOST });
  await engine.sync(await engine.targets());
  await rig.latency(LATENCY);
  const length = latencies(LATENCY.seed, rig.ids.length, LATENCY.min, LATENCY.max);
  const byHost = groupBy(rig.fleet.ready, length);
  const bound = hostBound(byHost, concurrency, PER_HOST);
  // One sync to learn the latencies.
  await engine.sync(await engine.targets());
  const shares: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const targets = await engine.targets();
    const began = performance.now();
    await engine.sync(targets);
    shares.push(bound / (performance.now() - began));
  }
  const { maxPerHost } = await rig.stats();
  await engine.close();
  await rig.close();
  if (maxPerHost > PER_HOST) throw new Error(`${maxPerHost} requests at one address, ${PER_HOST} are allowed`);
  const detail = `bound ${rounded(bound / 1_000)} s; at most ${maxPerHost} in flight at one address`;
  return figure(`real, ${rig.ids.length} sites, 50 at once, ${name}`, { atLeast: 0.9 }, shares, detail);
}

function groupBy(ready: FleetReady, length: readonly number[]): number[][] {
  const byHost = new Map<string, number[]>();
  ready.sites.forEach(({ host }, index) => {
    byHost.set(host, [...(byHost.get(host) ?? []), length[index] ?? 0]);
  });
  return [...byHost.values()];
}
