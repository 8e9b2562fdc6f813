/** The clock of a process: wall time for what is stored and shown, monotonic time for durations, and what lies between them. */

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** By how many milliseconds a clock was put forward and back. */
export interface ClockSteps {
  forward: number;
  back: number;
}

export interface Clock {
  /** Milliseconds since the epoch, for what is stored or shown. May be put forward or back at any moment: never measure with it. */
  now(): number;
  /** Milliseconds since some moment, only ever growing: for durations within this process. Stands still while the machine sleeps. */
  elapsed(): number;
  /**
   * The steps of `now` against `elapsed` since this process began, or within the last milliseconds of `elapsed`. A lease of `ms`
   * of another process has lapsed when it ends before `now() - steps(ms).forward`: after a step forward, and after a sleep of the
   * machine, its holder must first have had the time to renew it.
   */
  steps(within?: number): ClockSteps;
  /** Resolves after `ms`; rejects with the signal's reason when that comes first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Smaller corrections are within the precision of the two readings; no lease and no plan depends on so little. */
const NOTICED_MS = 1_000;
/** The time of each step is remembered for so long: longer than any lease. */
const REMEMBERED_MS = 3_600_000;

/** Completes a clock by the record of its steps, by comparing its two readings at each call. */
export function createClock(parts: Omit<Clock, 'steps'>): Clock {
  const { now, elapsed } = parts;
  let offset = now() - elapsed();
  const total: ClockSteps = { forward: 0, back: 0 };
  let recent: (ClockSteps & { at: number })[] = [];
  const update = (at: number) => {
    const by = now() - at - offset;
    if (Math.abs(by) < NOTICED_MS) return;
    offset += by;
    const step = { forward: Math.max(0, by), back: Math.max(0, -by) };
    add(total, step);
    recent = [...recent.filter((each) => at - each.at < REMEMBERED_MS), { ...step, at }];
  };
  return {
    ...parts,
    steps(within) {
      const at = elapsed();
      update(at);
      const sum: ClockSteps = { forward: 0, back: 0 };
      if (within === undefined) add(sum, total);
      else for (const step of recent) if (at - step.at < within) add(sum, step);
      return sum;
    },
  };
}

function add(sum: ClockSteps, step: ClockSteps): void {
  sum.forward += step.forward;
  sum.back += step.back;
}

/** The clock of this machine. */
export const systemClock: Clock = createClock({
  now: () => Date.now(),
  elapsed: () => performance.now(),
  async sleep(ms, signal) {
    // One signal often stands for many sites, all of which wait.
    if (signal !== undefined) setMaxListeners(0, signal);
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  },
});
