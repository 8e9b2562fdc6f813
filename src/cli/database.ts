/** `sitefleet migrate`, `backup` and `check`. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { openBackups } from '../app/backups.js';
import { presentVault } from '../app/secret-key.js';
import { systemClock } from '../runtime/clock.js';
import { databaseFile } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import { backup } from '../store/driver/files.js';
import { surveySealed } from '../store/vault/sealed.js';
import { CommandError } from './command-error.js';
import { inspect, reportText } from './inspect.js';
import { withDatabase, withReader } from './open-database.js';
import { type JsonFlag, print, printJson, say } from './output.js';

export async function migrateNow(config: Config, options: JsonFlag): Promise<void> {
  const { from, to } = await withDatabase(config, async ({ schema }) => schema);
  if (options.json === true) printJson({ from, to });
  else say(from === to ? `The schema is up to date (step ${to}).` : `Moved the schema from step ${from} to ${to}.`);
}

/** Copies the database while it is in use. The copy does not include the key file, which must be kept separately. */
export async function backupTo(config: Config, named: string | undefined, options: JsonFlag): Promise<void> {
  mustExist(config);
  const backups = openBackups(config);
  if (named === undefined && backups === null)
    throw new CommandError('Name the file, or a folder for backups in SITEFLEET_BACKUP_DIR.');
  const { keys, file } = await withDatabase(config, async ({ db }) => {
    const file = named ?? (await backups?.make(systemClock.now()))?.path ?? '';
    if (named !== undefined) await backup(db, named);
    return { file, ...(await surveySealed(db, presentVault(config))) };
  });
  const ids = keys.flatMap(({ id }) => (id === null ? [] : [id]));
  if (options.json === true) printJson({ file: resolve(file), key_ids: ids });
  else {
    const which = ids.length === 0 ? '' : ` ${ids.join(', ')}`;
    say(`Backed up the database to ${resolve(file)}. Keep the secret key${which} too, in a different place.`);
  }
  const lost = keys.filter(({ unreadable }) => unreadable > 0).map(({ id }) => id ?? 'of an unknown name');
  if (lost.length > 0)
    say(
      `Some of its secrets were encrypted with the key ${lost.join(', ')}, which is missing: "sitefleet check" lists them.`,
    );
}

/** Inspects the database without changing it; exit code 1 if something is wrong. */
export async function check(config: Config, options: JsonFlag): Promise<void> {
  mustExist(config);
  const report = await withReader(config, (db) => inspect(db, presentVault(config)));
  if (options.json === true) printJson(report);
  else print(reportText(report));
  if (!report.ok) process.exitCode = 1;
}

export function mustExist(config: Config): void {
  const file = databaseFile(config.db);
  if (file !== null && !existsSync(file)) {
    throw new CommandError(`There is no database at ${file}. "serve" creates one; SITEFLEET_DB can name another.`);
  }
}
