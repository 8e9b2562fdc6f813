/** A sync of the whole fleet against the shortest time its latencies allow. */

import { greedyMakespan } from '../lib/bound.js';
import { startEngine, startRig } from '../lib/fleet.js';
import { latencies } from '../lib/random.js';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { rounded } from '../lib/stats.js';

const LATENCY = { seed: 42, min: 300, max: 2_000 };

/** Concurrency, rounds in a full run, and the minimum share of the bound. */
const CASES = [
  { concurrency: 20, rounds: 1, atLeast: 0.95 },
  { concurrency: 50, rounds: 2, atLeast: 0.95 },
  { concurrency: 100, rounds: 3, atLeast: 0.95 },
  { concurrency: 200, rounds: 5, atLeast: 0.92 },
];

export const scenario: Scenario = {
  number: 5,
  name: 'fan-out',
  title: 'Fan-out over 1,000 sites (300 to 2,000 ms) against the greedy list-scheduling bound',
  async run({ quick, dir }) {
    const sites = quick ? 500 : 1_000;
    const rig = await startRig({ dir, name: 'fan-out', groups: Array<number>(sites).fill(1) });
    const sequence = latencies(LATENCY.seed, sites, LATENCY.min, LATENCY.max);
    const measures: Measure[] = [];
    for (const { concurrency, rounds, atLeast } of quick ? CASES.slice(2) : CASES) {
      const engine = await startEngine(rig, { concurrency });
      // The first sync stores everything and warms the code; only everyday syncs are measured.
      await rig.latency(0);
      await engine.sync(await engine.targets());
      await rig.latency(LATENCY);
      const bound = greedyMakespan(sequence, concurrency);
      const shares: number[] = [];
      for (let round = 0; round < (quick ? 1 : rounds); round++) {
        const targets = await engine.targets();
        const began = performance.now();
        await engine.sync(targets);
        shares.push(bound / (performance.now() - began));
      }
      await engine.close();
      const detail = `bound ${rounded(bound / 1_000)} s; the simulator's own time counts as ours`;
      measures.push(figure(`fan-out of ${sites} sites, ${concurrency} at once`, { atLeast }, shares, detail));
    }
    await rig.close();
    return measures;
  },
};
