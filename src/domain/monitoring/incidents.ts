/** Incidents of all sites, and their acknowledgement. */

import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { FleetIncidentRow, IncidentFilter, IncidentRow } from '../../store/monitoring/results.js';
import type { Ctx } from '../context.js';

/** Times in the text form of the user's document, and as ISO 8601 as well. */
export function incidentView(row: IncidentRow, now: number) {
  return {
    id: row.id,
    status: 'down' as const,
    started_at: plainTime(row.started_at),
    ended_at: row.ended_at === null ? null : plainTime(row.ended_at),
    started_at_iso: isoTime(row.started_at) ?? '',
    ended_at_iso: isoTime(row.ended_at),
    duration_sec: Math.max(0, Math.round(((row.ended_at ?? now) - row.started_at) / 1000)),
    resolved: row.ended_at !== null,
    down_count: row.down_count,
    http_code: row.http_code,
    msg: row.msg,
    acknowledged_at: isoTime(row.acknowledged_at),
    acknowledged_by: row.acknowledged_by,
    acknowledged_note: row.acknowledged_note,
  };
}

function plainTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

function fleetView(row: FleetIncidentRow, now: number) {
  return { ...incidentView(row, now), site_id: row.site_id, url: row.url, name: row.name };
}

export type FleetIncident = ReturnType<typeof fleetView>;

export interface IncidentQuery extends Omit<IncidentFilter, 'since'> {
  /** Only incidents that began within this many days. */
  days?: number | undefined;
}

const DAY_MS = 86_400_000;

/** One page, newest first, with the true total. */
export async function listFleetIncidents(ctx: Ctx, { days, ...filter }: IncidentQuery, page: number, perPage: number) {
  const now = ctx.clock.now();
  const { items, total } = await ctx.store.monitorResults.fleetIncidents(
    { ...filter, since: days === undefined ? undefined : now - days * DAY_MS },
    page,
    perPage,
  );
  return { items: items.map((row) => fleetView(row, now)), total };
}

/**
 * Records who acknowledged an incident, and when; revoked with `acknowledged: false`. Checks and alerts continue as
 * before. The first to acknowledge stays recorded: later calls only change the note. Throws `svc_incident_not_found`.
 */
export async function acknowledgeIncident(
  ctx: Ctx,
  id: number,
  { acknowledged, note }: { acknowledged: boolean; note?: string | undefined },
): Promise<FleetIncident> {
  const before = await load(ctx, id);
  const at = before.acknowledged_at ?? ctx.clock.now();
  const by = before.acknowledged_at === null ? callerName(ctx) : before.acknowledged_by;
  const mark = acknowledged ? { at, by, note: note ?? before.acknowledged_note } : null;
  await ctx.store.monitorResults.acknowledge(id, mark);
  if (acknowledged !== (before.acknowledged_at !== null)) {
    ctx.events.emit({
      name: acknowledged ? 'incident.acknowledged' : 'incident.acknowledgement_withdrawn',
      site_id: before.site_id,
      facts: { incident_id: id, title: `incident of ${isoTime(before.started_at)}` },
    });
  }
  return fleetView(await load(ctx, id), ctx.clock.now());
}

async function load(ctx: Ctx, id: number): Promise<FleetIncidentRow> {
  const row = await ctx.store.monitorResults.incident(id);
  if (row !== undefined) return row;
  throw new ServiceError('svc_incident_not_found', `No incident has the id ${id}.`, { field: 'incident_id' });
}

/** The name of who calls, for people. */
export function callerName({ actor: { type, name, id } }: Ctx): string {
  return name === '' ? [type, id].filter((part) => part !== null).join(' ') : name;
}
