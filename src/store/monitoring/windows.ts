/** Maintenance that returns each week. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { insertRow } from '../driver/rows.js';

export interface WeeklyWindow {
  /** 0 Sunday to 6 Saturday. */
  weekday: number;
  /** Minutes of the day. */
  from_min: number;
  to_min: number;
}

interface WindowRow extends Row, WeeklyWindow {
  id: number;
  site_id: number;
  begun_at: number | null;
  timezone: string;
  gmt_offset: string;
  maintenance_until: number | null;
}

export function createMaintenanceWindows(db: Db) {
  return {
    /** Those of a site, in the order of the week, with what its clock is. */
    async of(siteId: number): Promise<{ windows: WeeklyWindow[]; timezone: string; gmt_offset: string }> {
      const [windows = [], [site] = []] = await db.read([
        sql(
          'SELECT weekday, from_min, to_min FROM maintenance_window WHERE site_id = ? ORDER BY (weekday + 6) % 7, from_min, id',
          siteId,
        ),
        sql('SELECT timezone, gmt_offset FROM site_detail WHERE site_id = ?', siteId),
      ]);
      return {
        windows: windows as unknown as WeeklyWindow[],
        timezone: String(site?.timezone ?? ''),
        gmt_offset: String(site?.gmt_offset ?? ''),
      };
    },

    /** Replaces those of a site. */
    async replace(siteId: number, windows: readonly WeeklyWindow[]): Promise<void> {
      await db.batch([
        sql('DELETE FROM maintenance_window WHERE site_id = ?', siteId),
        ...windows.map((window) => insertRow('maintenance_window', { site_id: siteId, ...window })),
      ]);
    },

    /** Those that are to be looked at, with the clocks and the maintenance of their sites. */
    due(at: number, most: number): Promise<WindowRow[]> {
      return db.all<WindowRow>(
        `SELECT w.id, w.site_id, w.weekday, w.from_min, w.to_min, w.begun_at, d.timezone, d.gmt_offset, m.maintenance_until
         FROM maintenance_window w JOIN site_detail d ON d.site_id = w.site_id JOIN monitor m ON m.site_id = w.site_id
         WHERE w.next_at <= ? ORDER BY w.next_at, w.id LIMIT ?`,
        [at, most],
      );
    },

    async settle(id: number, { next_at, begun_at }: { next_at: number; begun_at: number | null }): Promise<void> {
      await db.run('UPDATE maintenance_window SET next_at = ?, begun_at = ? WHERE id = ?', [next_at, begun_at, id]);
    },
  };
}
