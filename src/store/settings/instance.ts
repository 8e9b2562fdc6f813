/** Values that an installation chooses once and keeps. */

import type { Db } from '../driver/db.js';
import { sql } from '../driver/db.js';

export function createInstance(db: Db) {
  return {
    /** Stores the value unless there is one already; returns the stored one. Several processes agree on one value. */
    async claim(key: string, value: string): Promise<string> {
      const results = await db.batch([
        sql('INSERT OR IGNORE INTO instance (key, value) VALUES (?, ?)', key, value),
        sql('SELECT value FROM instance WHERE key = ?', key),
      ]);
      return String(results[1]?.rows[0]?.value ?? value);
    },
  };
}
