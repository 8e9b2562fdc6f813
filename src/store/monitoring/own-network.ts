/** What each machine that checks monitors knows about its own network. */

import type { Db, Row } from '../driver/db.js';

export interface NetworkRow extends Row {
  down_since: number | null;
  /** When the references were last asked, from this machine. */
  asked_at: number | null;
  /** When a reference last answered; for a machine that never reached one, when any other machine did. */
  ok_at: number | null;
}

/** A machine without a sign of life for this long is forgotten. */
const FORGOTTEN_MS = 30 * 24 * 3_600_000;

export function createMonitorNetwork(db: Db) {
  return {
    async of(host: string): Promise<NetworkRow> {
      const row = await db.one<NetworkRow>(
        `SELECT n.down_since, n.asked_at, coalesce(n.ok_at, (SELECT max(ok_at) FROM monitor_network)) AS ok_at
         FROM (SELECT 1) LEFT JOIN monitor_network n ON n.host = ?`,
        [host],
      );
      return row ?? { down_since: null, asked_at: null, ok_at: null };
    },

    /** Records that the references were asked, and whether one answered. */
    async asked(host: string, at: number, online: boolean): Promise<void> {
      await db.run(
        `INSERT INTO monitor_network (host, asked_at, ok_at) VALUES (?, ?, ?)
         ON CONFLICT (host) DO UPDATE SET asked_at = excluded.asked_at, ok_at = coalesce(excluded.ok_at, ok_at)`,
        [host, at, online ? at : null],
      );
    },

    /**
     * Records that the network went down (since then) or is back (null). True for the one process that recorded it
     * first.
     */
    async change(host: string, downSince: number | null): Promise<boolean> {
      const { changes } = await db.run(
        'UPDATE monitor_network SET down_since = ? WHERE host = ? AND (down_since IS NULL) <> (? IS NULL)',
        [downSince, host, downSince],
      );
      return changes === 1;
    },

    async forgetOld(now: number): Promise<number> {
      const { changes } = await db.run('DELETE FROM monitor_network WHERE asked_at < ?', [now - FORGOTTEN_MS]);
      return changes;
    },
  };
}
