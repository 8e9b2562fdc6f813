/** Users: logins with a name and a password. */

import type { Db, Row } from '../driver/db.js';
import { StorageError, sql } from '../driver/db.js';
import { countOf, readPage } from '../driver/lists.js';
import { assignments } from '../driver/rows.js';
import { hashPassword } from '../vault/vault.js';

export type UserRight = 'read' | 'write' | 'approve';

export interface UserRow {
  id: number;
  name: string;
  rights: UserRight[];
  enabled: boolean;
  /** False: only a login link lets this user in, until a password is set. */
  has_password: boolean;
  /** API keys that this user made. */
  api_keys: number;
  /** Milliseconds since the epoch. */
  created_at: number;
}

/** Number of a user, or the name, ignoring case. */
export type UserRef = number | string;

/** `last`: no user who can change anything would be left. */
export type UserOutcome = 'done' | 'absent' | 'last';

interface NewUser {
  name: string;
  /** As `hash` made it; '' for none. */
  password_hash: string;
  rights: readonly UserRight[];
  now: number;
}

export interface UserChange {
  /** As `hash` made it; '' for none. */
  password_hash?: string | undefined;
  rights?: readonly UserRight[] | undefined;
  enabled?: boolean | undefined;
}

const COLUMNS =
  "u.id, u.name, u.rights, u.enabled, u.password_hash <> '' AS has_password, (SELECT count(*) FROM api_key k WHERE k.user_id = u.id) AS api_keys, u.created_at";

/**
 * A condition in the statement itself, so that two concurrent calls cannot remove the last two: another user remains,
 * and one with write permission if this one has it.
 */
const mayWrite = (user: string) => `${user}.enabled = 1 AND ${user}.rights LIKE '%write%'`;
const KEEPS_LAST = `EXISTS (SELECT 1 FROM user o WHERE o.id <> user.id)
  AND (NOT (${mayWrite('user')}) OR EXISTS (SELECT 1 FROM user o WHERE o.id <> user.id AND ${mayWrite('o')}))`;

/** The form in which names are compared: ignoring case and compatibility variants of characters. */
function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** The predicate of a user, with its argument. */
export function userPredicate(ref: UserRef): { where: string; arg: number | string } {
  return typeof ref === 'number' ? { where: 'id = ?', arg: ref } : { where: 'name_key = ?', arg: nameKey(ref) };
}

const RIGHTS: ReadonlySet<string> = new Set(['read', 'write', 'approve']);

export function rightsOf({ rights }: Row): UserRight[] {
  return String(rights)
    .split(',')
    .filter((right): right is UserRight => RIGHTS.has(right));
}

function userOf(row: Row): UserRow {
  return {
    id: Number(row.id),
    name: String(row.name),
    rights: rightsOf(row),
    enabled: row.enabled === 1,
    has_password: row.has_password === 1,
    api_keys: Number(row.api_keys),
    created_at: Number(row.created_at),
  };
}

export function createUsers(db: Db) {
  async function find(ref: UserRef): Promise<UserRow | undefined> {
    const { where, arg } = userPredicate(ref);
    const row = await db.one(`SELECT ${COLUMNS} FROM user u WHERE u.${where}`, [arg]);
    return row && userOf(row);
  }

  const refused = async (ref: UserRef): Promise<UserOutcome> => ((await find(ref)) === undefined ? 'absent' : 'last');

  return {
    find,

    /** The form in which a password is stored. Takes about a quarter of a second on the thread pool. */
    hash: hashPassword,

    /** One page, by name. */
    async list(page: number, perPage: number): Promise<{ items: UserRow[]; total: number }> {
      const rows = sql(`SELECT ${COLUMNS} FROM user u ORDER BY u.name_key`);
      const { items, total } = await readPage(db, rows, sql('SELECT count(*) AS n FROM user'), page, perPage);
      return { items: items.map(userOf), total };
    },

    count: () => countOf(db, 'SELECT count(*) AS n FROM user'),

    /** A user as `auth` checks it. The name's case is ignored. */
    async login(name: string) {
      // No user's name contains a NUL, and the driver refuses to bind it.
      if (name.includes('\0')) return undefined;
      const row = await db.one(`SELECT ${COLUMNS}, u.password_hash FROM user u WHERE u.name_key = ?`, [nameKey(name)]);
      if (row === undefined) return undefined;
      const { id, name: shown, rights, enabled } = userOf(row);
      return {
        identity: { type: 'user' as const, id, name: shown, rights },
        proof: String(row.password_hash),
        enabled,
        last_access: null,
      };
    },

    /** The new user, or undefined if the name is taken. */
    async add(user: NewUser): Promise<UserRow | undefined> {
      const { name, password_hash, rights, now } = user;
      try {
        const { lastId: id } = await db.run(
          'INSERT INTO user (name, name_key, password_hash, rights, created_at) VALUES (?, ?, ?, ?, ?)',
          [name, nameKey(name), password_hash, rights.join(','), now],
        );
        const has_password = password_hash !== '';
        return { id, name, rights: [...rights], enabled: true, has_password, api_keys: 0, created_at: now };
      } catch (error) {
        if (error instanceof StorageError && error.kind === 'unique') return undefined;
        throw error;
      }
    },

    /**
     * Changes a user; its sessions and links end. With `keepLast`, refuses to leave no user who can change anything.
     */
    async change(ref: UserRef, change: UserChange, keepLast = false): Promise<UserOutcome> {
      const { where, arg } = userPredicate(ref);
      const { password_hash, rights, enabled } = change;
      const assistant_at = password_hash === undefined ? undefined : null;
      const set = assignments({ password_hash, assistant_at, rights: rights?.join(','), enabled });
      if (set.text === '') return (await find(ref)) === undefined ? 'absent' : 'done';
      const weakens = enabled === false || (rights !== undefined && !rights.includes('write'));
      const guard = keepLast && weakens ? ` AND ${KEEPS_LAST}` : '';
      const { changes } = await db.run(`UPDATE user SET ${set.text} WHERE ${where}${guard}`, [...set.args, arg]);
      return changes > 0 ? 'done' : refused(ref);
    },

    /**
     * Notes that an assistant has logged in as this user. It ends when somebody sets another password by `change`: the
     * assistant itself could replace its own.
     */
    async markAssistant(id: number, now: number): Promise<void> {
      await db.run('UPDATE user SET assistant_at = ? WHERE id = ? AND assistant_at IS NULL', [now, id]);
    },

    /** Whether an assistant may know the password. */
    async isAssistants(id: number): Promise<boolean> {
      return (await db.one('SELECT 1 FROM user WHERE id = ? AND assistant_at IS NULL', [id])) === undefined;
    },

    /** Replaces the password whose hash was `proof`. False if that has changed, or the user is gone or disabled. */
    async replacePassword(id: number, proof: string, passwordHash: string): Promise<boolean> {
      const { changes } = await db.run(
        'UPDATE user SET password_hash = ? WHERE id = ? AND password_hash = ? AND enabled = 1',
        [passwordHash, id, proof],
      );
      return changes > 0;
    },

    /**
     * Removes a user with the API keys that the user made: only the user has seen these, and would keep a way in. With `keepLast`, refuses for the last user, and the last who can change
     * anything.
     */
    async remove(ref: UserRef, keepLast = false): Promise<{ outcome: UserOutcome; api_keys: number }> {
      const { where, arg } = userPredicate(ref);
      const going = `FROM user WHERE ${where}${keepLast ? ` AND ${KEEPS_LAST}` : ''}`;
      const keys = `FROM api_key WHERE user_id IN (SELECT id ${going})`;
      const [keysGone, gone] = await db.batch([sql(`DELETE ${keys}`, arg), sql(`DELETE ${going}`, arg)]);
      const done = (gone?.changes ?? 0) > 0;
      return { outcome: done ? 'done' : await refused(ref), api_keys: keysGone?.changes ?? 0 };
    },
  };
}

export type Users = ReturnType<typeof createUsers>;
