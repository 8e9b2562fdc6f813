/** A sync of 200 sites as a user has it: over HTTP, from a server that was just started, to addresses it has not called yet. */

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startRig } from '../lib/fleet.js';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { cpuOf, startServed } from '../lib/served.js';
import { rounded } from '../lib/stats.js';

const SITES = 200;
const LATENCY_MS = 300;
const AT_ONCE = 50;
/** Longer than connections are kept and than looks wait for the end of a run of syncs. */
const APART_MS = 6_000;

interface Cost {
  wall: number;
  cpu: number;
}

export const scenario: Scenario = {
  number: 20,
  name: 'fresh-sync',
  title: 'A sync of 200 sites that answer in 300 ms, by a fresh server: time and CPU',
  async run({ quick, dir }): Promise<Measure[]> {
    const first: Cost[] = [];
    const again: Cost[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      const name = `fresh-${round}`;
      const rig = await startRig({
        dir,
        name,
        groups: Array<number>(SITES).fill(1),
        latency: LATENCY_MS,
        keys: quick ? 16 : SITES,
      });
      const server = await startServed(`file:${join(dir, `${name}.db`)}`);
      const synced = async (): Promise<Cost> => {
        await pause(APART_MS);
        await server.login();
        const before = cpuOf(server.pid);
        const began = performance.now();
        const { total_synced } = await server.run('sync-sites', { site_ids_or_domains: [] });
        const wall = (performance.now() - began) / 1_000;
        if (total_synced !== SITES) throw new Error(`${total_synced} of ${SITES} sites were synced.`);
        return { wall, cpu: (cpuOf(server.pid) - before) / SITES };
      };
      first.push(await synced());
      // What the first one leaves to be done must have ended: looks for abandoned items, three calls to each site.
      await pause(2 * APART_MS);
      for (let i = 0; i < 2; i++) again.push(await synced());
      await server.close();
      await rig.close();
    }
    const bound = (SITES * LATENCY_MS) / AT_ONCE / 1_000;
    const row = (name: string, atMost: number, costs: readonly Cost[], which: keyof Cost, more: string) =>
      figure(
        name,
        { atMost },
        costs.map((cost) => cost[which]),
        `each of ${costs.map((cost) => rounded(cost[which])).join(', ')}; ${more}`,
      );
    const all = 'all threads, steps of 0.05 ms';
    return [
      row('seconds of the first sync of 200 sites', 1.5, first, 'wall', `bound ${bound} s`),
      row('seconds of a later one', 1.5, again, 'wall', `bound ${bound} s`),
      row('CPU ms per site of the first sync', 2.5, first, 'cpu', `everything is stored and compiled; ${all}`),
      row('CPU ms per site of a later one', 2.5, again, 'cpu', all),
    ];
  },
};
