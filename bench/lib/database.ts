/** Databases of the benchmarks: seeded once per run, and copied for scenarios that write. */

import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../../src/store/driver/db.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { openDb } from '../../src/store/driver/open.js';
import { createStatistics } from '../../src/store/fleet/statistics.js';
import { migrations } from '../../src/store/schema/index.js';
import { createVault, keyId, type Vault } from '../../src/store/vault/vault.js';
import { seedFleet } from './seed.js';

/** The same key in all processes of a run. It protects no real secrets. */
export const SECRET_KEY = '5b'.repeat(32);

export function benchVault(): Vault {
  const key = Buffer.from(SECRET_KEY, 'hex');
  return createVault([{ id: keyId(key), key }]);
}

/** Opens a database for writing and brings its schema up to date. */
export async function openWriter(url: string): Promise<Db> {
  const db = await openDb(url, { mode: 'writer' });
  await migrate(db, migrations);
  return db;
}

/** `file:` URL of a database with this many made-up sites; it is shared and must not be written to. */
async function seeded(dir: string, sites: number): Promise<string> {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, `fleet-${sites}.db`);
  if (existsSync(path)) return `file:${path}`;
  const partial = `${path}.${process.pid}`;
  const db = await openWriter(`file:${partial}`);
  await seedFleet(db, { sites });
  // A server does this on schedule within ten minutes.
  await createStatistics(db).refresh();
  await db.close();
  renameSync(partial, path);
  return `file:${path}`;
}

/** A copy that the caller may modify. */
export async function seededCopy(dir: string, sites: number, name: string): Promise<string> {
  const url = await seeded(dir, sites);
  const path = join(dir, `${name}-${sites}.db`);
  copyFileSync(url.slice('file:'.length), path);
  return `file:${path}`;
}
