/**
 * The clock of a process: wall time for what is stored and shown, monotonic time for durations, and the difference
 * between the two.
 */

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Cron } from 'croner';

/** By how many milliseconds the wall clock was set forward and back. */
export interface ClockSteps {
  forward: number;
  back: number;
}

/** A limit of time that has begun. */
export interface Deadline {
  /** Aborted when the time is up. */
  signal: AbortSignal;
  /** The work ended in time. */
  clear(): void;
}

/** What is called by a pattern, until it is stopped. */
export interface CronJob {
  stop(): void;
}

export interface Clock {
  /**
   * Milliseconds since the epoch, for what is stored or shown. The system may set it forward or back at any moment:
   * never measure with it.
   */
  now(): number;
  /**
   * Milliseconds since an arbitrary moment, monotonic: for durations within this process. Stands still while the
   * machine sleeps.
   */
  elapsed(): number;
  /**
   * Steps of `now` relative to `elapsed` since this process started, or within the last `within` milliseconds of
   * `elapsed`. A lease of another process has lapsed when it ends before `now() - steps(ms).forward`, where `ms` is the
   * lease time: after a step forward or a sleep of the machine, its holder must first have had time to renew it.
   */
  steps(within?: number): ClockSteps;
  /** Resolves after `ms`; rejects with the signal's reason if that comes first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once after `ms`, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
  /** Limits what begins now to `ms`, by `elapsed`. */
  deadline(ms: number): Deadline;
  /**
   * Calls `run` at the times of a croner pattern, in UTC, but never while it still runs. What it throws goes to
   * `failed`.
   */
  cron(pattern: string, run: () => Promise<void>, failed: (error: unknown) => void): CronJob;
}

/** Smaller corrections are within the precision of the two readings; no lease or schedule depends on so little. */
const NOTICED_MS = 1_000;
/** How long each step is remembered: longer than any lease. */
const REMEMBERED_MS = 3_600_000;

/** Completes a clock with limits, and with `steps`, which it detects by comparing the two readings at each call. */
export function createClock(parts: Omit<Clock, 'steps' | 'deadline'>): Clock {
  const { now, elapsed, after } = parts;
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
    deadline(ms) {
      const late = new AbortController();
      return { signal: late.signal, clear: after(ms, () => late.abort()) };
    },
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

/** When a croner pattern comes next after `from`, in UTC; milliseconds since the epoch, infinite if never. */
export function nextTime(pattern: string, from: number): number {
  return (
    new Cron(pattern, { timezone: 'UTC', paused: true }).nextRun(new Date(from))?.getTime() ?? Number.POSITIVE_INFINITY
  );
}

/** The system clock. */
export const systemClock: Clock = createClock({
  now: () => Date.now(),
  elapsed: () => performance.now(),
  async sleep(ms, signal) {
    // One signal often serves many sites, all of which wait.
    if (signal !== undefined) setMaxListeners(0, signal);
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  },
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  // Croner reads the clock at least every 30 seconds and computes the next time from it: no step delays a run for longer.
  cron: (pattern, run, failed) =>
    new Cron(pattern, { timezone: 'UTC', protect: true, unref: true, catch: failed }, run),
});
