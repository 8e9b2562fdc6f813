/**
 * Whose turn it is to check a monitor. To claim one is to move its `next_check_at` a little into the future: one statement,
 * nobody else sees it as due meanwhile, and the claim of a process that died lapses by itself. The instant it was moved to
 * is the proof of the claim: whatever is written about the monitor is written only while it stands there. It only grows
 * from claim to claim, so no two claims of a monitor have the same; and every change of the plan ends a claim with it.
 */

import type { Db, Value } from './db.js';
import { sql } from './db.js';
import { type Login, loginsOf, type MonitorRow } from './monitors.js';
import type { Vault } from './vault.js';

/** A claim on one monitor: `until` is both when it lapses and the proof of it. */
export interface Claim {
  site_id: number;
  until: number;
}

const SITE = ['url', 'name', 'suspended'].map((column) => `(SELECT ${column} FROM site WHERE id = monitor.site_id)`);
const OF_SECRET = (column: string) => `(SELECT ${column} FROM site_secret WHERE site_id = monitor.site_id)`;
/** What `MonitorRow` has, of tables that an UPDATE cannot join; and the login, which saves a round trip. */
const RETURNED = `site_id, ${SITE[0]} AS url, ${SITE[1]} AS name, ${SITE[2]} AS suspended,
  (SELECT ssl_verify FROM site_detail WHERE site_id = monitor.site_id) AS ssl_verify, active, interval_min, timeout_s, maxretries, type, method,
  expected_status, keyword, status, settled, told, failures, down_count, flapping_until, last_check_at, last_http_code, last_ping_ms, last_msg,
  next_check_at, seq, phase, ${OF_SECRET('http_user')} AS http_user, ${OF_SECRET('http_pass')} AS http_pass`;

export function createMonitorClaims(db: Db, vault: Vault) {
  return {
    /**
     * Claims monitors that are due, most overdue first: at most `most`, and no more than this process's part when several
     * share what is due. Includes those to be switched off. `next_check_at` of the rows is `until`.
     */
    async claim(
      now: number,
      until: number,
      { most, members }: { most: number; members: number },
    ): Promise<{ rows: MonitorRow[]; logins: Map<number, Login> }> {
      const found = await db.all<MonitorRow & { http_user: string | null; http_pass: string | null }>(
        `UPDATE monitor SET next_check_at = ?1 WHERE site_id IN (
           SELECT site_id FROM monitor WHERE next_check_at <= ?2 ORDER BY next_check_at, site_id LIMIT CAST(min(?3,
             ((SELECT count(*) FROM (SELECT 1 FROM monitor WHERE next_check_at <= ?2 LIMIT ?3 * ?4)) + ?4 - 1) / ?4) AS INTEGER))
         RETURNING ${RETURNED}`,
        [until, now, most, members],
      );
      const logins = loginsOf(found, vault);
      const rows = found.map(({ http_user: _user, http_pass: _pass, ...row }) => row as MonitorRow);
      return { rows, logins };
    },

    /** Moves claims that still stand to another instant: to keep them, or to give them back. Answers which these were. */
    async move(claims: readonly Claim[], now: number, until: number): Promise<Set<number>> {
      if (claims.length === 0) return new Set();
      const { where, args } = standing(claims);
      const rows = await db.all(
        `UPDATE monitor SET next_check_at = ? WHERE next_check_at > ? AND ${where} RETURNING site_id`,
        [until, now, ...args],
      );
      return new Set(rows.map(({ site_id }) => Number(site_id)));
    },

    /** Takes claimed monitors out of the plan: their state is forgotten and an open incident ends, silently. */
    async pause(claims: readonly Claim[], now: number): Promise<void> {
      const { where, args } = standing(claims);
      await db.batch([
        sql(
          `UPDATE incident SET ended_at = ? WHERE ended_at IS NULL AND site_id IN (SELECT site_id FROM monitor WHERE ${where})`,
          now,
          ...args,
        ),
        sql(
          `UPDATE monitor SET next_check_at = NULL, status = 99, settled = 1, told = 1, failures = 0, down_count = 0, flapping_until = NULL,
             seq = seq + 1 WHERE ${where}`,
          ...args,
        ),
      ]);
    },
  };
}

/** The monitors whose claims still stand. By id first, for which there is an index. */
function standing(claims: readonly Claim[]): { where: string; args: Value[] } {
  const list = JSON.stringify(claims.map(({ site_id, until }) => [site_id, until]));
  const id = "json_extract(value, '$[0]')";
  return {
    where: `site_id IN (SELECT ${id} FROM json_each(?)) AND (site_id, next_check_at) IN (SELECT ${id}, json_extract(value, '$[1]') FROM json_each(?))`,
    args: [list, list],
  };
}
