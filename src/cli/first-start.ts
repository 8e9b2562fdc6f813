/** The first user and the first key of a new database. */

import { randomBytes } from 'node:crypto';
import type { Config } from '../config/types.js';
import type { Keys } from '../store/access/keys.js';
import type { Users } from '../store/access/users.js';
import { hashPassword } from '../store/vault/vault.js';
import { withDatabase } from './open-database.js';

export interface Credentials {
  user: string;
  password: string;
  api_key: string;
}

/**
 * Makes both when the database has no user yet, and answers them: they can be read only now.
 * Undefined when a user exists already.
 */
export async function firstStart(
  stores: { users: Users; keys: Keys },
  config: Pick<Config, 'admin_user' | 'admin_password'>,
  now: number,
): Promise<Credentials | undefined> {
  if ((await stores.users.count()) > 0) return undefined;
  const name = config.admin_user ?? 'admin';
  const password = config.admin_password ?? newPassword();
  const user = await stores.users.add({
    name,
    password_hash: await hashPassword(password),
    rights: ['read', 'write'],
    now,
  });
  // Another process was first.
  if (user === undefined) return undefined;
  const key = { scope: 'read_write', description: 'First key', enabled: true, user_id: user.id, now } as const;
  const { token } = await stores.keys.add(key).catch(async (error: unknown) => {
    // A login that was never shown would keep the next start from making one.
    await stores.users.remove(name).catch(() => undefined);
    throw error;
  });
  return { user: name, password, api_key: token };
}

/** The same for a database that is not open yet. */
export function firstStartOf(config: Config, now: number): Promise<Credentials | undefined> {
  return withDatabase(config, (stores) => firstStart(stores, config, now));
}

/** 24 characters that survive any shell, header and form. */
export function newPassword(): string {
  return randomBytes(18).toString('base64url');
}
