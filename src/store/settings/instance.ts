/** Facts that this installation chose once and keeps. */

import type { Db } from '../driver/db.js';
import { sql } from '../driver/db.js';

export function createInstance(db: Db) {
  return {
    async get(key: string): Promise<string | undefined> {
      const row = await db.one('SELECT value FROM instance WHERE key = ?', [key]);
      return row === undefined ? undefined : String(row.value);
    },

    /** Keeps the value that was there first, whichever of several processes came first, and answers it. */
    async claim(key: string, value: string): Promise<string> {
      const results = await db.batch([
        sql('INSERT OR IGNORE INTO instance (key, value) VALUES (?, ?)', key, value),
        sql('SELECT value FROM instance WHERE key = ?', key),
      ]);
      return String(results[1]?.rows[0]?.value ?? value);
    },
  };
}
