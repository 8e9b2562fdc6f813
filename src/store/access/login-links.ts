/** Links that log a person in once. Only their digests are stored; `web-sessions.ts` uses them up. */

import { randomBytes } from 'node:crypto';
import type { Db } from '../driver/db.js';
import { hashToken } from '../vault/vault.js';
import { type UserRef, userPredicate } from './users.js';

export function createLoginLinks(db: Db) {
  return {
    /** Makes a link for one login as the user; its token can be read only now. Undefined: no user who may log in is called so. */
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
