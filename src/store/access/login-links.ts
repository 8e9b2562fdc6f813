/** One-time login links. Only their digests are stored; `web-sessions.ts` redeems them. */

import { randomBytes } from 'node:crypto';
import type { Db } from '../driver/db.js';
import { hashToken } from '../vault/vault.js';
import { type UserRef, userPredicate } from './users.js';

export function createLoginLinks(db: Db) {
  return {
    /**
     * Creates a link for one login as the user; its token is returned only here. Undefined: no enabled user has this
     * name.
     */
    async add(user: UserRef, now: number, expiresAt: number): Promise<string | undefined> {
      const token = randomBytes(32).toString('base64url');
      const { where, arg } = userPredicate(user);
      const { changes } = await db.run(
        `INSERT INTO login_link (token_hash, user_id, created_at, expires_at)
         SELECT ?, id, ?, ? FROM user WHERE ${where} AND enabled = 1`,
        [hashToken(token), now, expiresAt, arg],
      );
      return changes > 0 ? token : undefined;
    },
  };
}

export type LoginLinks = ReturnType<typeof createLoginLinks>;
