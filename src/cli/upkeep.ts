/** `sitefleet migrate`, `backup` and `check`. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { databaseFile } from '../config.js';
import type { Config } from '../context.js';
import { openVault } from '../secret-key.js';
import { openDb } from '../store/open.js';
import type { Vault } from '../store/vault.js';
import { CommandError } from './accounts.js';
import { withDatabase } from './database.js';
import { inspect, reportText } from './inspect.js';
import { print, printJson, say } from './output.js';

export async function migrateNow(config: Config, options: { json?: boolean }): Promise<void> {
  const { from, to } = await withDatabase(config, async ({ schema }) => schema);
  if (options.json === true) printJson({ from, to });
  else say(from === to ? `The schema is up to date (step ${to}).` : `Moved the schema from step ${from} to ${to}.`);
}

/** Copies the database while others use it. The key file is not in it, and must be kept apart. */
export async function backupTo(config: Config, file: string, options: { json?: boolean }): Promise<void> {
  mustExist(config);
  const { backup } = await import('../store/embedded.js');
  await withDatabase(config, ({ db }) => backup(db, file));
  if (options.json === true) printJson({ file: resolve(file) });
  else say(`Copied the database to ${resolve(file)}. Keep the secret key too, in another place.`);
}

/** Looks the database over without changing it; exit code 1 when something is wrong. */
export async function check(config: Config, options: { json?: boolean }): Promise<void> {
  mustExist(config);
  const db = await openDb(config.db, {
    mode: 'reader',
    ...(config.db_token === null ? {} : { token: config.db_token }),
  });
  try {
    const report = await inspect(db, vaultOf(config));
    if (options.json === true) printJson(report);
    else print(reportText(report));
    if (!report.ok) process.exitCode = 1;
  } finally {
    await db.close();
  }
}

export function mustExist(config: Config): void {
  const file = databaseFile(config.db);
  if (file !== null && !existsSync(file)) {
    throw new CommandError(`There is no database at ${file}. "serve" makes one; SITEFLEET_DB names another.`);
  }
}

/** The vault of the key that exists; a check must not make a new one. */
export function vaultOf(config: Config): Vault | undefined {
  const file = config.secret_key_file;
  const exists = config.secret_key !== null || (file !== null && existsSync(file));
  return exists ? openVault(config) : undefined;
}
