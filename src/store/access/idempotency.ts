/** Stored responses of calls with an Idempotency-Key, so that a repeated call does not run again. */

import { randomUUID } from 'node:crypto';
import type { Db } from '../driver/db.js';
import { sql } from '../driver/db.js';
import type { Vault } from '../vault/vault.js';

export type Claim =
  /** The caller holds the key: run, then `finish` or `release`. */
  | { state: 'claimed' }
  | { state: 'running' }
  /** The key was used for another call. */
  | { state: 'reused' }
  | { state: 'done'; body: string };

export function createIdempotency(db: Db, vault: Vault) {
  /** This process. Its own runs are never considered abandoned. */
  const owner = randomUUID();
  const place = (principal: string, key: string) => `idempotency:${principal}:${key}`;
  const fingerprintPlace = (principal: string, key: string) => `idempotency_fingerprint:${principal}:${key}`;

  return {
    /** Claims the key, or returns its state. Runs of other processes that began before `abandonedBefore` are taken over. */
    async claim(
      principal: string,
      { key, fingerprint }: { key: string; fingerprint: string },
      now: number,
      abandonedBefore: number,
    ): Promise<Claim> {
      // A call may hold a password, which could be guessed by its digest alone.
      const sealed = vault.seal(fingerprint, fingerprintPlace(principal, key));
      const [added, found] = await db.batch([
        sql(
          `INSERT INTO idempotency (principal, key, fingerprint, owner, created_at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (principal, key) DO NOTHING`,
          ...[principal, key, sealed, owner, now],
        ),
        sql(
          'SELECT fingerprint, body, owner, created_at FROM idempotency WHERE principal = ? AND key = ?',
          principal,
          key,
        ),
      ]);
      if ((added?.changes ?? 0) > 0) return { state: 'claimed' };
      const row = found?.rows[0];
      if (row === undefined || vault.open(String(row.fingerprint), fingerprintPlace(principal, key)) !== fingerprint)
        return { state: 'reused' };
      if (typeof row.body === 'string') return { state: 'done', body: vault.open(row.body, place(principal, key)) };
      if (row.owner === owner || Number(row.created_at) >= abandonedBefore) return { state: 'running' };
      const taken = await db.run(
        `UPDATE idempotency SET owner = ?, created_at = ?
         WHERE principal = ? AND key = ? AND body IS NULL AND owner = ? AND created_at = ?`,
        [owner, now, principal, key, String(row.owner), Number(row.created_at)],
      );
      return { state: taken.changes > 0 ? 'claimed' : 'running' };
    },

    /** Stores the response of a claimed call. */
    async finish(principal: string, key: string, body: string): Promise<void> {
      await db.run('UPDATE idempotency SET body = ? WHERE principal = ? AND key = ?', [
        vault.seal(body, place(principal, key)),
        principal,
        key,
      ]);
    },

    /** Releases a claimed key: the call may be made again. */
    async release(principal: string, key: string): Promise<void> {
      await db.run('DELETE FROM idempotency WHERE principal = ? AND key = ? AND body IS NULL', [principal, key]);
    },

    /** Deletes responses of calls that began before `before`. */
    async forget(before: number): Promise<void> {
      await db.run('DELETE FROM idempotency WHERE created_at < ? AND body IS NOT NULL', [before]);
    },
  };
}
