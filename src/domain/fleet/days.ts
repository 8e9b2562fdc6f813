/** The fleet as a whole, now and on the days before. */

import type { FleetCounts, FleetDayRow } from '../../store/fleet/fleet-days.js';
import type { Ctx } from '../context.js';
import { DAYS_KEPT, dateOfDay, percentUp } from '../monitoring/history.js';
import { monitoringDefaults } from '../settings/effects.js';

const DAY_MS = 86_400_000;
const today = (ctx: Ctx) => Math.floor(ctx.clock.now() / DAY_MS);

async function countFleet(ctx: Ctx): Promise<FleetCounts> {
  const { active } = await monitoringDefaults(ctx);
  const [counts, levels] = await Promise.all([ctx.store.fleetDays.count(active), ctx.store.fleetOffers.levels()]);
  return { ...counts, updates: levels.reduce((sum, { n }) => sum + n, 0) };
}

/** Stores what is known of today so far; days that are older than those of monitors are deleted. */
export async function recordFleetDay(ctx: Ctx): Promise<string> {
  await ctx.store.fleetDays.record(today(ctx), await countFleet(ctx));
  await ctx.store.fleetDays.prune(today(ctx) - DAYS_KEPT);
  return 'counted';
}

/** The days that anything is known of, oldest first, and today as it is now. Days are in UTC. */
export async function fleetDays(ctx: Ctx, days: number) {
  const last = today(ctx);
  const [rows, counts] = await Promise.all([ctx.store.fleetDays.since(last - days + 1), countFleet(ctx)]);
  const before = rows.filter(({ day }) => day < last).map((row) => view(row.day, row, row));
  return [...before, view(last, counts, { up_s: null, down_s: null })];
}

function view(day: number, counts: FleetCounts, { up_s, down_s }: Pick<FleetDayRow, 'up_s' | 'down_s'>) {
  const { connected, disconnected, suspended, down, updates, vulnerable } = counts;
  return {
    date: dateOfDay(day),
    connected: connected === null ? null : connected - (down ?? 0),
    down,
    disconnected,
    suspended,
    updates,
    vulnerable,
    uptime: up_s === null || down_s === null ? null : percentUp(up_s, down_s),
  };
}
