/**
 * Inspection of a database for `sitefleet check` and `restore`: schema, integrity of the file, dangling references,
 * secrets that cannot be opened.
 */

import type { Db, Row } from '../store/driver/db.js';
import { StorageError } from '../store/driver/db.js';
import { differenceText, type SchemaDifference, schemaDifference } from '../store/driver/schema.js';
import { migrations } from '../store/schema/index.js';
import { type SealedReport, surveySealed } from '../store/vault/sealed.js';
import type { Vault } from '../store/vault/vault.js';

export interface Report {
  ok: boolean;
  schema: { step: number; newest: number } & SchemaDifference;
  /** Null if it is unknown: a storage server may not check, or not in time. */
  integrity: string[] | null;
  /** Null if the file is too damaged to tell, or like `integrity`. */
  foreign_keys: number | null;
  /** Null if the file is too damaged to tell. */
  secrets: SealedReport | null;
}

/** Inspects a database without changing it. Without a vault every secret counts as unreadable. */
export async function inspect(db: Db, vault: Vault | undefined): Promise<Report> {
  const checked = await readable(() => pragma(db, 'integrity_check'));
  const integrity =
    checked === 'unknown'
      ? null
      : (checked?.map((row) => String(Object.values(row)[0])) ?? ['the file cannot be read as a database']);
  const dangling = await readable(() => pragma(db, 'foreign_key_check'));
  const foreignKeys = dangling === 'unknown' ? null : (dangling?.length ?? null);
  const step = Number((await db.one('SELECT max(id) AS step FROM migration').catch(() => undefined))?.step ?? 0);
  const newest = Math.max(...migrations.map((migration) => migration.id));
  const difference = await readable(() => schemaDifference(db, migrations, step));
  const secrets = await readable(() => surveySealed(db, vault));
  const same = difference !== null && differenceText(difference) === null;
  return {
    ok:
      sound(integrity) &&
      (foreignKeys === 0 || dangling === 'unknown') &&
      step === newest &&
      same &&
      secrets?.unreadable === 0,
    schema: { step, newest, ...(difference ?? { foreign: [], missing: [], changed: [] }) },
    integrity,
    foreign_keys: foreignKeys,
    secrets,
  };
}

/** Null for data on a damaged page: the rest of the report is still useful. */
async function readable<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'corrupt') return null;
    throw error;
  }
}

/** Whether no damage is known. */
export function sound(integrity: readonly string[] | null): boolean {
  return integrity?.every((line) => line === 'ok') ?? true;
}

/** Servers may not answer these: then the value is unknown, which is not an error. */
async function pragma(db: Db, name: string): Promise<Row[] | 'unknown'> {
  try {
    return await db.all(`PRAGMA ${name}`);
  } catch (error) {
    if (db.kind === 'remote') return 'unknown';
    throw error;
  }
}

const UNKNOWN = 'unknown: the storage server did not check it';

function foreignKeysText({ integrity, foreign_keys }: Report): string {
  if (foreign_keys === null) return integrity === null ? UNKNOWN : 'cannot be read';
  return foreign_keys === 0 ? 'sound' : `${foreign_keys} rows point to nothing`;
}

export function reportText(report: Report): string {
  const { schema, integrity, secrets } = report;
  const difference = differenceText(schema);
  return [
    `Schema        step ${schema.step} of ${schema.newest}${schema.step < schema.newest ? ': run "sitefleet migrate"' : ''}`,
    ...(difference === null ? [] : [`              ${difference}`]),
    `Integrity     ${integrity === null ? UNKNOWN : sound(integrity) ? 'sound' : integrity.slice(0, 5).join('; ')}`,
    `Foreign keys  ${foreignKeysText(report)}`,
    `Secrets       ${secrets === null ? 'cannot be read' : secretsText(secrets)}`,
    report.ok ? 'No problems found.' : 'Something is wrong.',
    ...(sound(integrity) ? [] : ['Stop the service and restore a backup: sitefleet restore FILE']),
  ].join('\n');
}

function secretsText({ sealed, unreadable, keys, places }: SealedReport): string {
  if (unreadable === 0) return `${sealed} sealed`;
  const lost = keys.filter((key) => key.unreadable > 0);
  return [
    `${sealed} sealed, ${unreadable} cannot be opened:`,
    ...lost.map((key) => `              ${key.unreadable} encrypted with the key ${key.id ?? 'of an unknown name'}`),
    `              ${places.join(', ')}${unreadable > places.length ? ', …' : ''}`,
  ].join('\n');
}
