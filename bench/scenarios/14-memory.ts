/** Whether a long run of syncs leaks memory or sockets. */

import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { startEngine, startRig } from '../lib/fleet.js';
import { memoryOf } from '../lib/process.js';
import { figure, type Scenario } from '../lib/scenario.js';
import { rounded } from '../lib/stats.js';

const SITES = 500;

export const scenario: Scenario = {
  number: 14,
  name: 'memory',
  title: 'Peak memory after 15,000 syncs against 5,000, and open files afterwards',
  async run({ quick, dir }) {
    const rig = await startRig({ dir, name: 'memory', groups: Array<number>(SITES).fill(1) });
    const engine = await startEngine(rig, { concurrency: 50 });
    const base = openFiles();
    const targets = async () => engine.targets();
    const syncs = async (count: number) => {
      for (let done = 0; done < count; done += SITES) await engine.sync(await targets());
      return memoryOf(process.pid).peak;
    };
    const unit = quick ? 1_000 : 5_000;
    const early = await syncs(unit);
    const late = await syncs(2 * unit);
    let left = openFiles();
    for (let waited = 0; left > base + 32 && waited < 5_000; waited += 250) {
      await pause(250);
      left = openFiles();
    }
    await engine.close();
    await rig.close();
    const detail = `${rounded(early)} MB after ${unit} syncs, ${rounded(late)} MB after ${3 * unit}`;
    return [
      figure(`peak memory after ${3 * unit} syncs against ${unit}`, { atMost: 1.15 }, [late / early], detail),
      figure('peak memory in MB', { atMost: 300 }, [late], 'engine, 50 at once, no latency'),
      figure(
        'open files left over after 5 s',
        { atMost: 32 },
        [Math.max(0, left - base)],
        `${base} before, ${left} after`,
      ),
    ];
  },
};

function openFiles(): number {
  return readdirSync('/proc/self/fd').length;
}
