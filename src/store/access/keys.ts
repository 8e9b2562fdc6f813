/** API keys (REST §1.2). Only digests are stored, so that a copy of the database does not let anyone log in. */

import { randomBytes } from 'node:crypto';
import type { Db, Row, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { assignments } from '../driver/rows.js';
import { hashToken } from '../vault/vault.js';
import { rightsOf as rightsOfUser, type UserRight } from './users.js';

export type KeyScope = 'read' | 'write' | 'read_write';

export interface KeyRow {
  id: number;
  version: 'v1' | 'v2';
  /** `ck_…` of a legacy key, which is listed and can be removed but never logs in; null for v2. */
  legacy_id: string | null;
  user_id: number | null;
  description: string;
  scope: KeyScope;
  /** Whether it may also approve. */
  approves: boolean;
  /** Last 7 characters of the key part, to tell keys apart on a screen. */
  last7: string;
  enabled: boolean;
  /** Milliseconds since the epoch. */
  last_access: number | null;
  created_at: number;
}

interface NewKey extends Pick<KeyRow, 'scope' | 'description' | 'enabled' | 'user_id'> {
  approves?: boolean | undefined;
  now: number;
}

export interface KeyChange {
  scope?: KeyScope | undefined;
  approves?: boolean | undefined;
  description?: string | undefined;
  enabled?: boolean | undefined;
}

/** Number of a v2 key, or `ck_…` of a legacy key. */
export type KeyRef = number | string;

/** `last_writer`: no key would be left that could create any other key through the service (REST §6.1). */
export type KeyOutcome = 'done' | 'absent' | 'last_writer';

const COLUMNS =
  'k.id, k.version, k.legacy_id, k.user_id, k.description, k.scope, k.approves, k.last7, k.enabled, k.last_access, k.created_at';

/**
 * A condition in the statement itself, so that two concurrent calls cannot remove the last two: a key with one of these
 * scopes may be weakened only if another such key works.
 */
function othersWith(scopes: readonly KeyScope[]): string {
  const works = (key: string) =>
    `${key}.version = 'v2' AND ${key}.enabled = 1 AND ${key}.scope IN (${scopes.map((scope) => `'${scope}'`).join(', ')})`;
  return `(NOT (${works('api_key')}) OR EXISTS (SELECT 1 FROM api_key o WHERE o.id <> api_key.id AND ${works('o')}))`;
}

/** A write-only key cannot create a key that reads. */
const KEEPS_BOTH = othersWith(['read_write']);
const KEEPS_WRITER = othersWith(['write', 'read_write']);

function keyOf(row: Row): KeyRow {
  return {
    id: Number(row.id),
    version: row.version === 'v1' ? 'v1' : 'v2',
    legacy_id: row.legacy_id === null ? null : String(row.legacy_id),
    user_id: row.user_id === null ? null : Number(row.user_id),
    description: String(row.description),
    scope: row.scope as KeyScope,
    approves: row.approves === 1,
    last7: String(row.last7),
    enabled: row.enabled === 1,
    last_access: row.last_access === null ? null : Number(row.last_access),
    created_at: Number(row.created_at),
  };
}

/** A v2 key by number, a legacy key by its `ck_` name: neither can be addressed by the other's form. */
function refPredicate(ref: KeyRef): { where: string; arg: Value } {
  return typeof ref === 'number'
    ? { where: "id = ? AND version = 'v2'", arg: ref }
    : { where: "legacy_id = ? AND version = 'v1'", arg: ref };
}

export function rightsOf({ scope, approves }: Pick<KeyRow, 'scope' | 'approves'>): UserRight[] {
  const rights: UserRight[] = scope === 'read_write' ? ['read', 'write'] : [scope];
  return approves ? [...rights, 'approve'] : rights;
}

export function createKeys(db: Db) {
  async function find(ref: KeyRef): Promise<KeyRow | undefined> {
    const { where, arg } = refPredicate(ref);
    const row = await db.one(`SELECT ${COLUMNS} FROM api_key k WHERE ${where}`, [arg]);
    return row === undefined ? undefined : keyOf(row);
  }

  /** Why a write changed nothing: the key does not exist, or it is the last that can write. */
  async function refused(ref: KeyRef): Promise<KeyOutcome> {
    return (await find(ref)) === undefined ? 'absent' : 'last_writer';
  }

  return {
    find,

    /** One page, legacy keys first, then the newest. */
    async list(page: number, perPage: number): Promise<{ items: KeyRow[]; total: number }> {
      const rows = sql(`SELECT ${COLUMNS} FROM api_key k ORDER BY k.version, k.id DESC`);
      const { items, total } = await readPage(db, rows, sql('SELECT count(*) AS n FROM api_key'), page, perPage);
      return { items: items.map(keyOf), total };
    },

    /**
     * A key as `auth` checks it, by the digest of its key part. Legacy keys never match. It acts for the user who made
     * it: while that user is disabled it is, too, and it has no right that the user has lost.
     */
    async login(keyHash: string) {
      const row = await db.one(
        `SELECT ${COLUMNS}, k.secret_hash, u.enabled AS user_enabled, u.rights AS user_rights
         FROM api_key k LEFT JOIN user u ON u.id = k.user_id WHERE k.key_hash = ? AND k.version = 'v2'`,
        [keyHash],
      );
      if (row === undefined) return undefined;
      const key = keyOf(row);
      const rights = rightsOf(key);
      const lasting = row.user_rights === null ? rights : rightsOfUser({ rights: row.user_rights ?? null });
      return {
        identity: {
          type: 'key' as const,
          id: key.id,
          name: key.description === '' ? `key …${key.last7}` : key.description,
          rights: rights.filter((right) => lasting.includes(right)),
        },
        proof: String(row.secret_hash),
        enabled: key.enabled && row.user_enabled !== 0,
        last_access: key.last_access,
      };
    },

    /** Creates a key. The token `<secret40>==<key40>` is returned here and can never be read again. */
    async add(key: NewKey): Promise<{ key: KeyRow; token: string }> {
      const secret = randomBytes(20).toString('hex');
      const part = randomBytes(20).toString('hex');
      const { lastId } = await db.run(
        `INSERT INTO api_key (version, key_hash, secret_hash, last7, description, scope, approves, enabled, user_id, created_at)
         VALUES ('v2', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          hashToken(part),
          hashToken(secret),
          part.slice(-7),
          key.description,
          key.scope,
          key.approves ?? false,
          key.enabled,
          key.user_id,
          key.now,
        ],
      );
      const made = await find(lastId);
      if (made === undefined) throw new Error('The key that was just stored cannot be read.');
      return { key: made, token: `${secret}==${part}` };
    },

    /**
     * Changes a key. With `keepWriter`, refuses if the last enabled key that writes, or that reads and writes, would no
     * longer do so.
     */
    async change(ref: KeyRef, change: KeyChange, keepWriter = false): Promise<KeyOutcome> {
      const { where, arg } = refPredicate(ref);
      const { scope, approves, description, enabled } = change;
      const set = assignments({ scope, approves, description, enabled });
      if (set.text === '') return (await find(ref)) === undefined ? 'absent' : 'done';
      const off = enabled === false;
      const guards = [
        ...(off || (scope ?? 'read_write') !== 'read_write' ? [KEEPS_BOTH] : []),
        ...(off || scope === 'read' ? [KEEPS_WRITER] : []),
      ];
      const guarded = [where, ...(keepWriter ? guards : [])].join(' AND ');
      const { changes } = await db.run(`UPDATE api_key SET ${set.text} WHERE ${guarded}`, [...set.args, arg]);
      return changes > 0 ? 'done' : refused(ref);
    },

    /**
     * Removes a key. With `keepWriter`, refuses for the last enabled key that writes, or that reads and writes.
     */
    async remove(ref: KeyRef, keepWriter = false): Promise<KeyOutcome> {
      const { where, arg } = refPredicate(ref);
      const guard = keepWriter ? ` AND ${KEEPS_BOTH} AND ${KEEPS_WRITER}` : '';
      const { changes } = await db.run(`DELETE FROM api_key WHERE ${where}${guard}`, [arg]);
      return changes > 0 ? 'done' : refused(ref);
    },

    /** Notes that an assistant has used a key, for good. */
    async markAssistant(id: number, now: number): Promise<void> {
      await db.run('UPDATE api_key SET assistant_at = ? WHERE id = ? AND assistant_at IS NULL', [now, id]);
    },

    async isAssistants(id: number): Promise<boolean> {
      return (await db.one('SELECT 1 FROM api_key WHERE id = ? AND assistant_at IS NULL', [id])) === undefined;
    },

    /** Records the use of a key. */
    async touch(id: number, at: number): Promise<void> {
      await db.run('UPDATE api_key SET last_access = ? WHERE id = ?', [at, id]);
    },
  };
}

export type Keys = ReturnType<typeof createKeys>;
