/**
 * Corrects stored instants after a step of the wall clock. Every statement leaves correct instants as they are, so that several
 * processes may do it: at worst something is due once too early, never too late.
 */

import type { Db, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';

/** Clocks of several machines may differ by this much; less is not a step. */
const SKEW_MS = 10_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The longest lease of each table. One that ends later was taken before a step back; its process may be dead. */
const LEASES = [
  ['job', 'lease_until', MINUTE_MS],
  ['tool_job', 'lease_until', 2 * MINUTE_MS],
  ['lease', 'until', MINUTE_MS],
  ['audit', 'lease_until', 5 * MINUTE_MS],
  ['mail', 'lease_until', 5 * MINUTE_MS],
  ['alert_delivery', 'lease_until', 5 * MINUTE_MS],
] as const;
/** Instants at which something is due, and the longest claim that may be stored there instead: claims are kept. */
const DUE = [
  ['monitor', 'next_check_at', MINUTE_MS],
  ['monitor', 'flapping_until', MINUTE_MS],
  ['certificate_plan', 'next_check_at', 5 * MINUTE_MS],
  ['domain', 'next_check_at', MINUTE_MS],
  ['audit', 'not_before', MINUTE_MS],
  ['mail', 'next_try_at', MINUTE_MS],
  ['alert_delivery', 'next_try_at', MINUTE_MS],
  ['monitor', 'maintenance_until', MINUTE_MS],
  ['web_session', 'previous_until', MINUTE_MS],
  ['rollout_wave', 'soak_until', MINUTE_MS],
  ['safe_change', 'watch_at', 15 * MINUTE_MS],
  ['vulnerability_feed', 'next_at', MINUTE_MS],
] as const;
/** Instants at which something happened, and from which the next time is computed. */
const PAST = [
  ['site_detail', 'last_attempt'],
  ['site_detail', 'abandoned_checked_at'],
  ['site_detail', 'abandoned_known_at'],
  ['idempotency', 'created_at'],
  ['monitor_network', 'asked_at'],
  ['monitor_network', 'ok_at'],
  ['monitor_network', 'down_since'],
  ['backup_turn', 'failing_since'],
  ['backup_drill', 'tried_at'],
  ['backup_pack', 'unused_since'],
  ['vulnerability_feed', 'tried_at'],
  ['policy', 'due_at'],
] as const;
/** The interval of a monitor, in milliseconds: its own, or the global one used for scheduling. */
const INTERVAL = `(60000 * coalesce(interval_min, (SELECT CASE WHEN json_valid(planned) THEN planned ->> 'interval_min' END
  FROM monitor_engine WHERE id = 1), 1440))`;

export function createClockSteps(db: Db) {
  return {
    /**
     * @param now by the current clock
     * @param steps how much it was set forward and back since the last call; zero at the start of a process, which can
     * only recognize instants that are impossibly far ahead
     */
    async settle(now: number, { forward, back }: { forward: number; back: number }): Promise<void> {
      await db.batch([...impossible(now), ...after(now, back), ...(forward > 0 ? ahead(now, forward) : [])]);
    },
  };
}

/** Leases that end later than any can: a living holder renews them long before the new end. */
function impossible(now: number): Statement[] {
  return [
    ...LEASES.map(([table, column, ms]) =>
      sql(`UPDATE ${table} SET ${column} = ? WHERE ${column} > ?`, now + ms, now + ms + SKEW_MS),
    ),
    sql('UPDATE job SET next_run_at = ? WHERE completed_at IS NULL AND next_run_at - delay_ms > ?', now, now + SKEW_MS),
    sql('UPDATE job SET started_at = ? WHERE completed_at IS NULL AND started_at > ?', now, now + SKEW_MS),
    // Looked at each hour; a turn that was begun is due again within one, too.
    sql('UPDATE maintenance_window SET next_at = ? WHERE next_at > ?', now, now + HOUR_MS + SKEW_MS),
    sql('UPDATE backup_turn SET next_at = ? WHERE tries > 0 AND next_at > ?', now, now + HOUR_MS + SKEW_MS),
    // What was written by a clock that was ahead.
    sql('UPDATE vulnerability_feed SET next_at = ? WHERE tried_at > ?', now, now + SKEW_MS),
    sql(
      'UPDATE safe_change SET watch_at = ?, settled_at = ? WHERE watch_at IS NOT NULL AND settled_at > ?',
      now,
      now,
      now + SKEW_MS,
    ),
  ];
}

/** After a step back: scheduled work is due as soon as it would have been without the step. */
function after(now: number, back: number): Statement[] {
  const shifted = DUE.map(([table, column, claim]) =>
    sql(`UPDATE ${table} SET ${column} = max(?, ${column} - ?) WHERE ${column} > ?`, now, back, now + claim),
  );
  return [
    ...(back > 0 ? shifted : []),
    ...PAST.map(([table, column]) =>
      sql(`UPDATE ${table} SET ${column} = min(?, ${column} - ?) WHERE ${column} > ?`, now, back, now + SKEW_MS),
    ),
    // After several steps, or one that no process saw: the same point of the grid, one interval ahead at most.
    sql(
      `UPDATE monitor SET next_check_at = ? + (next_check_at - ?) % ${INTERVAL} WHERE next_check_at > ? + ${INTERVAL}`,
      now,
      now,
      now + SKEW_MS,
    ),
    sql(
      `UPDATE certificate_plan SET next_check_at = ? + (next_check_at - ?) % ${DAY_MS} WHERE next_check_at > ?`,
      now,
      now,
      now + DAY_MS + SKEW_MS,
    ),
    sql('UPDATE domain SET next_check_at = ? WHERE next_check_at > ?', now, now + 30 * DAY_MS + SKEW_MS),
    // Turns are hours of the day, so they are planned again. After a step that no process saw: those that may be a day late.
    sql(
      'UPDATE backup_turn SET planned = 0 WHERE planned = 1 AND tries = 0 AND next_at > ?',
      back > 0 ? now : now + DAY_MS + SKEW_MS,
    ),
  ];
}

/**
 * After a step forward: time that did not pass is not counted. Jobs that would soon time out get it back, and responses are
 * kept for repeated calls as long as promised.
 */
function ahead(now: number, forward: number): Statement[] {
  return [
    sql(
      `UPDATE job SET timeout_ms = timeout_ms + ? WHERE completed_at IS NULL AND started_at IS NOT NULL
         AND started_at + timeout_ms <= ?`,
      forward,
      now + forward,
    ),
    sql('UPDATE idempotency SET created_at = created_at + ? WHERE created_at + ? <= ?', forward, forward, now),
  ];
}
