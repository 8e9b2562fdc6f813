/** Users: who may log in with a name and a password. */

import type { Db, Row } from '../driver/db.js';
import { StorageError } from '../driver/db.js';
import { deniedSites, principalDenials } from './denials.js';

export type UserRight = 'read' | 'write';

interface UserRow {
  id: number;
  name: string;
  rights: UserRight[];
  /** Milliseconds since the epoch. */
  created_at: number;
}

/** `last`: it is the only user, without whom no login by name is left. */
type UserOutcome = 'done' | 'absent' | 'last';

interface NewUser {
  name: string;
  /** As `hashPassword` made it. */
  password_hash: string;
  rights: readonly UserRight[];
  now: number;
}

const COLUMNS = 'u.id, u.name, u.rights, u.created_at';

/** The form in which names are compared: without regard to case and compatible characters. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

function userOf(row: Row): UserRow {
  return {
    id: Number(row.id),
    name: String(row.name),
    rights: String(row.rights)
      .split(',')
      .filter((right): right is UserRight => right === 'read' || right === 'write'),
    created_at: Number(row.created_at),
  };
}

export function createUsers(db: Db) {
  return {
    /** All users by name. */
    async list(): Promise<UserRow[]> {
      const rows = await db.all(`SELECT ${COLUMNS} FROM user u ORDER BY u.name_key`);
      return rows.map(userOf);
    },

    async count(): Promise<number> {
      const row = await db.one('SELECT count(*) AS n FROM user');
      return Number(row?.n ?? 0);
    },

    /** A user as `auth` checks it, with the sites it may not see. The name's case does not matter. */
    async login(name: string) {
      // A name with a NUL can be no user's, and the driver refuses to bind it.
      if (name.includes('\0')) return undefined;
      const row = await db.one(
        `SELECT ${COLUMNS}, u.password_hash, ${deniedSites("'user:' || u.id")} AS denied FROM user u WHERE u.name_key = ?`,
        [nameKey(name)],
      );
      if (row === undefined) return undefined;
      const { id, name: shown, rights } = userOf(row);
      return {
        identity: { type: 'user' as const, id, name: shown, rights, denied_sites: principalDenials(row.denied) },
        proof: String(row.password_hash),
        enabled: true,
        last_access: null,
      };
    },

    /** The new user, or undefined when the name is taken. */
    async add(user: NewUser): Promise<UserRow | undefined> {
      try {
        const { lastId } = await db.run(
          'INSERT INTO user (name, name_key, password_hash, rights, created_at) VALUES (?, ?, ?, ?, ?)',
          [user.name, nameKey(user.name), user.password_hash, user.rights.join(','), user.now],
        );
        return { id: lastId, name: user.name, rights: [...user.rights], created_at: user.now };
      } catch (error) {
        if (error instanceof StorageError && error.kind === 'unique') return undefined;
        throw error;
      }
    },

    /** False when there is no such user. */
    async setPassword(name: string, passwordHash: string): Promise<boolean> {
      const { changes } = await db.run('UPDATE user SET password_hash = ? WHERE name_key = ?', [
        passwordHash,
        nameKey(name),
      ]);
      return changes > 0;
    },

    /** Removes a user with what was denied to it. With `keepLast`, not the only one: two calls at once cannot take the last two. */
    async remove(name: string, keepLast = false): Promise<UserOutcome> {
      const key = nameKey(name);
      const guard = keepLast ? ' AND EXISTS (SELECT 1 FROM user o WHERE o.id <> user.id)' : '';
      const [, removed, left] = await db.batch([
        {
          sql: `DELETE FROM site_denial WHERE principal IN (SELECT 'user:' || id FROM user WHERE name_key = ?${guard})`,
          args: [key],
        },
        { sql: `DELETE FROM user WHERE name_key = ?${guard}`, args: [key] },
        { sql: 'SELECT 1 AS found FROM user WHERE name_key = ?', args: [key] },
      ]);
      if ((removed?.changes ?? 0) > 0) return 'done';
      return left?.rows.length === 1 ? 'last' : 'absent';
    },
  };
}

export type Users = ReturnType<typeof createUsers>;
