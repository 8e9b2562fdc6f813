/** Settings: one row per value that differs from the default. Secrets are sealed for their own key. */

import { parsedOrNull } from '../../runtime/plain-json.js';
import type { Db, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import type { Vault } from '../vault/vault.js';

/** The value of one key; undefined removes it, which restores the default. */
export interface SettingWrite {
  key: string;
  value: unknown;
  secret?: boolean;
}

const PREFIX_END = '\u{10FFFF}';

export function createSettings(db: Db, vault: Vault) {
  const place = (key: string) => `setting:${key}`;
  const statement = (write: SettingWrite, now: number) => {
    if (write.value === undefined) return sql('DELETE FROM setting WHERE key = ?', write.key);
    const plain = JSON.stringify(write.value);
    const stored: Value = write.secret === true ? vault.seal(plain, place(write.key)) : plain;
    return sql(
      `INSERT INTO setting (key, value, updated_at) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      write.key,
      stored,
      now,
    );
  };

  const unlessThere = (key: string, stored: string, now: number) =>
    db.run('INSERT OR IGNORE INTO setting (key, value, updated_at) VALUES (?, ?, ?)', [key, stored, now]);

  return {
    /** Values of all keys with this prefix, without the prefix. Sealed ones must be read with `secret`. */
    async group(prefix: string): Promise<Map<string, unknown>> {
      const rows = await db.all('SELECT key, value FROM setting WHERE key >= ? AND key < ?', [
        prefix,
        prefix + PREFIX_END,
      ]);
      return new Map(rows.map((row) => [String(row.key).slice(prefix.length), parsedOrNull(String(row.value))]));
    },

    async one(key: string): Promise<unknown> {
      const row = await db.one('SELECT value FROM setting WHERE key = ?', [key]);
      return row === undefined ? undefined : parsedOrNull(String(row.value));
    },

    /** Values of these keys that are set, in one statement. */
    async several(keys: readonly string[]): Promise<Map<string, unknown>> {
      const rows = await db.all('SELECT key, value FROM setting WHERE key IN (SELECT value FROM json_each(?))', [
        JSON.stringify(keys),
      ]);
      return new Map(rows.map((row) => [String(row.key), parsedOrNull(String(row.value))]));
    },

    /** A sealed value, opened; undefined if there is none. Throws if the present keys cannot open it. */
    async secret(key: string): Promise<unknown> {
      const row = await db.one('SELECT value FROM setting WHERE key = ?', [key]);
      return row === undefined ? undefined : parsedOrNull(vault.open(String(row.value), place(key)));
    },

    /** Stores a value unless there is one; returns the stored one. Several processes agree on one value. */
    async claim(key: string, value: unknown, now: number): Promise<unknown> {
      await unlessThere(key, JSON.stringify(value), now);
      return this.one(key);
    },

    /** As `claim`, sealed. */
    async claimSecret(key: string, value: unknown, now: number): Promise<unknown> {
      await unlessThere(key, vault.seal(JSON.stringify(value), place(key)), now);
      return this.secret(key);
    },

    /** All or nothing. @param more what changes with them */
    async write(writes: readonly SettingWrite[], now: number, more: readonly Statement[] = []): Promise<void> {
      const statements = [...writes.map((write) => statement(write, now)), ...more];
      if (statements.length > 0) await db.batch(statements);
    },

    /** Whether a cost uses this product type or payment method. */
    async isUsedByCost(column: 'product_type' | 'payment_method', slug: string): Promise<boolean> {
      return (await db.one(`SELECT 1 AS used FROM cost WHERE ${column} = ? LIMIT 1`, [slug])) !== undefined;
    },

    /** The user who owns an API key; null if the key is gone or was created without one. */
    async ownerOfKey(id: number): Promise<number | null> {
      const row = await db.one('SELECT user_id FROM api_key WHERE id = ?', [id]);
      return row === undefined || row.user_id === null ? null : Number(row.user_id);
    },
  };
}
