/**
 * Timers by croner patterns. Croner's own timers wait for an instant: after a step back of the clock they would fire
 * that much later. These read the clock every second, and compute the next run again if the clock was set back.
 */

import { Cron } from 'croner';
import type { Clock } from '../clock.js';

/** How often the clock is read; also the longest delay of a run after a step. */
const TICK_MS = 1_000;

export interface Timer {
  stop(): void;
}

/** The next time of a pattern after an instant, in UTC; null if there is none. */
export function nextRun(pattern: string, after: number): number | null {
  const cron = new Cron(pattern, { paused: true, timezone: 'UTC' });
  return cron.nextRun(new Date(after))?.getTime() ?? null;
}

/** Calls `run` at the pattern's times, never twice at once: a slow run causes the next one to be skipped. */
export function startTimer(pattern: string, clock: Clock, run: () => Promise<void>): Timer {
  let seen = clock.now();
  let next = nextRun(pattern, seen);
  let running = false;
  let handle: NodeJS.Timeout;
  const tick = () => {
    const now = clock.now();
    if (now < seen) next = nextRun(pattern, now);
    seen = now;
    if (next !== null && now >= next) {
      next = nextRun(pattern, now);
      if (!running) {
        running = true;
        void run().finally(() => {
          running = false;
        });
      }
    }
    wait();
  };
  const wait = () => {
    const left = next === null ? TICK_MS : next - clock.now();
    handle = setTimeout(tick, Math.max(1, Math.min(TICK_MS, left)));
    handle.unref();
  };
  wait();
  return { stop: () => clearTimeout(handle) };
}
