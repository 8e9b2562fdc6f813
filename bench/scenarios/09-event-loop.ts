/** Whether storing sites delays the serving thread. */

import { compare } from '../lib/ab.js';
import { seededCopy } from '../lib/database.js';
import { startHelper } from '../lib/process.js';
import { measureOf, type Scenario } from '../lib/scenario.js';

const PER_SECOND = 200;

export const scenario: Scenario = {
  number: 9,
  name: 'event-loop',
  title: 'Event-loop p99.9 of the serving thread under 200 site writes a second, against idle',
  async run({ quick, dir }) {
    const db = await seededCopy(dir, quick ? 1_000 : 10_000, 'event-loop');
    const spec = { db, perSecond: PER_SECOND };
    const helper = await startHelper<void>(new URL('../lib/loop-process.js', import.meta.url), spec);
    const ms = quick ? 2_000 : 5_000;
    let stored = 0;
    let slices = 0;
    const slice = (busy: boolean) => async () => {
      const seen = await helper.ask<{ late: number; stored: number }>('watch', { ms, busy });
      if (busy) {
        stored += seen.stored;
        slices++;
      }
      return seen.late;
    };
    const compared = await compare(slice(true), slice(false), { rounds: quick ? 2 : 5, calibrate: false });
    await helper.close();
    const rate = Math.round((stored * 1_000) / (slices * ms));
    return [
      measureOf(
        'timer lateness p99.9 while sites are stored, against idle',
        { atMost: 5 },
        compared,
        'ms',
        `${rate} sites a second`,
      ),
    ];
  },
};
