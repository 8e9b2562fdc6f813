/** What checks leave behind: beats, hourly sums, incidents. All of one round in one transaction. */

import { alertValues, type NewAlert } from './alerts.js';
import type { BatchResult, Db, Row, Statement, Value } from './db.js';
import { sql } from './db.js';
import { idList } from './sites.js';

/** Seconds in each state within one hour, and the answer time of a beat that was up. */
export interface HourShare {
  /** Hours since the epoch. */
  hour: number;
  up_s: number;
  down_s: number;
  pending_s: number;
  ping_ms: number | null;
}

/** One judged check and all that follows from it. Recorded only while the monitor still has `seq`. */
export interface CheckRecord {
  site_id: number;
  seq: number;
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
  state: { settled: number; told: number; failures: number; flapping_until: number | null };
  next_check_at: number | null;
  hours: readonly HourShare[];
  incident: 'open' | 'continue' | 'close' | null;
  alert: NewAlert | null;
}

export interface BeatRow extends Row {
  id: number;
  site_id: number;
  at: number;
  status: number;
  important: number;
  ping_ms: number | null;
  http_code: number | null;
  duration: number;
  down_count: number;
  msg: string;
}

export interface IncidentRow extends Row {
  id: number;
  site_id: number;
  started_at: number;
  ended_at: number | null;
  http_code: number | null;
  msg: string;
  down_count: number;
}

export interface MonitorSums extends Row {
  site_id: number;
  up_24h: number;
  down_24h: number;
  up_7d: number;
  down_7d: number;
  up_30d: number;
  down_30d: number;
  pings: number;
  ping_sum: number;
  ping_min: number | null;
  ping_max: number | null;
}

const HOUR_MS = 3_600_000;
const CURRENT = 'FROM monitor WHERE site_id = ? AND seq = ?';

export function createMonitorResults(db: Db) {
  return {
    /**
     * Stores what is still current, each check wholly or not at all. Answers which were stored and the alerts that are
     * new: a check measured against an older state (a second process, a site deleted meanwhile) leaves nothing.
     */
    async record(checks: readonly CheckRecord[]): Promise<{ stored: Set<number>; alerts: NewAlert[] }> {
      const statements: Statement[] = [];
      const marks: { check: CheckRecord; update: number; alert: number | null }[] = [];
      for (const check of checks) {
        statements.push(...consequences(check));
        const alert = check.alert === null ? null : statements.push(guardedAlert(check, check.alert)) - 1;
        // Last, for it moves `seq` on, which all before it compare with.
        marks.push({ check, alert, update: statements.push(stateStatement(check)) - 1 });
      }
      const results: BatchResult[] = await db.batch(statements);
      const stored = new Set<number>();
      const alerts: NewAlert[] = [];
      for (const { check, update, alert } of marks) {
        if (results[update]?.changes === 1) stored.add(check.site_id);
        if (alert !== null && check.alert !== null && results[alert]?.changes === 1) alerts.push(check.alert);
      }
      return { stored, alerts };
    },

    /** Takes monitors out of the plan: their state is forgotten and an open incident ends, silently. */
    async pause(ids: readonly number[], now: number): Promise<void> {
      const list = idList(ids);
      await db.batch([
        sql(
          'UPDATE incident SET ended_at = ? WHERE ended_at IS NULL AND site_id IN (SELECT value FROM json_each(?))',
          now,
          list,
        ),
        sql(
          `UPDATE monitor SET next_check_at = NULL, status = 99, settled = 1, told = 1, failures = 0, down_count = 0, flapping_until = NULL,
             seq = seq + 1 WHERE site_id IN (SELECT value FROM json_each(?))`,
          list,
        ),
      ]);
    },

    /** Puts checks off without a trace, as while our own network is down. */
    async postpone(ids: readonly number[], until: number): Promise<void> {
      await db.run(
        'UPDATE monitor SET next_check_at = ? WHERE next_check_at IS NOT NULL AND site_id IN (SELECT value FROM json_each(?))',
        [until, idList(ids)],
      );
    },

    /** Starts and ends of incidents since `since`, by site: how often each one changed. */
    async changesSince(ids: readonly number[], since: number): Promise<Map<number, number>> {
      const rows = await db.all(
        `SELECT site_id, sum(started_at >= ?) + sum(ifnull(ended_at, 0) >= ?) AS n FROM incident
         WHERE site_id IN (SELECT value FROM json_each(?)) AND (started_at >= ? OR ended_at >= ?) GROUP BY site_id`,
        [since, since, idList(ids), since, since],
      );
      return new Map(rows.map((row) => [Number(row.site_id), Number(row.n)]));
    },

    /** Beats of one monitor, newest first, with the true total. */
    async beats(
      siteId: number,
      range: { from: number; to: number; status: readonly number[] },
      page: number,
      limit: number,
    ): Promise<{ items: BeatRow[]; total: number }> {
      const status = range.status.length === 0 ? '' : ' AND status IN (SELECT value FROM json_each(?))';
      const args: Value[] = [siteId, range.from, range.to, ...(status === '' ? [] : [idList(range.status)])];
      const where = `site_id = ? AND at BETWEEN ? AND ?${status}`;
      const [items = [], counts = []] = await db.read([
        sql(
          `SELECT id, site_id, at, status, important, ping_ms, http_code, duration, down_count, msg FROM heartbeat WHERE ${where}
           ORDER BY at DESC, id DESC LIMIT ? OFFSET ?`,
          ...args,
          limit,
          Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER),
        ),
        sql(`SELECT count(*) AS n FROM heartbeat WHERE ${where}`, ...args),
      ]);
      return { items: items as BeatRow[], total: Number(counts[0]?.n ?? 0) };
    },

    /** Incidents of one monitor, newest first. */
    async incidents(siteId: number, page: number, perPage: number): Promise<{ items: IncidentRow[]; total: number }> {
      const [items = [], counts = []] = await db.read([
        sql(
          `SELECT id, site_id, started_at, ended_at, http_code, msg, down_count FROM incident WHERE site_id = ?
           ORDER BY started_at DESC, id DESC LIMIT ? OFFSET ?`,
          siteId,
          perPage,
          Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER),
        ),
        sql('SELECT count(*) AS n FROM incident WHERE site_id = ?', siteId),
      ]);
      return { items: items as IncidentRow[], total: Number(counts[0]?.n ?? 0) };
    },

    /** Incidents that began in a range. */
    async countIncidents(siteId: number, from: number, to: number): Promise<number> {
      const row = await db.one('SELECT count(*) AS n FROM incident WHERE site_id = ? AND started_at BETWEEN ? AND ?', [
        siteId,
        from,
        to,
      ]);
      return Number(row?.n ?? 0);
    },

    /** Sums over the last 24 hours, 7 and 30 days, the hours of the last day, and incidents begun; by site. */
    async metrics(ids: readonly number[], now: number) {
      const list = idList(ids);
      const hour = Math.floor(now / HOUR_MS);
      const [sums = [], hours = [], incidents = []] = await db.read([
        sql(
          `SELECT site_id, sum(up_s) AS up_30d, sum(down_s) AS down_30d, sum(iif(hour >= ?, up_s, 0)) AS up_7d,
             sum(iif(hour >= ?, down_s, 0)) AS down_7d, sum(iif(hour >= ?, up_s, 0)) AS up_24h, sum(iif(hour >= ?, down_s, 0)) AS down_24h,
             sum(pings) AS pings, sum(ping_sum) AS ping_sum, min(ping_min) AS ping_min, max(ping_max) AS ping_max
           FROM monitor_hour WHERE site_id IN (SELECT value FROM json_each(?)) AND hour >= ? GROUP BY site_id`,
          hour - 168,
          hour - 168,
          hour - 24,
          hour - 24,
          list,
          hour - 720,
        ),
        sql(
          'SELECT site_id, hour, up_s, down_s, pending_s FROM monitor_hour WHERE site_id IN (SELECT value FROM json_each(?)) AND hour > ?',
          list,
          hour - 24,
        ),
        sql(
          `SELECT site_id, count(*) AS n_30d, sum(started_at >= ?) AS n_7d FROM incident
           WHERE site_id IN (SELECT value FROM json_each(?)) AND started_at >= ? GROUP BY site_id`,
          now - 7 * 24 * HOUR_MS,
          list,
          now - 30 * 24 * HOUR_MS,
        ),
      ]);
      return {
        sums: new Map((sums as MonitorSums[]).map((row) => [row.site_id, row])),
        hours: hours as (Row & { site_id: number; hour: number; up_s: number; down_s: number; pending_s: number })[],
        incidents: new Map(
          incidents.map((row) => [Number(row.site_id), { n_7d: Number(row.n_7d), n_30d: Number(row.n_30d) }]),
        ),
      };
    },

    /** Forgets what is older than its time, at most `limit` rows of each kind. Ids ascend with time. */
    async prune(
      before: { beats: number | null; hours: number; incidents: number | null },
      limit: number,
    ): Promise<number> {
      const statements = [
        sql(
          'DELETE FROM monitor_hour WHERE (site_id, hour) IN (SELECT site_id, hour FROM monitor_hour WHERE hour < ? ORDER BY hour LIMIT ?)',
          Math.floor(before.hours / HOUR_MS),
          limit,
        ),
      ];
      if (before.beats !== null)
        statements.push(
          sql(
            'DELETE FROM heartbeat WHERE id IN (SELECT id FROM (SELECT id, at FROM heartbeat ORDER BY id LIMIT ?) WHERE at < ?)',
            limit,
            before.beats,
          ),
        );
      if (before.incidents !== null)
        statements.push(
          sql(
            'DELETE FROM incident WHERE id IN (SELECT id FROM incident WHERE ended_at < ? ORDER BY ended_at LIMIT ?)',
            before.incidents,
            limit,
          ),
        );
      const results = await db.batch(statements);
      return results.reduce((sum, { changes }) => sum + changes, 0);
    },
  };
}

/** The beat, the hours and the incident, each only while the monitor is as it was when the check began. */
function consequences(check: CheckRecord): Statement[] {
  const { beat, site_id, seq, at } = check;
  const statements = [
    sql(
      `INSERT INTO heartbeat (site_id, at, status, important, ping_ms, http_code, duration, down_count, msg)
       SELECT site_id, ?, ?, ?, ?, ?, ?, ?, ? ${CURRENT}`,
      at,
      beat.status,
      beat.important,
      beat.ping_ms,
      beat.http_code,
      beat.duration,
      beat.down_count,
      beat.msg,
      site_id,
      seq,
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
        site_id,
        seq,
      ),
    );
  } else if (check.incident !== null) {
    statements.push(
      sql(
        `UPDATE incident SET down_count = down_count + ?, ended_at = ? WHERE site_id = ? AND ended_at IS NULL AND EXISTS (SELECT 1 ${CURRENT})`,
        check.incident === 'continue' ? 1 : 0,
        check.incident === 'close' ? at : null,
        site_id,
        site_id,
        seq,
      ),
    );
  }
  return statements;
}

function hourStatement({ site_id, seq }: CheckRecord, share: HourShare): Statement {
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
    site_id,
    seq,
  );
}

function guardedAlert({ site_id, seq }: CheckRecord, alert: NewAlert): Statement {
  return sql(
    `INSERT INTO alert (key, kind, site_id, at, facts) SELECT ?, ?, ?, ?, ? ${CURRENT} ON CONFLICT (key) DO NOTHING`,
    ...alertValues(alert),
    site_id,
    seq,
  );
}

function stateStatement({ site_id, seq, at, beat, state, next_check_at }: CheckRecord): Statement {
  return sql(
    `UPDATE monitor SET status = ?, settled = ?, told = ?, failures = ?, down_count = ?, flapping_until = ?, last_check_at = ?,
       last_http_code = ?, last_ping_ms = ?, last_msg = ?, next_check_at = ?, seq = seq + 1 WHERE site_id = ? AND seq = ?`,
    beat.status,
    state.settled,
    state.told,
    state.failures,
    beat.down_count,
    state.flapping_until,
    at,
    beat.http_code,
    beat.ping_ms,
    beat.msg,
    next_check_at,
    site_id,
    seq,
  );
}
