/**
 * Runs the timetable in one process at a time: whoever holds the lease. The others watch and take over when it lapses. What is
 * marked as shared runs in every process, whoever holds the lease.
 */

import { Cron } from 'croner';
import type { Ctx } from '../context.js';
import { ALONE, type Crew } from './crew.js';
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
  /** Who else takes a share; left out where nobody can. */
  crew?: Crew | undefined;
  entries?: readonly Entry[] | undefined;
}): Schedule {
  const entries = parts.entries ?? timetable;
  const crew = parts.crew ?? ALONE;
  const crons: Cron[] = [];
  const underWay = new Set<Promise<unknown>>();
  let renew: NodeJS.Timeout | null = null;
  /** A process that was paused wakes up with its lease lapsed, and learns of it only with the next renewal. */
  let heldUntil = 0;

  const hold = async () => {
    const ctx = parts.ctx();
    const now = ctx.clock.now();
    try {
      const held = await ctx.store.schedule.hold(LEASE, parts.owner, now, now + LEASE_MS);
      heldUntil = held === null ? 0 : now + LEASE_MS;
    } catch (error) {
      ctx.log.warn({ err: error }, 'the lease of the schedule could not be renewed');
    }
  };
  const run = async (entry: Entry, next: () => Date | null): Promise<string> => {
    const ctx = parts.ctx();
    const { schedule } = ctx.store;
    const part = entry.shared === true;
    if (part) await schedule.partStarted(entry.name, parts.owner, ctx.clock.now());
    else await schedule.started(entry.name, ctx.clock.now());
    let outcome: string;
    try {
      outcome = await entry.run(ctx, crew);
    } catch (error) {
      outcome = 'failed';
      if (!ctx.signal.aborted) ctx.log.error({ err: error, entry: entry.name }, 'a scheduled run failed');
    }
    if (part) await schedule.partFinished(entry.name, parts.owner, ctx.clock.now(), outcome);
    else await schedule.finished(entry.name, ctx.clock.now(), outcome, next()?.getTime() ?? null);
    return outcome;
  };
  return {
    async start() {
      await hold();
      renew = setInterval(() => void hold(), RENEW_MS);
      renew.unref();
      for (const entry of entries) {
        // Unnamed: croner's names are global to the process. `protect`: a slow run is not overtaken by the next.
        const cron: Cron = new Cron(
          entry.pattern,
          { protect: true, unref: true, catch: true, timezone: 'UTC' },
          async () => {
            if (entry.shared !== true && parts.ctx().clock.now() >= heldUntil) return;
            const work = run(entry, () => cron.nextRun());
            underWay.add(work);
            await work.finally(() => underWay.delete(work));
          },
        );
        crons.push(cron);
      }
    },
    async stop() {
      for (const cron of crons) cron.stop();
      if (renew !== null) clearInterval(renew);
      await Promise.allSettled(underWay);
      if (heldUntil > 0) await parts.ctx().store.schedule.letGo(LEASE, parts.owner);
      heldUntil = 0;
    },
    async runNow(name) {
      const entry = entries.find((candidate) => candidate.name === name);
      if (entry === undefined) throw new RangeError(`No scheduled entry is called ${name}.`);
      return run(entry, () => new Cron(entry.pattern, { paused: true, timezone: 'UTC' }).nextRun());
    },
  };
}
