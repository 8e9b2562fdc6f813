/**
 * The monitors by the clock. `runDueMonitors` is called every few seconds, in every process that works: each takes its share
 * of what is due, by claims.
 */

import { ALONE, type Members } from '../cluster/members.js';
import type { Ctx } from '../domain/context.js';
import { HOURS_KEPT_MS } from '../domain/monitoring/history.js';
import { type MonitoringDefaults, monitoringDefaults } from '../domain/settings/effects.js';
import { MonitorRun } from './monitor-run.js';

/** Checks the monitors whose time has come, or this process's share of them. Answers what came of it, in a few words. */
export async function runDueMonitors(ctx: Ctx, members: Members = ALONE): Promise<string> {
  await members.join();
  // Read before the settings: so settings older than the plan are never taken for new ones.
  const { planned, due, down } = await ctx.store.monitors.outlook(ctx.clock.now(), members.host);
  const global = await monitoringDefaults(ctx);
  const replanned = await replanIfChanged(ctx, global, planned);
  if ((due || replanned) && members.slots(global.concurrency) === 0)
    return 'nothing: the places are taken by other processes';
  const run = new MonitorRun(ctx, global, members);
  if (due || replanned) await run.work(down);
  return run.summary();
}

/** Monitors that follow the global switch or interval get new turns when these change, in whatever process. */
async function replanIfChanged(ctx: Ctx, global: MonitoringDefaults, before: string): Promise<boolean> {
  const plan = { active: global.active ? 1 : 0, interval_min: global.interval };
  const after = JSON.stringify(plan);
  if (before === after) return false;
  await ctx.store.monitors.replan(plan, { before, after }, ctx.clock.now());
  return true;
}

const DAY_MS = 24 * 3_600_000;
/** Beats 180 days, hourly sums 31, incidents and alerts two years. */
const KEEP = { beats: 180 * DAY_MS, hours: HOURS_KEPT_MS, incidents: 730 * DAY_MS } as const;
const PRUNE_ROWS = 5_000;
/** A run that has not forgotten all by then leaves the rest to the next: a fleet of 100,000 writes a million beats an hour. */
const LONGEST_PRUNE_MS = 15 * 60_000;

/** Forgets what is older than its time, in small steps, so that other writers do not wait long. Once an hour is plenty. */
export async function pruneMonitoring(ctx: Ctx): Promise<string> {
  const now = ctx.clock.now();
  const before = { beats: now - KEEP.beats, hours: now - KEEP.hours, incidents: now - KEEP.incidents };
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
  return `${total} rows forgotten`;
}
