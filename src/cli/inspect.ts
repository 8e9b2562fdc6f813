/**
 * Inspection of a database for `sitefleet check` and `restore`: schema, integrity of the file, dangling references,
 * secrets that cannot be opened.
 */

import type { Db, Row } from '../store/driver/db.js';
import { StorageError } from '../store/driver/db.js';
import { differenceText, examineSchema, type SchemaDifference } from '../store/driver/schema.js';
import { migrations } from '../store/schema/index.js';
import { type SealedReport, surveySealed } from '../store/vault/sealed.js';
import type { Vault } from '../store/vault/vault.js';

export interface Report {
  ok: boolean;
  schema: { step: number; newest: number } & SchemaDifference;
  /** Null if it is unknown: a storage server may not check, or not in time; a file whose schema is not ours is not checked. */
  integrity: string[] | null;
  /** Null if the file is too damaged to tell, or like `integrity`. */
  foreign_keys: number | null;
  /** Null if the file is too damaged to tell, or its schema is not ours. */
  secrets: SealedReport | null;
}

/**
 * Inspects a database without changing it. Without a vault every secret counts as unreadable. Its schema comes first: what
 * others define in a file could be evaluated without an end.
 */
export async function inspect(db: Db, vault: Vault | undefined): Promise<Report> {
  const newest = Math.max(...migrations.map((migration) => migration.id));
  const examined = await readable(() => examineSchema(db, migrations));
  const { step, difference } = examined ?? { step: 0, difference: { foreign: [], missing: [], changed: [] } };
  const schema = { step, newest, ...difference };
  if (examined === null || differenceText(difference) !== null)
    return {
      ok: false,
      schema,
      integrity: examined === null ? [NO_DATABASE] : null,
      foreign_keys: null,
      secrets: null,
    };
  const checked = await readable(() => pragma(db, 'integrity_check'));
  const integrity =
    checked === 'unknown' ? null : (checked?.map((row) => String(Object.values(row)[0])) ?? [NO_DATABASE]);
  const dangling = await readable(() => pragma(db, 'foreign_key_check'));
  const foreignKeys = dangling === 'unknown' ? null : (dangling?.length ?? null);
  const secrets = await readable(() => surveySealed(db, vault));
  return {
    ok:
      sound(integrity) && (foreignKeys === 0 || dangling === 'unknown') && step === newest && secrets?.unreadable === 0,
    schema,
    integrity,
    foreign_keys: foreignKeys,
    secrets,
  };
}

const NO_DATABASE = 'the file cannot be read as a database';

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
const NOT_CHECKED = 'not checked: the schema is not that of Sitefleet';

function foreignKeysText({ integrity, foreign_keys }: Report, unknown: string): string {
  if (foreign_keys === null) return integrity === null ? unknown : 'cannot be read';
  return foreign_keys === 0 ? 'sound' : `${foreign_keys} rows point to nothing`;
}

export function reportText(report: Report): string {
  const { schema, integrity, secrets } = report;
  const difference = differenceText(schema);
  const unknown = difference === null ? UNKNOWN : NOT_CHECKED;
  return [
    `Schema        step ${schema.step} of ${schema.newest}${schema.step < schema.newest ? ': run "sitefleet migrate"' : ''}`,
    ...(difference === null ? [] : [`              ${difference}`]),
    `Integrity     ${integrity === null ? unknown : sound(integrity) ? 'sound' : integrity.slice(0, 5).join('; ')}`,
    `Foreign keys  ${foreignKeysText(report, unknown)}`,
    `Secrets       ${secrets !== null ? secretsText(secrets) : difference === null ? 'cannot be read' : NOT_CHECKED}`,
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
