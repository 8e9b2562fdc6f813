/** Sessions of people in a browser. Only digests of what the browser holds are stored. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import type { Vault } from '../vault/vault.js';
import { deniedSites, principalDenials } from './denials.js';
import type { UserRight } from './users.js';

/** Sessions of one user at most: with more, the one unused longest ends. */
const MAX_PER_USER = 100;

/** A session as `auth` judges it. Times are milliseconds since the epoch. */
export interface WebSessionRow {
  id: string;
  identity: { type: 'user'; id: number; name: string; rights: UserRight[]; denied_sites: number[] };
  /** False: the person has not chosen a password yet. */
  has_password: boolean;
  /** What a request that changes something must carry beside the cookie. */
  csrf: string;
  /** The request carries the newest cookie; false: the one before it. */
  current: boolean;
  /** The newest cookie was never used yet, so its answer may have been lost. */
  unconfirmed: boolean;
  rotated_at: number;
  used_at: number;
}

/** A new session: `id` and `token_hash` are random, made by the caller. */
export interface NewWebSession {
  id: string;
  token_hash: string;
  now: number;
  /** Sessions unused since then are forgotten. */
  idle_since: number;
}

const WHO = `s.id, u.id AS user_id, u.name, u.rights, u.password_hash <> '' AS has_password, ${deniedSites("'user:' || u.id")} AS denied`;

function identityOf(row: Row): WebSessionRow['identity'] {
  return {
    type: 'user',
    id: Number(row.user_id),
    name: String(row.name),
    rights: String(row.rights)
      .split(',')
      .filter((right): right is UserRight => right === 'read' || right === 'write'),
    denied_sites: principalDenials(row.denied),
  };
}

export function createWebSessions(db: Db, vault: Vault) {
  /** Forgets what has ended, and the user's oldest sessions beyond the limit. */
  function cleanup({ id, idle_since, now }: NewWebSession) {
    return [
      sql('DELETE FROM web_session WHERE used_at <= ?', idle_since),
      sql('DELETE FROM login_link WHERE expires_at <= ?', now),
      sql(
        `DELETE FROM web_session WHERE id IN (SELECT id FROM web_session WHERE user_id = (SELECT user_id FROM web_session WHERE id = ?)
           ORDER BY used_at DESC, id LIMIT -1 OFFSET ${MAX_PER_USER})`,
        id,
      ),
    ];
  }

  return {
    /** The session of a cookie, unless it was unused since `idleSince`. */
    async find(tokenHash: string, now: number, idleSince: number): Promise<WebSessionRow | undefined> {
      const row = await db.one(
        `SELECT s.token_hash = ? AS current, s.previous_hash IS NOT NULL AND s.previous_until IS NULL AS unconfirmed,
           s.rotated_at, s.used_at, ${WHO} FROM web_session s JOIN user u ON u.id = s.user_id
         WHERE (s.token_hash = ? OR (s.previous_hash = ? AND (s.previous_until IS NULL OR s.previous_until > ?)))
           AND s.used_at > ?`,
        [tokenHash, tokenHash, tokenHash, now, idleSince],
      );
      if (row === undefined) return undefined;
      const id = String(row.id);
      return {
        id,
        identity: identityOf(row),
        has_password: row.has_password === 1,
        csrf: vault.derive(`web_session:${id}`),
        current: row.current === 1,
        unconfirmed: row.unconfirmed === 1,
        rotated_at: Number(row.rotated_at),
        used_at: Number(row.used_at),
      };
    },

    /** Whose session it is, as long as it lasts. */
    async identity(id: string, idleSince: number): Promise<WebSessionRow['identity'] | undefined> {
      const row = await db.one(
        `SELECT ${WHO} FROM web_session s JOIN user u ON u.id = s.user_id WHERE s.id = ? AND s.used_at > ?`,
        [id, idleSince],
      );
      return row === undefined ? undefined : identityOf(row);
    },

    /** Opens a session. False when the user is gone or has another password than the one that was `proof`. */
    async open(session: NewWebSession, userId: number, proof: string): Promise<boolean> {
      const { id, token_hash, now } = session;
      const [opened] = await db.batch([
        sql(
          `INSERT INTO web_session (id, token_hash, user_id, created_at, rotated_at, used_at)
           SELECT ?, ?, id, ?, ?, ? FROM user WHERE id = ? AND password_hash = ? AND enabled = 1`,
          id,
          token_hash,
          now,
          now,
          now,
          userId,
          proof,
        ),
        ...cleanup(session),
      ]);
      return (opened?.changes ?? 0) > 0;
    },

    /** Opens a session by a link, which is used up by that: of two callers at once, one succeeds. */
    async openByLink(session: NewWebSession, linkHash: string): Promise<boolean> {
      const { id, token_hash, now } = session;
      const [opened] = await db.batch([
        sql(
          `INSERT INTO web_session (id, token_hash, user_id, created_at, rotated_at, used_at)
           SELECT ?, ?, user_id, ?, ?, ? FROM login_link WHERE token_hash = ? AND expires_at > ?`,
          id,
          token_hash,
          now,
          now,
          now,
          linkHash,
          now,
        ),
        sql('DELETE FROM login_link WHERE token_hash = ?', linkHash),
        ...cleanup(session),
      ]);
      return (opened?.changes ?? 0) > 0;
    },

    /** Replaces the cookie `from` by `to`, unless another request did so since the session was read. */
    async rotate(id: string, from: string, to: string, seenRotatedAt: number, now: number): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE web_session SET token_hash = ?, previous_hash = ?, previous_until = NULL, rotated_at = ?, used_at = ?
         WHERE id = ? AND rotated_at = ? AND (token_hash = ? OR (previous_hash = ? AND previous_until IS NULL))`,
        [to, from, now, now, id, seenRotatedAt, from, from],
      );
      return changes > 0;
    },

    /** Notes a use. @param previousUntil where the newest cookie was used first: until when the one before it is accepted */
    async use(id: string, now: number, previousUntil: number | null): Promise<boolean> {
      const { changes } = await db.run(
        'UPDATE web_session SET used_at = ?, previous_until = coalesce(previous_until, ?) WHERE id = ?',
        [now, previousUntil, id],
      );
      return changes > 0;
    },

    /** Ends a session. */
    async end(id: string): Promise<boolean> {
      const { changes } = await db.run('DELETE FROM web_session WHERE id = ?', [id]);
      return changes > 0;
    },
  };
}

/** Ends all sessions and links: of a database that was put back, they may have been ended since. */
export async function endBrowserLogins(db: Db): Promise<void> {
  await db.batch([sql('DELETE FROM web_session'), sql('DELETE FROM login_link')]);
}
