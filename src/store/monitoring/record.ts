/** Stores checks of monitors with their consequences (heartbeats, hours, incidents, alerts), any number in one transaction. */

import type { BatchResult, Db, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { alertValues, type NewAlert } from './alerts.js';

/** Seconds in each state within one hour, and the answer time of a beat that was up. */
export interface HourShare {
  /** Hours since the epoch. */
  hour: number;
  up_s: number;
  down_s: number;
  pending_s: number;
  ping_ms: number | null;
}

/** One check and its consequences. Stored only while the monitor still has `seq` and the claim is valid. */
export interface CheckRecord<A extends NewAlert = NewAlert> {
  site_id: number;
  seq: number;
  /** The claim it was made under, see claims.ts; null for a check that a user asked for. */
  claim: number | null;
  at: number;
  beat: {
    status: number;
    important: boolean;
    ping_ms: number | null;
    http_code: number | null;
    duration: number;
    down_count: number;
    msg: string;
  };
  state: { confirmed: number; reported: number; failures: number; flapping_until: number | null };
  next_check_at: number | null;
  hours: readonly HourShare[];
  incident: 'open' | 'continue' | 'close' | null;
  alert: A | null;
}

const STANDS = 'site_id = ? AND seq = ? AND next_check_at IS coalesce(?, next_check_at)';
const CURRENT = `FROM monitor WHERE ${STANDS}`;

/** The columns of a beat after its site. */
export const BEAT = 'at, status, important, ping_ms, http_code, duration, down_count, msg';

export function beatValues({ at, beat }: CheckRecord): Value[] {
  return [
    at,
    beat.status,
    beat.important ? 1 : 0,
    beat.ping_ms,
    beat.http_code,
    beat.duration,
    beat.down_count,
    beat.msg,
  ];
}

/** Sets what a check leaves in its monitor, besides `seq`. */
export const SET_STATE = `UPDATE monitor SET status = ?, confirmed = ?, told = ?, failures = ?, down_count = ?, flapping_until = ?,
  last_check_at = ?, last_http_code = ?, last_ping_ms = ?, last_msg = ?, next_check_at = ?`;

/** Sums up the days of all monitors that fulfil the condition. */
export const sumFleetDays = (condition: string) =>
  `INSERT INTO fleet_day (day, up_s, down_s) SELECT day, sum(up_s), sum(down_s) FROM monitor_day WHERE ${condition} GROUP BY day
   ON CONFLICT (day) DO UPDATE SET up_s = excluded.up_s, down_s = excluded.down_s`;

/** The arguments of `SET_STATE`. */
export function stateValues({ at, beat, state, next_check_at }: CheckRecord): Value[] {
  return [
    beat.status,
    state.confirmed,
    state.reported,
    state.failures,
    beat.down_count,
    state.flapping_until,
    at,
    beat.http_code,
    beat.ping_ms,
    beat.msg,
    next_check_at,
  ];
}

/** The arguments of `STANDS`. */
function standing({ site_id, seq, claim }: CheckRecord): Value[] {
  return [site_id, seq, claim];
}

/**
 * Stores the checks that are still current, each completely or not at all. A check against an older state (changed settings,
 * a deleted site), or under a claim that went to another process, is not stored.
 * @returns the sites whose check was stored, and the alerts that are new
 */
export async function recordChecks<A extends NewAlert>(
  db: Db,
  checks: readonly CheckRecord<A>[],
): Promise<{ stored: Set<number>; alerts: A[] }> {
  const statements: Statement[] = [];
  const positions: { check: CheckRecord<A>; update: number; alert: number | null }[] = [];
  for (const check of checks) {
    statements.push(...consequences(check));
    const alert = check.alert === null ? null : statements.push(guardedAlert(check, check.alert)) - 1;
    // Last: it increments `seq`, which all statements before it compare with.
    positions.push({ check, alert, update: statements.push(stateStatement(check)) - 1 });
  }
  const results: BatchResult[] = await db.batch(statements);
  const stored = new Set<number>();
  const alerts: A[] = [];
  for (const { check, update, alert } of positions) {
    if (results[update]?.changes === 1) stored.add(check.site_id);
    if (alert !== null && check.alert !== null && results[alert]?.changes === 1) alerts.push(check.alert);
  }
  return { stored, alerts };
}

/** Heartbeat, hours and incident, each only while the monitor is as it was when the check began. */
function consequences(check: CheckRecord): Statement[] {
  const { beat, site_id, at } = check;
  const statements = [
    sql(
      `INSERT INTO heartbeat (site_id, ${BEAT}) SELECT site_id, ?, ?, ?, ?, ?, ?, ?, ? ${CURRENT}`,
      ...beatValues(check),
      ...standing(check),
    ),
    ...check.hours.map((share) => hourStatement(check, share)),
  ];
  if (check.incident === 'open') {
    statements.push(
      sql(
        `INSERT INTO incident (site_id, started_at, http_code, msg, down_count) SELECT site_id, ?, ?, ?, ? ${CURRENT}`,
        at,
        beat.http_code,
        beat.msg,
        beat.down_count,
        ...standing(check),
      ),
    );
  } else if (check.incident !== null) {
    statements.push(
      sql(
        `UPDATE incident SET down_count = down_count + ?, ended_at = ? WHERE site_id = ? AND ended_at IS NULL AND EXISTS (SELECT 1 ${CURRENT})`,
        check.incident === 'continue' ? 1 : 0,
        check.incident === 'close' ? at : null,
        site_id,
        ...standing(check),
      ),
    );
  }
  return statements;
}

function hourStatement(check: CheckRecord, share: HourShare): Statement {
  const { hour, up_s, down_s, pending_s, ping_ms } = share;
  return sql(
    `INSERT INTO monitor_hour (site_id, hour, up_s, down_s, pending_s, pings, ping_sum, ping_min, ping_max)
     SELECT site_id, ?, ?, ?, ?, ?, ?, ?, ? ${CURRENT}
     ON CONFLICT (site_id, hour) DO UPDATE SET up_s = up_s + excluded.up_s, down_s = down_s + excluded.down_s,
       pending_s = pending_s + excluded.pending_s, pings = pings + excluded.pings, ping_sum = ping_sum + excluded.ping_sum,
       ping_min = min(ifnull(ping_min, excluded.ping_min), ifnull(excluded.ping_min, ping_min)),
       ping_max = max(ifnull(ping_max, excluded.ping_max), ifnull(excluded.ping_max, ping_max))`,
    hour,
    up_s,
    down_s,
    pending_s,
    ping_ms === null ? 0 : 1,
    ping_ms ?? 0,
    ping_ms,
    ping_ms,
    ...standing(check),
  );
}

function guardedAlert(check: CheckRecord, alert: NewAlert): Statement {
  return sql(
    `INSERT INTO alert (key, kind, site_id, at, facts) SELECT ?, ?, ?, ?, ? ${CURRENT} ON CONFLICT (key) DO NOTHING`,
    ...alertValues(alert),
    ...standing(check),
  );
}

function stateStatement(check: CheckRecord): Statement {
  return sql(`${SET_STATE}, seq = seq + 1 WHERE ${STANDS}`, ...stateValues(check), ...standing(check));
}
