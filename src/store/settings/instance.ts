/** Values that an installation chooses once and keeps. */

import type { Db } from '../driver/db.js';
import { sql } from '../driver/db.js';

/** The name of a key says nothing about it: 8 digits of its digest. */
const SECRET_KEY = 'secret_key_id';
/** More than almost any write takes. */
const ROOM_BYTES = 256 * 1024;

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

    /** The name of the secret key that this database was used with last; null = never with one. */
    async secretKey(): Promise<string | null> {
      const row = await db.one('SELECT value FROM instance WHERE key = ?', [SECRET_KEY]);
      return row === undefined ? null : String(row.value);
    },

    /** From now on only what this key has sealed can be stored; null = as if there had been none. */
    async noteSecretKey(id: string | null): Promise<void> {
      if (id === null) await db.run('DELETE FROM instance WHERE key = ?', [SECRET_KEY]);
      else
        await db.run(
          'INSERT INTO instance (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
          [SECRET_KEY, id],
        );
    },

    /** Stores a large value and removes it: a small one may fit where no other write does any more. */
    async proveRoom(): Promise<void> {
      await db.run(
        `INSERT INTO instance (key, value) VALUES ('room', hex(zeroblob(?)))
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        [ROOM_BYTES / 2],
      );
      await db.run("DELETE FROM instance WHERE key = 'room'");
    },
  };
}
