/**
 * A sync of 200 sites as a user experiences it: over HTTP, from a freshly started server, to addresses it has not
 * called yet; one plugin of each site has changed since the last sync.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { unitOfWork } from '../lib/calibrate.js';
import { startRig } from '../lib/fleet.js';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { cpuOf, type Served, startServed } from '../lib/served.js';
import { rounded } from '../lib/stats.js';

const SITES = 200;
const LATENCY_MS = 300;
const AT_ONCE = 50;
/** Longer than connections are kept alive, and than abandoned-items checks wait for the end of a series of syncs. */
const APART_MS = 6_000;

interface Cost {
  /** Seconds. */
  wall: number;
  /** Units of work per site. */
  cpu: number;
}

export const scenario: Scenario = {
  number: 20,
  name: 'fresh-sync',
  title: 'A sync of 200 sites that answer in 300 ms, one plugin changed each, by a fresh server: time and CPU',
  async run({ quick, dir }): Promise<Measure[]> {
    const added: Cost[] = [];
    const fresh: Cost[] = [];
    const later: Cost[] = [];
    for (let round = 0; round < (quick ? 1 : 5); round++) {
      const name = `fresh-${round}`;
      const rig = await startRig({
        dir,
        name,
        groups: Array<number>(SITES).fill(1),
        latency: LATENCY_MS,
        keys: quick ? 16 : SITES,
      });
      const first = await startServed(rig.db);
      added.push(await timeSync(first));
      // Wait for the follow-up work of the first sync: abandoned-items checks, three calls to each site.
      await pause(2 * APART_MS);
      await first.close();

      const { user, password, api_key } = first;
      const server = await startServed(rig.db, {}, { user, password, api_key });
      await rig.updatePlugins();
      fresh.push(await timeSync(server));
      for (let i = 0; i < 2; i++) {
        await rig.updatePlugins();
        later.push(await timeSync(server));
      }
      await server.close();
      await rig.close();
    }
    const row = (name: string, atMost: number | null, costs: readonly Cost[], which: keyof Cost, more: string) =>
      figure(
        name,
        atMost === null ? null : { atMost },
        costs.map((cost) => cost[which]),
        `each of ${costs.map((cost) => rounded(cost[which])).join(', ')}; ${more}`,
      );
    const bound = `bound ${(SITES * LATENCY_MS) / AT_ONCE / 1_000} s`;
    const all = 'all threads';
    return [
      row('seconds of the first sync of a fresh server, 200 sites', 1.5, fresh, 'wall', bound),
      row('seconds of a later one', 1.5, later, 'wall', bound),
      row('CPU per site of the first sync of a fresh server, in units of work', 0.9, fresh, 'cpu', all),
      row('CPU per site of a later one, in units of work', 0.9, later, 'cpu', all),
      row('seconds of the first sync after the sites were added', null, added, 'wall', bound),
      row('CPU per site of it, in units of work', null, added, 'cpu', `everything of each site is stored; ${all}`),
    ];
  },
};

async function timeSync(server: Served): Promise<Cost> {
  await pause(APART_MS);
  await server.login();
  const unit = unitOfWork();
  const before = cpuOf(server.pid);
  const began = performance.now();
  const { total_synced } = await server.run('sync-sites', { site_ids_or_domains: [] });
  const wall = (performance.now() - began) / 1_000;
  if (total_synced !== SITES) throw new Error(`${total_synced} of ${SITES} sites were synced.`);
  return { wall, cpu: (cpuOf(server.pid) - before) / SITES / unit };
}
