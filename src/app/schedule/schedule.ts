/**
 * The schedule: runs the timetable in the one process that holds its lease. The others wait, and take over when it
 * lapses. Tasks marked as shared run in every process.
 */

import type { ClockWork } from '../../domain/clock-steps.js';
import type { Ctx } from '../../domain/context.js';
import { isScheduleOn } from '../../domain/settings/effects.js';
import type { CronJob } from '../../runtime/clock.js';
import { ALONE, type Members } from '../../runtime/cluster/members.js';
import { SERVED } from '../../store/cluster/leases.js';
import { type ScheduledTask, timetable } from './timetable.js';

const LEASE = 'schedule';
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;

export interface Schedule {
  /** @param address at which this process serves; null = it does not */
  start(address: string | null): Promise<void>;
  stop(): Promise<void>;
  /** Runs one task now, regardless of the clock; for the shell and tests. */
  runNow(name: string): Promise<string>;
}

async function runUnlessOff(task: ScheduledTask, ctx: Ctx, members: Members): Promise<string> {
  if (task.ofItsOwn === true && !(await isScheduleOn(ctx))) return 'disabled by svc_wp_cron';
  return task.run(ctx, members);
}

interface ScheduleParts extends ClockWork {
  /** The processes that share tasks; omitted if no other process can exist. */
  members?: Members | undefined;
  tasks?: readonly ScheduledTask[] | undefined;
}

export function createSchedule(parts: ScheduleParts): Schedule {
  const tasks = parts.tasks ?? timetable;
  const members = parts.members ?? ALONE;
  let jobs: CronJob[] = [];
  const running = new Set<Promise<unknown>>();
  let renew: NodeJS.Timeout | null = null;
  let served: string | null = null;
  /**
   * A process that was paused wakes with its lease lapsed, and learns of it only at the next renewal. Compared on both
   * clocks: one detects a step back, the other a sleep of the machine.
   */
  let heldUntil = { now: 0, elapsed: 0 };

  const hold = async () => {
    const ctx = parts.ctx();
    const { clock } = ctx;
    const now = clock.now();
    const elapsed = clock.elapsed();
    try {
      await parts.clockSteps.settle();
      const lapsed = now - clock.steps(LEASE_MS).forward;
      const held = await ctx.store.leases.acquire(LEASE, parts.owner, lapsed, now + LEASE_MS);
      heldUntil = held === null ? { now: 0, elapsed: 0 } : { now: now + LEASE_MS, elapsed: elapsed + LEASE_MS };
      if (served !== null) await ctx.store.leases.acquire(SERVED, served, lapsed, now + LEASE_MS);
    } catch (error) {
      ctx.log.warn({ err: error }, 'the lease of the schedule could not be renewed');
    }
  };
  const isHeld = ({ clock }: Ctx) => clock.now() < heldUntil.now && clock.elapsed() < heldUntil.elapsed;
  /** After a pause or a clock step, the lease is verified before it is trusted. */
  const isOurs = async () => {
    if (heldUntil.now > 0 && !isHeld(parts.ctx())) await hold();
    return isHeld(parts.ctx());
  };
  const run = async (task: ScheduledTask): Promise<string> => {
    const ctx = parts.ctx();
    const { runs } = ctx.store;
    const shared = task.shared === true;
    await parts.clockSteps.settle();
    if (shared) await runs.partStarted(task.name, parts.owner, ctx.clock.now());
    else await runs.started(task.name, ctx.clock.now());
    let outcome: string;
    try {
      outcome = await parts.withCtx((own) => runUnlessOff(task, own, members));
    } catch (error) {
      outcome = 'failed';
      if (!ctx.signal.aborted) ctx.log.error({ err: error, entry: task.name }, 'a scheduled run failed');
    }
    if (shared) await runs.partFinished(task.name, parts.owner, ctx.clock.now(), outcome);
    else await runs.finished(task.name, ctx.clock.now(), outcome);
    return outcome;
  };
  return {
    async start(address) {
      served = address;
      await hold();
      renew = setInterval(() => void hold(), RENEW_MS);
      renew.unref();
      const { clock, log } = parts.ctx();
      jobs = tasks.map((task) => {
        const work = async () => {
          if (task.shared !== true && !(await isOurs())) return;
          const done = run(task);
          running.add(done);
          await done.finally(() => running.delete(done));
        };
        return clock.cron(task.pattern, work, (error) =>
          log.warn({ err: error, entry: task.name }, 'a scheduled run could not be recorded'),
        );
      });
    },
    async stop() {
      for (const job of jobs) job.stop();
      if (renew !== null) clearInterval(renew);
      await Promise.allSettled(running);
      if (heldUntil.now > 0) await parts.ctx().store.leases.release(LEASE, parts.owner);
      if (served !== null) await parts.ctx().store.leases.release(SERVED, served);
      heldUntil = { now: 0, elapsed: 0 };
      served = null;
    },
    async runNow(name) {
      const task = tasks.find((candidate) => candidate.name === name);
      if (task === undefined) throw new RangeError(`There is no scheduled task named ${name}.`);
      return run(task);
    },
  };
}
