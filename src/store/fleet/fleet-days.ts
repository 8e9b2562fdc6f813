/** The fleet as a whole, day by day. */

import type { Db, Row } from '../driver/db.js';
import { VULNERABLE_INSTALLS } from '../vulnerabilities/list.js';

const COUNTS = ['connected', 'disconnected', 'suspended', 'down', 'updates', 'vulnerable'] as const;
/** Null = not known. */
export type FleetCounts = Record<(typeof COUNTS)[number], number | null>;

export interface FleetDayRow extends Row, FleetCounts {
  /** Days since the epoch, UTC. */
  day: number;
  up_s: number | null;
  down_s: number | null;
}

export function createFleetDays(db: Db) {
  return {
    /** What is known now, except of updates. @param active the global switch of the monitors */
    async count(active: boolean): Promise<Omit<FleetCounts, 'updates'>> {
      const of = (status: string) => `ifnull((SELECT n FROM site_count WHERE status = '${status}'), 0) AS ${status}`;
      const row = await db.one<Row & Omit<FleetCounts, 'updates'>>(
        `SELECT ${of('connected')}, ${of('disconnected')}, ${of('suspended')},
           (SELECT count(*) FROM monitor m CROSS JOIN site s ON s.id = m.site_id
            WHERE m.status = 0 AND coalesce(m.active, ?) = 1 AND s.status = 'connected') AS down,
           CASE WHEN EXISTS (SELECT 1 FROM vulnerability_feed WHERE read_at IS NOT NULL) THEN
             (SELECT count(DISTINCT s.id) FROM (${VULNERABLE_INSTALLS}) i CROSS JOIN site s ON s.id = i.site_id AND s.suspended = 0)
           END AS vulnerable`,
        [active ? 1 : 0],
      );
      if (row === undefined) throw new Error('a SELECT without FROM has a row');
      return row;
    },

    /** Stores what is known of a day; a later count of the same day replaces it. */
    async record(day: number, counts: FleetCounts): Promise<void> {
      await db.run(
        `INSERT INTO fleet_day (day, ${COUNTS.join(', ')}) VALUES (?, ${COUNTS.map(() => '?').join(', ')})
         ON CONFLICT (day) DO UPDATE SET ${COUNTS.map((name) => `${name} = excluded.${name}`).join(', ')}`,
        [day, ...COUNTS.map((name) => counts[name])],
      );
    },

    /** From a day on, oldest first; a day of which nothing is known has no row. */
    since(day: number): Promise<FleetDayRow[]> {
      return db.all<FleetDayRow>('SELECT * FROM fleet_day WHERE day >= ? ORDER BY day', [day]);
    },

    async prune(before: number): Promise<void> {
      await db.run('DELETE FROM fleet_day WHERE day < ?', [before]);
    },
  };
}
