/** Data that reports read: changes and uptime of a range, and records of other tools. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { rowsAndTotal } from '../driver/lists.js';
import { insertRow } from '../driver/rows.js';
import type { IncidentRow, MonitorSums } from '../monitoring/results.js';
import type { ChangeRow } from '../sites/change-list.js';

interface ChangeEvent
  extends Row,
    Pick<ChangeRow, 'context' | 'action' | 'item' | 'detail' | 'summary' | 'old_value' | 'new_value' | 'user_login'> {
  source: string;
  slug: string;
  /** Unix seconds with fraction. */
  created: number;
}

interface RecordRow extends Row {
  id: number;
  action: string;
  /** JSON object. */
  facts: string;
  at: number;
}

interface UptimeDay extends Row, Pick<MonitorSums, 'pings' | 'ping_sum' | 'ping_min' | 'ping_max'> {
  /** Days since the epoch, UTC. */
  day: number;
  up_s: number;
  down_s: number;
  pending_s: number;
}

interface IncidentOf extends Row, Pick<IncidentRow, 'id' | 'started_at' | 'ended_at' | 'http_code' | 'msg'> {}

interface MeasuredRange {
  /** Milliseconds. */
  from: number;
  to: number;
  /** The start of a day from which on hours are kept: before it, each day counts as a whole, by its noon. */
  hours_since: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SUMS = 'up_s, down_s, pending_s, pings, ping_sum, ping_min, ping_max';
/** What was measured at site ?1: by hour from day ?2 on, or as long as days are not summed; by day before. */
const MEASURED = `SELECT hour, ${SUMS} FROM monitor_hour, (SELECT min(?2, ifnull(summed_day + 1, 0)) AS since FROM monitor_engine)
    WHERE site_id = ?1 AND hour >= since * 24
  UNION ALL SELECT day * 24 + 12, ${SUMS} FROM monitor_day, (SELECT min(?2, ifnull(summed_day + 1, 0)) AS since FROM monitor_engine)
    WHERE site_id = ?1 AND day < since`;

/** Maximum number of records kept per site and segment. */
const MAX_RECORDS = 10_000;

/** Those that were installed, on sites of which the run wrote a receipt. */
const CHECKED = `FROM update_run_item i WHERE site_id = ? AND type = ? AND finished_at >= ? AND finished_at < ?
  AND (state IN ('kept', 'rolled_back') OR code = 'svc_update_broke_site')
  AND EXISTS (SELECT 1 FROM run_receipt r WHERE r.run_id = i.run_id AND r.site_id = i.site_id)`;

export function createReportData(db: Db) {
  return {
    /** Changes of these contexts (lower case), newest first, and the number of each kind. Seconds, `to` exclusive. */
    async changes(siteId: number, contexts: readonly string[], from: number, to: number, limit: number) {
      const where =
        'site_id = ? AND created >= ? AND created < ? AND lower(context) IN (SELECT value FROM json_each(?))';
      const args = [siteId, from, to, JSON.stringify(contexts)];
      const [items = [], counts = []] = await db.read([
        sql(
          `SELECT source, context, action, item, detail, summary, slug, old_value, new_value, user_login, created FROM site_change WHERE ${where} ORDER BY created DESC, id DESC LIMIT ?`,
          ...args,
          limit,
        ),
        sql(`SELECT action, count(*) AS n FROM site_change WHERE ${where} GROUP BY action`, ...args),
      ]);
      return {
        items: items as ChangeEvent[],
        counts: counts.map((row) => ({ action: String(row.action), n: Number(row.n) })),
      };
    },

    /**
     * Updates of a type in a range in ms, `to` exclusive, of runs that compared the site with before: how many, how many of
     * them were rolled back, and the runs, newest first.
     */
    async checkedUpdates(siteId: number, type: number, from: number, to: number, limit: number) {
      const [rows = [], [counts] = []] = await db.read([
        sql(
          `SELECT run_id, max(finished_at) AS at ${CHECKED} GROUP BY run_id ORDER BY at DESC, run_id LIMIT ?`,
          siteId,
          type,
          from,
          to,
          limit,
        ),
        sql(
          `SELECT count(*) AS n, count(CASE WHEN state = 'rolled_back' THEN 1 END) AS back, count(DISTINCT run_id) AS runs ${CHECKED}`,
          siteId,
          type,
          from,
          to,
        ),
      ]);
      return {
        checked: Number(counts?.n ?? 0),
        taken_back: Number(counts?.back ?? 0),
        runs: Number(counts?.runs ?? 0),
        newest: rows.map((row) => ({ run_id: String(row.run_id), at: Number(row.at) })),
      };
    },

    /** Uptime by day within whole hours of a range; `to` exclusive. */
    uptimeDays(siteId: number, { from, to, hours_since }: MeasuredRange): Promise<UptimeDay[]> {
      return db.all<UptimeDay>(
        `SELECT hour / 24 AS day, sum(up_s) AS up_s, sum(down_s) AS down_s, sum(pending_s) AS pending_s, sum(pings) AS pings,
           sum(ping_sum) AS ping_sum, min(ping_min) AS ping_min, max(ping_max) AS ping_max
         FROM (${MEASURED}) WHERE hour >= ?3 AND hour < ?4 GROUP BY hour / 24 ORDER BY 1`,
        [siteId, hours_since / DAY_MS, Math.floor(from / HOUR_MS), Math.ceil(to / HOUR_MS)],
      );
    },

    /** Seconds up and down from each of these instants until `to`, in the same order. */
    async uptimeSums(
      siteId: number,
      since: readonly number[],
      { to, hours_since }: Omit<MeasuredRange, 'from'>,
    ): Promise<{ up: number; down: number }[]> {
      const rows = await db.all(
        `WITH h AS MATERIALIZED (${MEASURED})
         SELECT w.key AS i, sum(h.up_s) AS up, sum(h.down_s) AS down FROM json_each(?3) w
         LEFT JOIN h ON h.hour >= w.value AND h.hour < ?4 GROUP BY w.key ORDER BY w.key`,
        [
          siteId,
          hours_since / DAY_MS,
          JSON.stringify(since.map((at) => Math.floor(at / HOUR_MS))),
          Math.ceil(to / HOUR_MS),
        ],
      );
      return rows.map((row) => ({ up: Number(row.up ?? 0), down: Number(row.down ?? 0) }));
    },

    /** The oldest check on record, and the oldest trace of the monitor; ms, null = none. */
    async firstWatched(siteId: number): Promise<{ check: number | null; first: number | null }> {
      const row = await db.one(
        `SELECT (SELECT min(at) FROM heartbeat WHERE site_id = ?1) AS beat,
           (SELECT min(hour) FROM monitor_hour WHERE site_id = ?1) AS hour,
           (SELECT min(day) FROM monitor_day WHERE site_id = ?1) AS day,
           (SELECT min(started_at) FROM incident WHERE site_id = ?1) AS incident`,
        [siteId],
      );
      const instant = (value: unknown, unit: number) => (typeof value === 'number' ? [value * unit] : []);
      const exact = [...instant(row?.beat, 1), ...instant(row?.hour, HOUR_MS)];
      // Of a day it is not known when it began to be watched, unless a check of it is kept.
      const checks = instant(row?.day, DAY_MS).some((day) => exact.every((at) => at >= day + DAY_MS))
        ? [...exact, ...instant(row?.day, DAY_MS).map((day) => day + DAY_MS / 2)]
        : exact;
      const first = [...checks, ...instant(row?.incident, 1)];
      return {
        check: checks.length === 0 ? null : Math.min(...checks),
        first: first.length === 0 ? null : Math.min(...first),
      };
    },

    /** Incidents that touched a range in ms, newest first; `to` exclusive. */
    incidents(siteId: number, from: number, to: number, limit: number) {
      // What ended at the very start has no time in the range; what began there and ended at once still belongs to it.
      const where = 'site_id = ? AND started_at < ? AND (ended_at IS NULL OR ended_at > ? OR started_at >= ?)';
      const args = [siteId, to, from, from];
      const rows = sql(
        `SELECT id, started_at, ended_at, http_code, msg FROM incident WHERE ${where} ORDER BY started_at DESC, id DESC LIMIT ?`,
        ...args,
        limit,
      );
      return rowsAndTotal<IncidentOf>(db, rows, sql(`SELECT count(*) AS n FROM incident WHERE ${where}`, ...args));
    },

    /** Records of a range, newest first, their number by action, and whether there ever was one. */
    async records(siteId: number, segment: string, from: number, to: number, limit: number) {
      const where = 'site_id = ? AND segment = ? AND at >= ? AND at < ?';
      const args = [siteId, segment, from, to];
      const [items = [], counts = [], any = []] = await db.read([
        sql(
          `SELECT id, action, facts, at FROM report_record WHERE ${where} ORDER BY at DESC, id DESC LIMIT ?`,
          ...args,
          limit,
        ),
        sql(`SELECT action, count(*) AS n FROM report_record WHERE ${where} GROUP BY action`, ...args),
        sql('SELECT 1 AS found FROM report_record WHERE site_id = ? AND segment = ? LIMIT 1', siteId, segment),
      ]);
      return {
        items: items as RecordRow[],
        counts: new Map(counts.map((row) => [String(row.action), Number(row.n)])),
        any: any.length > 0,
      };
    },

    /** Stores a record; the oldest beyond the limit are deleted. Returns its id. */
    async addRecord(siteId: number, segment: string, action: string, facts: unknown, at: number): Promise<number> {
      const [added] = await db.batch([
        insertRow('report_record', { site_id: siteId, segment, action, facts: JSON.stringify(facts), at }),
        sql(
          `DELETE FROM report_record WHERE site_id = ?1 AND segment = ?2 AND id NOT IN
             (SELECT id FROM report_record WHERE site_id = ?1 AND segment = ?2 ORDER BY at DESC, id DESC LIMIT ${MAX_RECORDS})
             AND (SELECT count(*) FROM report_record WHERE site_id = ?1 AND segment = ?2) > ${MAX_RECORDS}`,
          siteId,
          segment,
        ),
      ]);
      return added?.lastId ?? 0;
    },

    /** Deletes all records of a segment; returns how many. */
    async removeRecords(siteId: number, segment: string): Promise<number> {
      const { changes } = await db.run('DELETE FROM report_record WHERE site_id = ? AND segment = ?', [
        siteId,
        segment,
      ]);
      return changes;
    },
  };
}
