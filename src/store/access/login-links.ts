/** Links that log a person in once. Only their digests are stored; `web-sessions.ts` uses them up. */

import type { Db } from '../driver/db.js';
import { nameKey } from './users.js';

export function createLoginLinks(db: Db) {
  return {
    /** Keeps a link for one login as the user. False when there is no such user. */
    async add(tokenHash: string, userName: string, now: number, expiresAt: number): Promise<boolean> {
      const { changes } = await db.run(
        `INSERT INTO login_link (token_hash, user_id, created_at, expires_at)
         SELECT ?, id, ?, ? FROM user WHERE name_key = ?`,
        [tokenHash, now, expiresAt, nameKey(userName)],
      );
      return changes > 0;
    },
  };
}

export type LoginLinks = ReturnType<typeof createLoginLinks>;
