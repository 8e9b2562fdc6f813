/** Wrong logins from one address: how they affect others, and how many processors they take. */

import { setTimeout as pause } from 'node:timers/promises';
import { seededCopy } from '../lib/database.js';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { cpuOf, startServed } from '../lib/served.js';
import { quantile, rounded } from '../lib/stats.js';

const GUESSES = 40;

export const scenario: Scenario = {
  number: 23,
  name: 'wrong-logins',
  title: 'A burst of wrong logins: processors taken, answers to it, and the wait of calls with a key meanwhile',
  async run({ quick, dir }): Promise<Measure[]> {
    const processors: number[] = [];
    const waits: number[] = [];
    let statuses: number[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      const server = await startServed(await seededCopy(dir, 1_000, `logins-${round}`));
      const call = async (authorization: string) => {
        const answer = await fetch(`${server.url}/abilities/svc/count-sites-v1/run`, { headers: { authorization } });
        await answer.arrayBuffer();
        return answer.status;
      };
      const keyed = async () => {
        const began = performance.now();
        await server.rest('GET', '/v2/sites/basic?per_page=20');
        return performance.now() - began;
      };
      for (let i = 0; i < 50; i++) await keyed();
      const used = cpuOf(server.pid);
      const began = performance.now();
      const guess = (i: number) => `Basic ${Buffer.from(`guest-${i}:wrong`).toString('base64')}`;
      let open = true;
      const guesses = Promise.all(Array.from({ length: GUESSES }, (_, i) => call(guess(i)))).finally(() => {
        open = false;
      });
      const times: number[] = [];
      while (open) {
        times.push(await keyed());
        await pause(5);
      }
      statuses = await guesses;
      processors.push((cpuOf(server.pid) - used) / (performance.now() - began));
      waits.push(quantile(times, 0.99));
      await server.close();
    }
    const refused = statuses.filter((status) => status === 429).length;
    return [
      figure(
        'processors that wrong logins take',
        { atMost: 2.3 },
        processors,
        `${GUESSES} at once, ${refused} refused with 429`,
      ),
      figure(
        'p99 of a call with a key meanwhile, ms',
        { atMost: 50 },
        waits,
        `each of ${waits.map(rounded).join(', ')}`,
      ),
    ];
  },
};
