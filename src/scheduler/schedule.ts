/**
 * Runs the timetable in one process at a time: whoever holds the lease. The others watch and take over when it lapses. What is
 * marked as shared runs in every process, whoever holds the lease.
 */

import { ALONE, type Members } from '../cluster/members.js';
import type { Ctx } from '../domain/context.js';
import type { StepWatch } from './clock-steps.js';
import { nextRun, startTimer, type Timer } from './timer.js';
import { type Entry, timetable } from './timetable.js';

const LEASE = 'schedule';
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;

export interface Schedule {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Runs one entry now, whatever the clock says; for the shell and tests. */
  runNow(name: string): Promise<string>;
}

export function createSchedule(parts: {
  ctx(): Ctx;
  owner: string;
  steps: StepWatch;
  /** Who else takes a share; left out where nobody can. */
  crew?: Members | undefined;
  entries?: readonly Entry[] | undefined;
}): Schedule {
  const entries = parts.entries ?? timetable;
  const crew = parts.crew ?? ALONE;
  const timers: Timer[] = [];
  const underWay = new Set<Promise<unknown>>();
  let renew: NodeJS.Timeout | null = null;
  /**
   * A process that was paused wakes up with its lease lapsed, and learns of it only with the next renewal. By both readings
   * of the clock: one shows a step back, the other a sleep of the machine.
   */
  let heldUntil = { now: 0, elapsed: 0 };

  const hold = async () => {
    const ctx = parts.ctx();
    const { clock } = ctx;
    const now = clock.now();
    const elapsed = clock.elapsed();
    try {
      await parts.steps.settle();
      const lapsed = now - clock.steps(LEASE_MS).forward;
      const held = await ctx.store.leases.acquire(LEASE, parts.owner, lapsed, now + LEASE_MS);
      heldUntil = held === null ? { now: 0, elapsed: 0 } : { now: now + LEASE_MS, elapsed: elapsed + LEASE_MS };
    } catch (error) {
      ctx.log.warn({ err: error }, 'the lease of the schedule could not be renewed');
    }
  };
  const isHeld = ({ clock }: Ctx) => clock.now() < heldUntil.now && clock.elapsed() < heldUntil.elapsed;
  /** After a pause or a step of the clock, the lease is asked for before it is believed. */
  const isOurs = async () => {
    if (heldUntil.now > 0 && !isHeld(parts.ctx())) await hold();
    return isHeld(parts.ctx());
  };
  const run = async (entry: Entry): Promise<string> => {
    const ctx = parts.ctx();
    const { runs } = ctx.store;
    const part = entry.shared === true;
    await parts.steps.settle();
    if (part) await runs.partStarted(entry.name, parts.owner, ctx.clock.now());
    else await runs.started(entry.name, ctx.clock.now());
    let outcome: string;
    try {
      outcome = await entry.run(ctx, crew);
    } catch (error) {
      outcome = 'failed';
      if (!ctx.signal.aborted) ctx.log.error({ err: error, entry: entry.name }, 'a scheduled run failed');
    }
    if (part) await runs.partFinished(entry.name, parts.owner, ctx.clock.now(), outcome);
    else {
      const now = ctx.clock.now();
      await runs.finished(entry.name, now, outcome, nextRun(entry.pattern, now));
    }
    return outcome;
  };
  return {
    async start() {
      await hold();
      renew = setInterval(() => void hold(), RENEW_MS);
      renew.unref();
      for (const entry of entries) {
        const timer = startTimer(entry.pattern, parts.ctx().clock, async () => {
          if (entry.shared !== true && !(await isOurs())) return;
          const work = run(entry).catch((error: unknown) =>
            parts.ctx().log.warn({ err: error, entry: entry.name }, 'a scheduled run could not be noted'),
          );
          underWay.add(work);
          await work.finally(() => underWay.delete(work));
        });
        timers.push(timer);
      }
    },
    async stop() {
      for (const timer of timers) timer.stop();
      if (renew !== null) clearInterval(renew);
      await Promise.allSettled(underWay);
      if (heldUntil.now > 0) await parts.ctx().store.leases.release(LEASE, parts.owner);
      heldUntil = { now: 0, elapsed: 0 };
    },
    async runNow(name) {
      const entry = entries.find((candidate) => candidate.name === name);
      if (entry === undefined) throw new RangeError(`No scheduled entry is called ${name}.`);
      return run(entry);
    },
  };
}
