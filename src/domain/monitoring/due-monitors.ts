/**
 * Scheduled monitor checks. `runDueMonitors` is called every few seconds in every working process: each takes its share
 * of due monitors, by claims.
 */

import { ALONE, type Members } from '../../runtime/cluster/members.js';
import type { Ctx } from '../context.js';
import { type MonitoringDefaults, monitoringDefaults } from '../settings/effects.js';
import { DAYS_KEPT, hoursSince } from './history.js';
import { MonitorRun } from './monitor-run.js';

/** Checks the due monitors, or this process's share of them. Returns a short summary. */
export async function runDueMonitors(ctx: Ctx, members: Members = ALONE): Promise<string> {
  await members.join();
  // Read before the settings, so that settings older than the plan are never taken for newer ones.
  const { planned, due, down } = await ctx.store.monitors.outlook(ctx.clock.now(), members.host);
  const global = await monitoringDefaults(ctx);
  const replanned = await replanIfChanged(ctx, global, planned);
  if ((due || replanned) && members.slots(global.concurrency) === 0) return 'nothing: other processes hold all slots';
  const run = new MonitorRun(ctx, global, members);
  if (due || replanned) await run.work(down);
  return run.summary();
}

/** Monitors that follow the global switch or interval are rescheduled when these change, in any process. */
async function replanIfChanged(ctx: Ctx, global: MonitoringDefaults, before: string): Promise<boolean> {
  const plan = { active: global.active ? 1 : 0, interval_min: global.interval };
  const after = JSON.stringify(plan);
  if (before === after) return false;
  await ctx.store.monitors.replan(plan, { before, after }, ctx.clock.now());
  return true;
}

const DAY_MS = 24 * 3_600_000;
/** Checks are kept for 180 days, hourly sums for 31, daily ones for 400, incidents and alerts for two years. */
const KEEP = { beats: 180 * DAY_MS, days: DAYS_KEPT * DAY_MS, incidents: 730 * DAY_MS } as const;
const PRUNE_ROWS = 5_000;
/**
 * A run that has not deleted everything by then leaves the rest to the next: a fleet of 100,000 writes a million checks
 * an hour.
 */
const LONGEST_PRUNE_MS = 15 * 60_000;

/** Sums up the days that are over, and deletes expired rows in small steps, so that other writers do not wait long. Once an hour is enough. */
export async function pruneMonitoring(ctx: Ctx): Promise<string> {
  const now = ctx.clock.now();
  const before = {
    beats: now - KEEP.beats,
    // Whole days, so that a day can be summed again.
    hours: hoursSince(now),
    days: now - KEEP.days,
    incidents: now - KEEP.incidents,
  };
  // First: no hour is deleted that is in no sum.
  await ctx.store.monitorResults.sumDays(Math.floor(now / DAY_MS));
  const endsAt = ctx.clock.elapsed() + LONGEST_PRUNE_MS;
  let total = 0;
  while (ctx.clock.elapsed() < endsAt && !ctx.signal.aborted) {
    const forgotten =
      (await ctx.store.monitorResults.prune(before, PRUNE_ROWS)) +
      (await ctx.store.alerts.prune(before.incidents, PRUNE_ROWS));
    total += forgotten;
    if (forgotten === 0) break;
  }
  total += await ctx.store.monitorNetwork.forgetOld(now);
  return `${total} rows deleted`;
}
