/** Stored results of checks: beats, hourly sums, incidents. Written by record.ts. */

import type { Db, Row, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { countOf, readPage } from '../driver/lists.js';
import { among, fragment, join } from '../driver/sql-fragments.js';
import { idList } from '../sites/filter.js';
import type { NewAlert } from './alerts.js';
import { type Incident, loadHistory } from './imported-history.js';
import { type CheckRecord, recordChecks, sumFleetDays } from './record.js';

export interface BeatRow extends Row, Omit<CheckRecord['beat'], 'important'> {
  id: number;
  site_id: number;
  at: number;
  important: number;
}

export interface IncidentRow extends Row, Incident {
  id: number;
  acknowledged_at: number | null;
  acknowledged_by: string;
  acknowledged_note: string;
}

/** An incident with its site. */
export interface FleetIncidentRow extends IncidentRow {
  url: string;
  name: string;
}

export interface IncidentFilter {
  /** Undefined = of every site. */
  site_ids?: readonly number[] | undefined;
  /** Began then or later. */
  since?: number | undefined;
  open?: boolean | undefined;
  acknowledged?: boolean | undefined;
}

const INCIDENT =
  'i.id, i.site_id, i.started_at, i.ended_at, i.http_code, i.msg, i.down_count, i.acknowledged_at, i.acknowledged_by, i.acknowledged_note';

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

const SUM_DAYS = `INSERT OR REPLACE INTO monitor_day (site_id, day, up_s, down_s, pending_s, pings, ping_sum, ping_min, ping_max)
  SELECT site_id, hour / 24, sum(up_s), sum(down_s), sum(pending_s), sum(pings), sum(ping_sum), min(ping_min), max(ping_max) FROM monitor_hour`;

export function createMonitorResults(db: Db) {
  return {
    /** See `recordChecks`. */
    record: <A extends NewAlert>(checks: readonly CheckRecord<A>[]) => recordChecks(db, checks),

    /** See `loadHistory`. */
    loadHistory: (checks: ReadonlyMap<number, readonly CheckRecord[]>, days: { firstDay: number; today: number }) =>
      loadHistory(db, checks, days),

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
    beats(
      siteId: number,
      range: { from: number; to: number; status: readonly number[] },
      page: number,
      limit: number,
    ): Promise<{ items: BeatRow[]; total: number }> {
      const status = range.status.length === 0 ? '' : ' AND status IN (SELECT value FROM json_each(?))';
      const args: Value[] = [siteId, range.from, range.to, ...(status === '' ? [] : [idList(range.status)])];
      const where = `site_id = ? AND at BETWEEN ? AND ?${status}`;
      const rows = sql(
        `SELECT id, site_id, at, status, important, ping_ms, http_code, duration, down_count, msg FROM heartbeat WHERE ${where}
         ORDER BY at DESC, id DESC`,
        ...args,
      );
      const count = sql(`SELECT count(*) AS n FROM heartbeat WHERE ${where}`, ...args);
      return readPage<BeatRow>(db, rows, count, page, limit);
    },

    /** Incidents of one monitor, newest first. */
    incidents(siteId: number, page: number, perPage: number): Promise<{ items: IncidentRow[]; total: number }> {
      const rows = sql(
        `SELECT ${INCIDENT} FROM incident i WHERE i.site_id = ? ORDER BY i.started_at DESC, i.id DESC`,
        siteId,
      );
      const count = sql('SELECT count(*) AS n FROM incident WHERE site_id = ?', siteId);
      return readPage<IncidentRow>(db, rows, count, page, perPage);
    },

    /** Incidents of many sites, newest first. */
    fleetIncidents(
      filter: IncidentFilter,
      page: number,
      perPage: number,
    ): Promise<{ items: FleetIncidentRow[]; total: number }> {
      const { since, open, acknowledged } = filter;
      const { text, args } = join([
        among('i.site_id', filter.site_ids),
        since === undefined ? fragment('') : fragment(' AND i.started_at >= ?', since),
        fragment(open === undefined ? '' : ` AND i.ended_at IS ${open ? '' : 'NOT '}NULL`),
        fragment(acknowledged === undefined ? '' : ` AND i.acknowledged_at IS ${acknowledged ? 'NOT ' : ''}NULL`),
      ]);
      const rows = sql(
        `SELECT ${INCIDENT}, s.url, s.name FROM incident i JOIN site s ON s.id = i.site_id WHERE 1${text}
         ORDER BY i.started_at DESC, i.id DESC`,
        ...args,
      );
      const count = sql(`SELECT count(*) AS n FROM incident i WHERE 1${text}`, ...args);
      return readPage<FleetIncidentRow>(db, rows, count, page, perPage);
    },

    async incident(id: number): Promise<FleetIncidentRow | undefined> {
      return db.one<FleetIncidentRow>(
        `SELECT ${INCIDENT}, s.url, s.name FROM incident i JOIN site s ON s.id = i.site_id WHERE i.id = ?`,
        [id],
      );
    },

    /** @param mark who acknowledged it and when; null revokes it */
    async acknowledge(id: number, mark: { at: number; by: string; note: string } | null): Promise<void> {
      await db.run('UPDATE incident SET acknowledged_at = ?, acknowledged_by = ?, acknowledged_note = ? WHERE id = ?', [
        mark?.at ?? null,
        mark?.by ?? '',
        mark?.note ?? '',
        id,
      ]);
    },

    /** Incidents that began in a range. */
    countIncidents(siteId: number, from: number, to: number): Promise<number> {
      const query = 'SELECT count(*) AS n FROM incident WHERE site_id = ? AND started_at BETWEEN ? AND ?';
      return countOf(db, query, [siteId, from, to]);
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

    /**
     * Sums the hours of each day before `today` (days since the epoch) that is not summed yet, and of the last one that is:
     * a check may add time to a day that has just ended.
     */
    async sumDays(today: number): Promise<void> {
      const row = await db.one(
        'SELECT coalesce(summed_day, (SELECT min(hour) / 24 FROM monitor_hour)) AS first, summed_day FROM monitor_engine',
      );
      if (row === undefined || row.first === null || row.summed_day === today - 1) return;
      for (let day = Number(row.first); day < today; day++)
        await db.batch([
          sql(`${SUM_DAYS} WHERE hour >= ? AND hour < ? GROUP BY site_id, hour / 24`, day * 24, (day + 1) * 24),
          sql(sumFleetDays('day = ?'), day),
          sql('UPDATE monitor_engine SET summed_day = ?', day),
        ]);
    },

    /** Deletes expired rows, at most `limit` of each kind. Ids ascend with time. */
    async prune(
      before: { beats: number; hours: number; days: number; incidents: number },
      limit: number,
    ): Promise<number> {
      const results = await db.batch([
        sql(
          'DELETE FROM monitor_hour WHERE (site_id, hour) IN (SELECT site_id, hour FROM monitor_hour WHERE hour < ? ORDER BY hour LIMIT ?)',
          Math.floor(before.hours / HOUR_MS),
          limit,
        ),
        sql(
          'DELETE FROM monitor_day WHERE (site_id, day) IN (SELECT site_id, day FROM monitor_day WHERE day < ? ORDER BY day LIMIT ?)',
          Math.floor(before.days / (24 * HOUR_MS)),
          limit,
        ),
        sql(
          'DELETE FROM heartbeat WHERE id IN (SELECT id FROM (SELECT id, at FROM heartbeat ORDER BY id LIMIT ?) WHERE at < ?)',
          limit,
          before.beats,
        ),
        sql(
          'DELETE FROM incident WHERE id IN (SELECT id FROM incident WHERE ended_at < ? ORDER BY ended_at LIMIT ?)',
          before.incidents,
          limit,
        ),
      ]);
      return results.reduce((sum, { changes }) => sum + changes, 0);
    },
  };
}
