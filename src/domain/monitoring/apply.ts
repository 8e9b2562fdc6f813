/** Applies judged checks: one transaction for any number of them, then the events of the new alerts. */

import type { MonitorRow } from '../../store/monitoring/monitors.js';
import type { CheckRecord } from '../../store/monitoring/record.js';
import type { Ctx } from '../context.js';
import type { CheckOutcome } from './check.js';
import type { MonitorSettings } from './settings.js';
import { advance, flapWindow, isChange, PENDING, UP } from './state.js';

export interface JudgedCheck extends CheckOutcome {
  monitor: MonitorRow;
  settings: MonitorSettings;
  /** Until when the monitor is claimed for this check; null for a check by hand, which needs no claim. */
  claim: number | null;
}

/** Stores the consequences of checks and emits the new alerts. A check of a monitor whose record changed meanwhile is dropped. */
export async function applyChecks(
  ctx: Ctx,
  checks: readonly JudgedCheck[],
): Promise<{ stored: number; alerts: number }> {
  if (checks.length === 0) return { stored: 0, alerts: 0 };
  const now = ctx.clock.now();
  const earlier = await earlierChanges(ctx, checks, now);
  const records = checks.map(({ monitor, settings, verdict, claim }) => {
    const judged = advance(monitor, verdict, settings, now, earlier.get(monitor.site_id) ?? 0);
    const record: CheckRecord = { ...judged, claim };
    return settings.active && monitor.suspended === 0 ? record : withoutConsequences(record, monitor);
  });
  const { stored, alerts } = await ctx.store.monitorResults.record(records);
  for (const { kind, site_id, facts } of alerts)
    ctx.events.emit({ name: kind, ...(site_id === null ? {} : { site_id }), facts });
  return { stored: stored.size, alerts: alerts.length };
}

/** A check by hand of a monitor that is switched off: it leaves a beat, but no incident and no alert. */
function withoutConsequences(record: CheckRecord, monitor: MonitorRow): CheckRecord {
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
async function earlierChanges(ctx: Ctx, checks: readonly JudgedCheck[], now: number): Promise<Map<number, number>> {
  const byWindow = new Map<number, number[]>();
  for (const { monitor, settings, verdict } of checks) {
    if (!isChange(monitor, verdict, settings)) continue;
    const window = flapWindow(settings.interval);
    byWindow.set(window, [...(byWindow.get(window) ?? []), monitor.site_id]);
  }
  const counts = await Promise.all(
    [...byWindow].map(([window, ids]) => ctx.store.monitorResults.changesSince(ids, now - window)),
  );
  return new Map(counts.flatMap((count) => [...count]));
}
