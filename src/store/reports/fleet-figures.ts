/** Figures about the fleet as a whole, for the metrics: a few reads of counters and small groups. */

import type { Db } from '../driver/db.js';
import { sql } from '../driver/db.js';

const DAY_MS = 24 * 3_600_000;

export interface FleetFigures {
  /** Sites by status. */
  sites: Record<string, number>;
  /** Pending updates that are not ignored, by kind of item and versions. */
  updates: { type: number; current_version: string; new_version: string; n: number }[];
  /** Monitors by state: up, down, pending, unchecked; paused are switched-off ones. */
  monitors: Record<string, number>;
  /** Certificates by remaining time: expired, 0-7, 7-30, 30+ days; unknown. */
  certificates: Record<string, number>;
  /** The earliest expiry of a valid certificate in the fleet, ms; null if none is known. */
  first_expiry: number | null;
}

export function createFleetFigures(db: Db) {
  return {
    /** @param active the global switch of the monitors, for those without their own */
    async read(now: number, active: boolean): Promise<FleetFigures> {
      const [sites = [], updates = [], monitors = [], certificates = [], expiry = []] = await db.read([
        sql('SELECT status, n FROM site_count'),
        sql(
          `SELECT type, current_version, new_version, count(*) AS n FROM site_update WHERE ignored = 0
           GROUP BY type, current_version, new_version`,
        ),
        sql(
          `SELECT CASE WHEN ifnull(active, ?) = 0 THEN 'paused' WHEN status = 0 THEN 'down' WHEN status = 1 THEN 'up'
             WHEN status = 2 THEN 'pending' ELSE 'unchecked' END AS state, count(*) AS n FROM monitor GROUP BY state`,
          active ? 1 : 0,
        ),
        sql(
          `SELECT CASE WHEN valid_to IS NULL THEN 'unknown' WHEN valid_to <= ?1 THEN 'expired' WHEN valid_to < ?1 + ?2 THEN '0-7'
             WHEN valid_to < ?1 + ?3 THEN '7-30' ELSE '30+' END AS days, count(*) AS n FROM site_certificate GROUP BY days`,
          now,
          7 * DAY_MS,
          30 * DAY_MS,
        ),
        sql('SELECT min(valid_to) AS at FROM site_certificate WHERE valid_to > ?', now),
      ]);
      const at = expiry[0]?.at;
      const counts = (rows: typeof sites, name: string) =>
        Object.fromEntries(rows.map((row) => [String(row[name]), Number(row.n)]));
      return {
        sites: counts(sites, 'status'),
        updates: updates as FleetFigures['updates'],
        monitors: counts(monitors, 'state'),
        certificates: counts(certificates, 'days'),
        first_expiry: typeof at === 'number' ? at : null,
      };
    },
  };
}
