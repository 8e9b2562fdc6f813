/** From looks to stored consequences: one transaction for any number of them, then the events of what was new. */

import { emitAlerts } from '../../core/events.js';
import type { MonitorRow } from '../../store/monitoring/monitors.js';
import type { Ctx } from '../context.js';
import type { CheckOutcome } from './check.js';
import type { MonitorSettings } from './settings.js';
import { advance, flapWindow, isChange, type MonitorRecord, PENDING, UP } from './state.js';

export interface JudgedCheck extends CheckOutcome {
  monitor: MonitorRow;
  settings: MonitorSettings;
  /** Until when the monitor is claimed for this look; null for a check by hand, which needs no claim. */
  claim: number | null;
}

/** Stores what the checks mean and raises the alerts that are due. Looks at monitors that moved on meanwhile leave nothing. */
export async function applyChecks(
  ctx: Ctx,
  looks: readonly JudgedCheck[],
): Promise<{ stored: number; alerts: number }> {
  if (looks.length === 0) return { stored: 0, alerts: 0 };
  const now = ctx.clock.now();
  const earlier = await earlierChanges(ctx, looks, now);
  const records = looks.map(({ monitor, settings, verdict, claim }) => {
    const judged = advance(monitor, verdict, settings, now, earlier.get(monitor.site_id) ?? 0);
    const record: MonitorRecord = { ...judged, claim };
    return settings.active && monitor.suspended === 0 ? record : withoutConsequences(record, monitor);
  });
  const { stored, alerts } = await ctx.store.monitorResults.record(records);
  emitAlerts(ctx.events, alerts);
  return { stored: stored.size, alerts: alerts.length };
}

/** A check by hand of a monitor that is switched off: a beat to look at, nothing that anybody is told of. */
function withoutConsequences(record: MonitorRecord, monitor: MonitorRow): MonitorRecord {
  return {
    ...record,
    beat: { ...record.beat, status: record.beat.status === UP ? UP : PENDING, important: false, down_count: 0 },
    state: { settled: monitor.settled, told: monitor.told, failures: 0, flapping_until: null },
    // As it was: one that was switched off just now still waits for the run that ends what is open.
    next_check_at: monitor.next_check_at,
    hours: [],
    incident: null,
    alert: null,
  };
}

/** How often each site that changes now has changed lately; one question per distinct window. */
async function earlierChanges(ctx: Ctx, looks: readonly JudgedCheck[], now: number): Promise<Map<number, number>> {
  const byWindow = new Map<number, number[]>();
  for (const { monitor, settings, verdict } of looks) {
    if (!isChange(monitor, verdict, settings)) continue;
    const window = flapWindow(settings.interval);
    byWindow.set(window, [...(byWindow.get(window) ?? []), monitor.site_id]);
  }
  const counts = await Promise.all(
    [...byWindow].map(([window, ids]) => ctx.store.monitorResults.changesSince(ids, now - window)),
  );
  return new Map(counts.flatMap((count) => [...count]));
}
