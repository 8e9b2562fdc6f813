/** The wall clock. Tests bring their own. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './context.js';

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  },
};
