/**
 * Stores the complete history of monitors at once: thousands of checks in a few statements. For monitors that were
 * never checked.
 */

import type { Db, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { alertValues, type NewAlert } from './alerts.js';
import { BEAT, beatValues, type CheckRecord, type HourShare, SET_STATE, stateValues, sumFleetDays } from './record.js';

/** Rows per statement. */
const ROWS = 5_000;

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
 * @param firstDay days since 1970 (UTC): sums of hours before it are kept by day only
 * @param today the day that is not over yet
 */
export async function loadHistory(
  db: Db,
  checks: ReadonlyMap<number, readonly CheckRecord[]>,
  { firstDay, today }: { firstDay: number; today: number },
): Promise<void> {
  const all = [...checks.values()].flat().sort((a, b) => a.at - b.at);
  const hours = sumsOf(checks, (hour) => hour);
  const days = sumsOf(checks, (hour) => Math.floor(hour / 24));
  const statements = [
    // Ids of beats ascend with time.
    ...inserts(
      `heartbeat (site_id, ${BEAT})`,
      all.map((check) => [check.site_id, ...beatValues(check)]),
    ),
    ...inserts(
      `monitor_hour (site_id, hour, ${SUMS})`,
      hours.filter(([, hour]) => hour >= firstDay * 24).map(sumValues),
    ),
    ...inserts(`monitor_day (site_id, day, ${SUMS})`, days.filter(([, day]) => day < today).map(sumValues)),
    sql(sumFleetDays('day < ?'), today),
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
    sql('UPDATE monitor_engine SET summed_day = ?', today - 1),
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

interface Sum {
  up: number;
  down: number;
  pending: number;
  pings: number;
  total: number;
  least: number | null;
  most: number | null;
}

type SiteSum = [siteId: number, period: number, sum: Sum];

/** The sums of each site by period. @param periodOf the period of an hour, both counted since 1970 */
function sumsOf(checks: ReadonlyMap<number, readonly CheckRecord[]>, periodOf: (hour: number) => number): SiteSum[] {
  return [...checks].flatMap(([siteId, records]) => {
    const sums = new Map<number, Sum>();
    for (const { hours } of records) for (const share of hours) addShare(sums, periodOf(share.hour), share);
    return [...sums].map(([period, sum]): SiteSum => [siteId, period, sum]);
  });
}

function addShare(sums: Map<number, Sum>, period: number, { up_s, down_s, pending_s, ping_ms }: HourShare): void {
  const sum = sums.get(period) ?? { up: 0, down: 0, pending: 0, pings: 0, total: 0, least: null, most: null };
  sums.set(period, sum);
  sum.up += up_s;
  sum.down += down_s;
  sum.pending += pending_s;
  if (ping_ms === null) return;
  sum.pings += 1;
  sum.total += ping_ms;
  sum.least = Math.min(sum.least ?? ping_ms, ping_ms);
  sum.most = Math.max(sum.most ?? ping_ms, ping_ms);
}

function sumValues([siteId, period, { up, down, pending, pings, total, least, most }]: SiteSum): Value[] {
  return [siteId, period, up, down, pending, pings, total, least, most];
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
