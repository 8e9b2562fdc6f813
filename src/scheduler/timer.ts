/**
 * Timers by croner patterns. Croner's own timers wait for an instant: after a step back of the clock they would come that much
 * later. These read the clock every second, and compute the next run again when it shows less than before.
 */

import { Cron } from 'croner';
import type { Clock } from '../core/clock.js';

/** How often the clock is read at least; also how late a run may be after a step. */
const TICK_MS = 1_000;

export interface Timer {
  stop(): void;
}

/** When a pattern comes up next after an instant, in UTC; null when never. */
export function nextRun(pattern: string, after: number): number | null {
  const cron = new Cron(pattern, { paused: true, timezone: 'UTC' });
  return cron.nextRun(new Date(after))?.getTime() ?? null;
}

/** Calls `run` whenever the pattern comes up, never twice at once: a slow run makes the next one be left out. */
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
