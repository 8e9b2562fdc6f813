/** Settings of the time tracker: the global ones, and those that clients override. */

import type { timeSettings } from '../../../schemas/time.js';
import type { z } from '../../../schemas/zod.js';
import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { updateRow } from '../driver/rows.js';

type Setting = ReturnType<typeof timeSettings>;
/** The hourly price is decimal text. */
export type TimeSettings = { [K in keyof Setting]: NonNullable<z.output<Setting[K]>> };

export type TimeSettingsChange = { [K in keyof TimeSettings]?: TimeSettings[K] | null | undefined };

/**
 * In effect when neither the client nor the global row sets a value; a global setting that is cleared returns to this.
 */
const TIME_DEFAULTS: TimeSettings = {
  timer_mode: 'count_up',
  currency_symbol: '$',
  currency_position: 'left',
  thousand_separator: ',',
  decimal_separator: '.',
  decimals: 2,
  rounding_enabled: false,
  rounding_direction: 'nearest',
  rounding_minutes: 15,
  hourly_price: '0',
};
const COLUMNS = Object.keys(TIME_DEFAULTS) as (keyof TimeSettings)[];

const GLOBAL = 0;

export function createTimeSettings(db: Db) {
  return {
    /** The effective settings of a client, or globally, and whether the client has any of its own. */
    async effective(clientId: number | null): Promise<{ settings: TimeSettings; own: boolean }> {
      const rows = await db.all(`SELECT client_id, ${COLUMNS.join(', ')} FROM time_setting WHERE client_id IN (?, ?)`, [
        GLOBAL,
        clientId ?? GLOBAL,
      ]);
      const own = rows.find((row) => row.client_id === clientId && clientId !== null);
      const global = rows.find((row) => row.client_id === GLOBAL);
      return { settings: merged([own, global]), own: own !== undefined };
    },

    /** The value that replaces a cleared setting: for a client the global one, globally the default. */
    async behind(clientId: number | null): Promise<TimeSettings> {
      return clientId === null ? TIME_DEFAULTS : (await this.effective(null)).settings;
    },

    /** Which of these clients have their own settings. */
    async withOwn(clientIds: readonly number[]): Promise<Set<number>> {
      const rows = await db.all(
        'SELECT client_id FROM time_setting WHERE client_id <> 0 AND client_id IN (SELECT value FROM json_each(?))',
        [JSON.stringify(clientIds)],
      );
      return new Set(rows.map((row) => Number(row.client_id)));
    },

    /** Only the given settings change; null clears: a client then follows the global setting, the global one its default. */
    async change(clientId: number | null, change: TimeSettingsChange): Promise<void> {
      const target = clientId ?? GLOBAL;
      const columns = COLUMNS.map((column) => {
        const cleared = target === GLOBAL ? TIME_DEFAULTS[column] : null;
        return [column, change[column] === null ? cleared : change[column]] as const;
      });
      await db.batch([
        sql('INSERT OR IGNORE INTO time_setting (client_id) VALUES (?)', target),
        ...updateRow('time_setting', 'client_id', target, Object.fromEntries(columns)),
        sql(
          `DELETE FROM time_setting WHERE client_id <> 0 AND ${COLUMNS.map((column) => `${column} IS NULL`).join(' AND ')}`,
        ),
      ]);
    },
  };
}

function merged(rows: readonly (Row | undefined)[]): TimeSettings {
  const pick = (column: keyof TimeSettings) => {
    const value = rows.map((row) => row?.[column]).find((cell) => cell !== null && cell !== undefined);
    if (value === undefined) return TIME_DEFAULTS[column];
    return column === 'rounding_enabled' ? value === 1 : value;
  };
  return Object.fromEntries(COLUMNS.map((column) => [column, pick(column)])) as unknown as TimeSettings;
}
