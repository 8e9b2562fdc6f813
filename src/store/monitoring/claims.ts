/**
 * Claims of monitors that are due. Claiming one moves its `next_check_at` a little into the future, in one statement: no other
 * process finds it due in the meantime, and the claim of a process that died expires automatically. The new instant is the proof
 * of the claim: results are stored only while `next_check_at` still has it. It grows from claim to claim, so that no two
 * claims of a monitor share one, and every change of the plan ends the claim.
 */

import type { Db, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import type { Vault } from '../vault/vault.js';
import { type Login, loginsOf, type MonitorRow, OWN_COLUMNS } from './monitors.js';

/** A claim on one monitor: `until` is both when it expires and the proof of it. */
export interface Claim {
  site_id: number;
  until: number;
}

const of = (table: string, column: string, key: string) =>
  `(SELECT ${column} FROM ${table} WHERE ${key} = monitor.site_id) AS ${column}`;
/** The columns of `MonitorRow`, as subselects because RETURNING cannot join; and the login, which saves a round trip. */
const RETURNED = [
  'site_id',
  ...['url', 'name', 'suspended'].map((column) => of('site', column, 'id')),
  of('site_detail', 'ssl_verify', 'site_id'),
  ...OWN_COLUMNS,
  ...['http_user', 'http_pass'].map((column) => of('site_secret', column, 'site_id')),
].join(', ');

export function createMonitorClaims(db: Db, vault: Vault) {
  return {
    /**
     * Claims monitors that are due, most overdue first: at most `most`, and no more than this process's part of what `members`
     * processes share. Includes those that are to be switched off. `next_check_at` of the rows is `until`.
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

    /** Moves the claims that are still valid to another instant, to renew them or to give them back; returns their sites. */
    async move(claims: readonly Claim[], now: number, until: number): Promise<Set<number>> {
      if (claims.length === 0) return new Set();
      const { where, args } = standing(claims);
      const rows = await db.all(
        `UPDATE monitor SET next_check_at = ? WHERE next_check_at > ? AND ${where} RETURNING site_id`,
        [until, now, ...args],
      );
      return new Set(rows.map(({ site_id }) => Number(site_id)));
    },

    /** Takes claimed monitors out of the plan: their state is reset, and an open incident ends without an alert. */
    async pause(claims: readonly Claim[], now: number): Promise<void> {
      const { where, args } = standing(claims);
      await db.batch([
        sql(
          `UPDATE incident SET ended_at = ? WHERE ended_at IS NULL AND site_id IN (SELECT site_id FROM monitor WHERE ${where})`,
          now,
          ...args,
        ),
        sql(
          `UPDATE monitor SET next_check_at = NULL, status = 99, confirmed = 1, told = 1, failures = 0, down_count = 0, flapping_until = NULL,
             seq = seq + 1 WHERE ${where}`,
          ...args,
        ),
      ]);
    },
  };
}

/** Selects the monitors whose claims are still valid, by id first: there is an index on it. */
function standing(claims: readonly Claim[]): { where: string; args: Value[] } {
  const list = JSON.stringify(claims.map(({ site_id, until }) => [site_id, until]));
  const id = "json_extract(value, '$[0]')";
  return {
    where: `site_id IN (SELECT ${id} FROM json_each(?)) AND (site_id, next_check_at) IN (SELECT ${id}, json_extract(value, '$[1]') FROM json_each(?))`,
    args: [list, list],
  };
}
