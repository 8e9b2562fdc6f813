/**
 * Stores the complete history of monitors at once: thousands of checks in a few statements. For monitors that were
 * never checked.
 */

import type { Db, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { alertValues, type NewAlert } from './alerts.js';
import { BEAT, beatValues, type CheckRecord, SET_STATE, stateValues, sumFleetDays } from './record.js';

/** Rows per statement. */
const ROWS = 5_000;
const HOUR_MS = 3_600_000;

export interface Incident {
  site_id: number;
  started_at: number;
  ended_at: number | null;
  http_code: number | null;
  msg: string;
  down_count: number;
}

/**
 * Stores checks as `recordChecks` would have, in sequence. Alerts count as sent.
 * @param checks by site, oldest first
 * @param hoursSince the beginning of a day (UTC, milliseconds since 1970): sums of earlier hours are kept by day only
 */
export async function loadHistory(
  db: Db,
  checks: ReadonlyMap<number, readonly CheckRecord[]>,
  hoursSince: number,
): Promise<void> {
  const firstHour = hoursSince / HOUR_MS;
  const all = [...checks.values()].flat().sort((a, b) => a.at - b.at);
  const statements = [
    // Ids of beats ascend with time.
    ...inserts(
      `heartbeat (site_id, ${BEAT})`,
      all.map((check) => [check.site_id, ...beatValues(check)]),
    ),
    ...inserts(
      `monitor_hour (site_id, hour, ${SUMS})`,
      [...checks].flatMap(([siteId, records]) => sums(siteId, records, (hour) => (hour < firstHour ? null : hour))),
    ),
    ...inserts(
      `monitor_day (site_id, day, ${SUMS})`,
      [...checks].flatMap(([siteId, records]) =>
        sums(siteId, records, (hour) => (hour < firstHour ? Math.floor(hour / 24) : null)),
      ),
    ),
    sql(sumFleetDays('day < ?'), firstHour / 24),
    ...inserts(
      'incident (site_id, started_at, ended_at, http_code, msg, down_count)',
      [...checks.values()]
        .flatMap(incidentsOf)
        .sort((a, b) => a.started_at - b.started_at)
        .map((one) => [one.site_id, one.started_at, one.ended_at, one.http_code, one.msg, one.down_count]),
    ),
    ...inserts(
      'alert (key, kind, site_id, at, facts, delivered_at, routed_at)',
      all.flatMap(({ alert }) => (alert === null ? [] : [[...alertValues(alert as NewAlert), alert.at, alert.at]])),
    ),
    ...[...checks].flatMap(([siteId, records]) => stateStatement(siteId, records)),
    // The days of the other hours are to be summed, too.
    sql('UPDATE monitor_engine SET summed_day = NULL'),
  ];
  await db.batch(statements);
}

function inserts(into: string, rows: readonly Value[][]): Statement[] {
  const columns = into.slice(into.indexOf('(') + 1, -1).split(', ');
  const values = columns.map((_, i) => `value ->> ${i}`).join(', ');
  const parts = Array.from({ length: Math.ceil(rows.length / ROWS) }, (_, i) => rows.slice(i * ROWS, (i + 1) * ROWS));
  return parts.map((part) => sql(`INSERT INTO ${into} SELECT ${values} FROM json_each(?)`, JSON.stringify(part)));
}

const SUMS = 'up_s, down_s, pending_s, pings, ping_sum, ping_min, ping_max';

/** Rows of sums by period. @param periodOf the period of an hour, both counted since the epoch; null = in no row */
function sums(siteId: number, records: readonly CheckRecord[], periodOf: (hour: number) => number | null): Value[][] {
  const periods = new Map<number, { up: number; down: number; pending: number; pings: number[] }>();
  for (const share of records.flatMap((record) => record.hours)) {
    const period = periodOf(share.hour);
    if (period === null) continue;
    const sum = periods.get(period) ?? { up: 0, down: 0, pending: 0, pings: [] };
    periods.set(period, sum);
    sum.up += share.up_s;
    sum.down += share.down_s;
    sum.pending += share.pending_s;
    if (share.ping_ms !== null) sum.pings.push(share.ping_ms);
  }
  return [...periods].map(([period, { up, down, pending, pings }]) => [
    ...[siteId, period, up, down, pending, pings.length, pings.reduce((total, ping) => total + ping, 0)],
    ...(pings.length === 0 ? [null, null] : [Math.min(...pings), Math.max(...pings)]),
  ]);
}

function incidentsOf(records: readonly CheckRecord[]): Incident[] {
  const incidents: Incident[] = [];
  for (const { site_id, at, beat, incident } of records) {
    const open = incidents.at(-1);
    if (incident === 'open') {
      const { http_code, msg, down_count } = beat;
      incidents.push({ site_id, started_at: at, ended_at: null, http_code, msg, down_count });
    } else if (incident === 'continue' && open !== undefined) open.down_count += 1;
    else if (incident === 'close' && open !== undefined) open.ended_at = at;
  }
  return incidents;
}

function stateStatement(siteId: number, records: readonly CheckRecord[]): Statement[] {
  const last = records.at(-1);
  if (last === undefined) return [];
  return [sql(`${SET_STATE}, seq = seq + ? WHERE site_id = ?`, ...stateValues(last), records.length, siteId)];
}
