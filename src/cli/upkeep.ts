/** `sitefleet migrate`, `backup` and `check`. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { databaseFile } from '../config.js';
import type { Config } from '../context.js';
import { openVault } from '../secret-key.js';
import type { Db } from '../store/db.js';
import { migrations } from '../store/migrations/index.js';
import { openDb } from '../store/open.js';
import type { Vault } from '../store/vault.js';
import { CommandError } from './accounts.js';
import { withDatabase } from './database.js';
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

interface Report {
  ok: boolean;
  schema: { step: number; newest: number };
  integrity: string[];
  foreign_keys: number;
  secrets: { sealed: number; unreadable: number };
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

function mustExist(config: Config): void {
  const file = databaseFile(config.db);
  if (file !== null && !existsSync(file)) {
    throw new CommandError(`There is no database at ${file}. "serve" makes one; SITEFLEET_DB names another.`);
  }
}

/** The vault of the key that exists; a check must not make a new one. */
function vaultOf(config: Config): Vault | undefined {
  const file = config.secret_key_file;
  const exists = config.secret_key !== null || (file !== null && existsSync(file));
  return exists ? openVault(config) : undefined;
}

async function inspect(db: Db, vault: Vault | undefined): Promise<Report> {
  const integrity = (await pragma(db, 'integrity_check')).map((row) => String(Object.values(row)[0]));
  const foreignKeys = (await pragma(db, 'foreign_key_check')).length;
  const step = Number((await db.one('SELECT max(id) AS step FROM migration').catch(() => undefined))?.step ?? 0);
  const newest = Math.max(...migrations.map((migration) => migration.id));
  const secrets = step === 0 ? { sealed: 0, unreadable: 0 } : await inspectSecrets(db, vault);
  const sound = integrity.every((line) => line === 'ok');
  return {
    ok: sound && foreignKeys === 0 && step === newest && secrets.unreadable === 0,
    schema: { step, newest },
    integrity,
    foreign_keys: foreignKeys,
    secrets,
  };
}

/** Servers may keep these to themselves; what cannot be asked is not wrong. */
async function pragma(db: Db, name: string) {
  try {
    return await db.all(`PRAGMA ${name}`);
  } catch (error) {
    if (db.kind === 'remote') return [];
    throw error;
  }
}

const SECRET_COLUMNS = ['private_key', 'regverify', 'http_user', 'http_pass'] as const;

async function inspectSecrets(db: Db, vault: Vault | undefined): Promise<{ sealed: number; unreadable: number }> {
  let sealed = 0;
  let unreadable = 0;
  let after = 0;
  for (;;) {
    const rows = await db.all(
      `SELECT site_id, ${SECRET_COLUMNS.join(', ')} FROM site_secret WHERE site_id > ? ORDER BY site_id LIMIT 500`,
      [after],
    );
    for (const row of rows) {
      for (const column of SECRET_COLUMNS) {
        const value = row[column];
        if (typeof value !== 'string') continue;
        sealed += 1;
        if (!opens(vault, value, `site_secret:${row.site_id}:${column}`)) unreadable += 1;
      }
    }
    const last = rows.at(-1);
    if (last === undefined) return { sealed, unreadable };
    after = Number(last.site_id);
  }
}

function opens(vault: Vault | undefined, sealed: string, place: string): boolean {
  try {
    return vault?.open(sealed, place) !== undefined;
  } catch {
    return false;
  }
}

function reportText(report: Report): string {
  const { schema, integrity, secrets } = report;
  const sound = integrity.every((line) => line === 'ok');
  return [
    `Schema        step ${schema.step} of ${schema.newest}${schema.step < schema.newest ? ': run "sitefleet migrate"' : ''}`,
    `Integrity     ${sound ? 'sound' : integrity.slice(0, 5).join('; ')}`,
    `Foreign keys  ${report.foreign_keys === 0 ? 'sound' : `${report.foreign_keys} rows point to nothing`}`,
    `Secrets       ${secrets.sealed} sealed${secrets.unreadable === 0 ? '' : `, ${secrets.unreadable} cannot be opened: is it the right secret key?`}`,
    report.ok ? 'All is well.' : 'Something is wrong.',
  ].join('\n');
}
