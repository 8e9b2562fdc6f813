/** Creates the first user of a new database, the first key, and a one-time login link. */

import { randomBytes } from 'node:crypto';
import type { Config } from '../runtime/config/types.js';
import type { Events } from '../runtime/events.js';
import { beginFirstLogin } from '../store/access/first-login.js';
import type { Keys } from '../store/access/keys.js';
import type { LoginLinks } from '../store/access/login-links.js';
import type { Users } from '../store/access/users.js';
import { withDatabase } from './open-database.js';

/** Lifetime of a login link, unless it is used before. */
export const LINK_MS = 15 * 60_000;

export interface Credentials {
  user: string;
  password: string;
  api_key: string;
  /** Token of the one-time login link. */
  link: string;
}

/**
 * Creates all three if the database has no user yet, and returns them: they can be read only now. Undefined if a user
 * exists.
 */
export async function firstStart(
  stores: { users: Users; keys: Keys; loginLinks: LoginLinks; events?: Pick<Events, 'emit'> },
  config: Pick<Config, 'admin_user' | 'admin_password'>,
  now: number,
  linkMs = LINK_MS,
): Promise<Credentials | undefined> {
  if ((await stores.users.count()) > 0) return undefined;
  const name = config.admin_user ?? 'admin';
  const password = config.admin_password ?? newPassword();
  const user = await stores.users.add({
    name,
    password_hash: await stores.users.hash(password),
    rights: ['read', 'write', 'approve'],
    now,
  });
  // Another process was first.
  if (user === undefined) return undefined;
  const key = { scope: 'read_write', description: 'First key', enabled: true, user_id: user.id, now } as const;
  try {
    const link = await stores.loginLinks.add(user.id, now, now + linkMs);
    const { key: made, token } = await stores.keys.add(key);
    if (link === undefined) throw new Error('The user that was just made is gone.');
    const created = { user_id: user.id, user_name: name, right: 'write' };
    stores.events?.emit({ name: 'user.created', facts: created });
    stores.events?.emit({ name: 'key.created', facts: { key_id: made.id, scope: key.scope, by: 'local' } });
    return { user: name, password, api_key: token, link };
  } catch (error) {
    // A login that was never shown would prevent the next start from creating one.
    await stores.users.remove(name).catch(() => undefined);
    throw error;
  }
}

/** The same for a database that is not open yet. @param linkMs lifetime of the link, unless it is used before */
export function firstStartOf(config: Config, now: number, linkMs = LINK_MS): Promise<Credentials | undefined> {
  return withDatabase(config, async (stores) => {
    // A process that is killed between this and the next two steps has stored a login that it never showed.
    await beginFirstLogin(stores.db);
    return firstStart(stores, config, now, linkMs);
  });
}

/** 24 characters that are safe in any shell, header and form. */
export function newPassword(): string {
  return randomBytes(18).toString('base64url');
}
