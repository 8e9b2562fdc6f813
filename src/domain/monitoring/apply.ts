/** Stores the consequences of checks: one transaction for any number of them, then the events for what changed. */

import { emitAlerts } from '../../runtime/events.js';
import { groupBy } from '../../runtime/group-by.js';
import type { MonitorRow } from '../../store/monitoring/monitors.js';
import type { Ctx } from '../context.js';
import type { CheckOutcome } from './check.js';
import type { MonitorSettings } from './settings.js';
import { advance, flapWindow, isChange, type MonitorRecord, PENDING, UP } from './state.js';

export interface ClassifiedCheck extends CheckOutcome {
  monitor: MonitorRow;
  settings: MonitorSettings;
  /** Until when the monitor is claimed for this check; null for a manual check, which needs no claim. */
  claim: number | null;
}

/**
 * Stores results and raises the alerts that are due. A check of a monitor that has changed in the meantime leaves no
 * trace.
 */
export async function applyChecks(
  ctx: Ctx,
  checks: readonly ClassifiedCheck[],
): Promise<{ stored: number; alerts: number }> {
  if (checks.length === 0) return { stored: 0, alerts: 0 };
  const now = ctx.clock.now();
  const earlier = await earlierChanges(ctx, checks, now);
  const records = checks.map(({ monitor, settings, classification, claim }) => {
    const next = advance(monitor, classification, settings, now, earlier.get(monitor.site_id) ?? 0);
    const record: MonitorRecord = { ...next, claim };
    const counts = settings.active && monitor.suspended === 0 && !inMaintenance(monitor, now);
    return counts ? record : withoutConsequences(record, monitor);
  });
  const { stored, alerts } = await ctx.store.monitorResults.record(records);
  emitAlerts(ctx.events, alerts);
  return { stored: stored.size, alerts: alerts.length };
}

/** Whether somebody works on the site: until then it is not checked on schedule. */
export const inMaintenance = ({ maintenance_until }: Pick<MonitorRow, 'maintenance_until'>, now: number) =>
  maintenance_until !== null && maintenance_until > now;

/** For a manual check of a monitor that is switched off or in maintenance: the beat is stored, but no alert is raised. */
function withoutConsequences(record: MonitorRecord, monitor: MonitorRow): MonitorRecord {
  return {
    ...record,
    beat: { ...record.beat, status: record.beat.status === UP ? UP : PENDING, important: false, down_count: 0 },
    state: { confirmed: monitor.confirmed, reported: monitor.reported, failures: 0, flapping_until: null },
    // Unchanged: a monitor that was just switched off still waits for the run that closes its open incident.
    next_check_at: monitor.next_check_at,
    hours: [],
    incident: null,
    alert: null,
  };
}

/** How often each site that changes now has changed lately; one query per distinct window. */
async function earlierChanges(ctx: Ctx, checks: readonly ClassifiedCheck[], now: number): Promise<Map<number, number>> {
  const changes = checks.filter(({ monitor, classification, settings }) => isChange(monitor, classification, settings));
  const byWindow = groupBy(changes, ({ settings }) => flapWindow(settings.interval));
  const counts = await Promise.all(
    [...byWindow].map(([window, own]) =>
      ctx.store.monitorResults.changesSince(
        own.map(({ monitor }) => monitor.site_id),
        now - window,
      ),
    ),
  );
  return new Map(counts.flatMap((count) => [...count]));
}
