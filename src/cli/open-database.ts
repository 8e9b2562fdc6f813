/** Opens the database for commands that need no service around it. */

import type { Config } from '../config/types.js';
import { createKeys, type Keys } from '../store/access/keys.js';
import { createLoginLinks, type LoginLinks } from '../store/access/login-links.js';
import { createUsers, type Users } from '../store/access/users.js';
import type { Db } from '../store/driver/db.js';
import { migrate } from '../store/driver/migrate.js';
import { openDb } from '../store/driver/open.js';
import { migrations } from '../store/migrations/index.js';
import { assertWritable } from './file-access.js';

export interface Stores {
  db: Db;
  users: Users;
  keys: Keys;
  loginLinks: LoginLinks;
  /** Highest schema step before and after. */
  schema: { from: number; to: number };
}

/** Opens the database for writing, migrates its schema, works on it and closes it. */
export async function withDatabase<T>(config: Config, work: (stores: Stores) => Promise<T>): Promise<T> {
  assertWritable(config);
  const db = await openDb(config.db, {
    mode: 'writer',
    ...(config.db_token === null ? {} : { token: config.db_token }),
  });
  try {
    const schema = await migrate(db, migrations);
    return await work({ db, users: createUsers(db), keys: createKeys(db), loginLinks: createLoginLinks(db), schema });
  } finally {
    await db.close();
  }
}
