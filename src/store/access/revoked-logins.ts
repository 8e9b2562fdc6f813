/**
 * Rights that were taken away since a backup was made: a restored key or user does not get them again. Nothing else is
 * taken from the database that is replaced: someone who had no business there may have changed it.
 */

import type { Db, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { type KeyScope, rightsOf as rightsOfKey } from './keys.js';
import { rightsOf, type UserRight } from './users.js';

interface Login {
  id: number;
  /** As people know it. */
  name: string;
  rights: readonly UserRight[];
  /** '' for a key. */
  password_hash: string;
  /** When an assistant first used it; null = never. */
  assistant_at: number | null;
}

/** Who may log in: keys by their digest, users by the form of their name that is compared. */
export interface Logins {
  /** Drawn at the first start, and the same in every copy; '' = not drawn yet. */
  installation: string;
  keys: ReadonlyMap<string, Login>;
  users: ReadonlyMap<string, Login>;
  /** What has to be approved, as it is stored; '' = nothing was set. */
  approval_rules: string;
}

/** What a restored database lets in with fewer rights than it was backed up with, or with another password than of late. */
export interface RevokedLogins {
  keys: string[];
  users: string[];
  /** The user who gets back rights that were taken away since, because no other user of the backup could make changes. */
  regained: string[];
  passwords: string[];
  /** What may approve no more, or not until another password is set. */
  assistants: string[];
  /** Whether other things have to be approved than of late. */
  other_approval_rules: boolean;
}

export async function loginsOf(db: Db): Promise<Logins> {
  const [instance = [], keys = [], users = [], rules = []] = await db.read([
    sql("SELECT value FROM instance WHERE key = 'dashboard_url'"),
    sql(
      "SELECT id, key_hash, description, scope, approves, assistant_at FROM api_key WHERE version = 'v2' AND enabled = 1 ORDER BY id",
    ),
    sql('SELECT id, name, name_key, rights, password_hash, assistant_at FROM user WHERE enabled = 1 ORDER BY name_key'),
    sql("SELECT value FROM setting WHERE key = 'approvals'"),
  ]);
  return {
    installation: String(instance[0]?.value ?? ''),
    keys: new Map(keys.map((row) => [String(row.key_hash), keyOf(row)])),
    users: new Map(users.map((row) => [String(row.name_key), userOf(row)])),
    approval_rules: String(rules[0]?.value ?? ''),
  };
}

function keyOf({ id, description, scope, approves, assistant_at }: Row): Login {
  const rights = rightsOfKey({ scope: scope as KeyScope, approves: approves === 1 });
  return {
    id: Number(id),
    name: `#${id} ${description}`.trim(),
    rights,
    password_hash: '',
    assistant_at: timeOf(assistant_at),
  };
}

function userOf(row: Row): Login {
  return {
    id: Number(row.id),
    name: String(row.name),
    rights: rightsOf(row),
    password_hash: String(row.password_hash),
    assistant_at: timeOf(row.assistant_at),
  };
}

const timeOf = (at: Row[string] | undefined) => (at == null ? null : Number(at));

/**
 * Takes from the logins of a restored database what those of the replaced one had lost since; nothing from one of
 * another installation. If no user would be left who may make changes, the first one keeps what the backup has.
 */
export async function keepRevoked(db: Db, replaced: Logins, now: number): Promise<RevokedLogins> {
  const { installation, keys, users, approval_rules } = await loginsOf(db);
  if (installation === '' || installation !== replaced.installation)
    return { keys: [], users: [], regained: [], passwords: [], assistants: [], other_approval_rules: false };
  const weakerKeys = weakened(keys, replaced.keys);
  const weaker = weakened(users, replaced.users);
  const lost = new Set(weaker.filter(({ left }) => !left.includes('write')).map(({ name }) => name));
  const writers = [...users.values()].filter(({ rights }) => rights.includes('write')).sort((a, b) => a.id - b.id);
  const regained = writers.every(({ name }) => lost.has(name)) ? writers[0] : undefined;
  const weakerUsers = weaker.filter(({ id }) => id !== regained?.id);
  const scopeOf = (left: readonly UserRight[]) => left.filter((right) => right !== 'approve').join('_');
  const other = [...users].flatMap(([key, login]) => {
    const later = replaced.users.get(key);
    return later !== undefined && later.password_hash !== login.password_hash ? [login] : [];
  });
  // Whether an assistant has used a password that was replaced since is not known any more.
  const unknown = other.filter(({ rights, assistant_at }) => assistant_at === null && rights.includes('approve'));
  const heldKeys = held(keys, replaced.keys);
  const heldUsers = [...new Set([...held(users, replaced.users), ...unknown])];
  const mark = (table: 'api_key' | 'user', { id }: Login) =>
    sql(`UPDATE ${table} SET assistant_at = ? WHERE id = ?`, now, id);
  const approvingNoMore = weakerKeys.filter(({ left }) => !left.includes('approve'));
  await db.batch([
    ...weakerKeys.map(({ id, left }) => withRights('api_key', 'scope', id, scopeOf(left))),
    ...approvingNoMore.map(({ id }) => sql('UPDATE api_key SET approves = 0 WHERE id = ?', id)),
    ...weakerUsers.map(({ id, left }) => withRights('user', 'rights', id, left.join(','))),
    ...heldKeys.map((login) => mark('api_key', login)),
    ...heldUsers.map((login) => mark('user', login)),
  ]);
  return {
    keys: weakerKeys.map(({ name }) => name),
    users: weakerUsers.map(({ name }) => name),
    regained: regained === undefined ? [] : [regained.name],
    passwords: other.map(({ name }) => name),
    assistants: [...heldKeys, ...heldUsers].filter(({ rights }) => rights.includes('approve')).map(({ name }) => name),
    other_approval_rules: approval_rules !== replaced.approval_rules,
  };
}

/** Those that an assistant has used since the backup, or may have before they were removed or disabled. */
function held(restored: Logins['keys'], replaced: Logins['keys']): Login[] {
  return [...restored].flatMap(([key, login]) => {
    const later = replaced.get(key);
    const isHeld = later === undefined ? login.rights.includes('approve') : later.assistant_at !== null;
    return login.assistant_at === null && isHeld ? [login] : [];
  });
}

function weakened(restored: Logins['keys'], replaced: Logins['keys']): (Login & { left: readonly UserRight[] })[] {
  return [...restored].flatMap(([key, login]) => {
    const left = login.rights.filter((right) => replaced.get(key)?.rights.includes(right) === true);
    return left.length === login.rights.length ? [] : [{ ...login, left }];
  });
}

/** '' = none: it is disabled, and has its rights when it is enabled. */
function withRights(table: 'api_key' | 'user', column: 'scope' | 'rights', id: number, rights: string): Statement {
  return rights === ''
    ? sql(`UPDATE ${table} SET enabled = 0 WHERE id = ?`, id)
    : sql(`UPDATE ${table} SET ${column} = ? WHERE id = ?`, rights, id);
}
