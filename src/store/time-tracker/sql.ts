/** SQL expressions for time and its rounding, used by every list, sum and bucket. */

/**
 * Rounding unit in seconds and its direction under the current settings; 0 = none. Needs `gs` and `cs`, see `SETTINGS`.
 */
export const PRESENT_UNIT = `CASE WHEN ifnull(cs.rounding_enabled, gs.rounding_enabled) = 1
  THEN ifnull(cs.rounding_minutes, gs.rounding_minutes) * 60 ELSE 0 END`;
export const PRESENT_DIRECTION = 'ifnull(cs.rounding_direction, gs.rounding_direction)';

/** Joins the global settings and those of the task's client, which override them (REST §6.9.1). */
export const SETTINGS = `JOIN time_setting gs ON gs.client_id = 0
  LEFT JOIN time_setting cs ON cs.client_id = t.client_id AND t.client_id IS NOT NULL`;

/** A completed task keeps the rounding with which it was completed. */
export const UNIT = `CASE WHEN t.status = 'completed' THEN ifnull(t.rounding_unit, 0) ELSE ${PRESENT_UNIT} END`;
export const DIRECTION = `CASE WHEN t.status = 'completed' THEN ifnull(t.rounding_direction, 'nearest') ELSE ${PRESENT_DIRECTION} END`;

/** Whole seconds on a task up to now: closed entries and the running one. Needs `clock (now)`. */
export const SECONDS =
  '((t.closed_ms + CASE WHEN t.running_since IS NULL THEN 0 ELSE max(0, clock.now - t.running_since) END) / 1000)';

/** Seconds after rounding: half up for `nearest`; zero stays zero (REST §6.9.2). Integer arithmetic throughout. */
export function rounded(seconds: string, unit = 'unit', direction = 'direction'): string {
  return `CASE WHEN ${unit} = 0 OR ${seconds} = 0 THEN ${seconds}
    WHEN ${direction} = 'up' THEN ((${seconds} + ${unit} - 1) / ${unit}) * ${unit}
    WHEN ${direction} = 'down' THEN (${seconds} / ${unit}) * ${unit}
    ELSE ((2 * ${seconds} + ${unit}) / (2 * ${unit})) * ${unit} END`;
}
