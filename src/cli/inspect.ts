/** What `sitefleet check` and `restore` look at: schema, soundness of the file, rows that point to nothing, secrets that do not open. */

import type { Db, Row } from '../store/db.js';
import { migrations } from '../store/migrations/index.js';
import type { Vault } from '../store/vault.js';

export interface Report {
  ok: boolean;
  schema: { step: number; newest: number };
  integrity: string[];
  foreign_keys: number;
  secrets: { sealed: number; unreadable: number };
}

/** Looks a database over without changing it. Without a vault every secret counts as unreadable. */
export async function inspect(db: Db, vault: Vault | undefined): Promise<Report> {
  const integrity = (await pragma(db, 'integrity_check')).map((row) => String(Object.values(row)[0]));
  const foreignKeys = (await pragma(db, 'foreign_key_check')).length;
  const step = Number((await db.one('SELECT max(id) AS step FROM migration').catch(() => undefined))?.step ?? 0);
  const newest = Math.max(...migrations.map((migration) => migration.id));
  const secrets = await inspectSecrets(db, vault, step);
  return {
    ok: sound(integrity) && foreignKeys === 0 && step === newest && secrets.unreadable === 0,
    schema: { step, newest },
    integrity,
    foreign_keys: foreignKeys,
    secrets,
  };
}

export function sound(integrity: readonly string[]): boolean {
  return integrity.every((line) => line === 'ok');
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

/** Where sealed texts stand: table, key columns by which it is paged, the place each was sealed for, the schema that brought them. */
const SEALED: readonly {
  table: string;
  keys: readonly string[];
  columns: readonly string[];
  place: Place;
  since?: number;
}[] = [
  {
    table: 'site_secret',
    keys: ['site_id'],
    columns: ['private_key', 'regverify', 'http_user', 'http_pass'],
    place: (row, column) => `site_secret:${row.site_id}:${column}`,
  },
  {
    table: 'site_secret',
    keys: ['site_id'],
    columns: ['unique_id'],
    place: (row, column) => `site_secret:${row.site_id}:${column}`,
    since: 7,
  },
  { table: 'setting', keys: ['key'], columns: ['value'], place: (row) => `setting:${row.key}` },
  {
    table: 'idempotency',
    keys: ['principal', 'key'],
    columns: ['body'],
    place: (row) => `idempotency:${row.principal}:${row.key}`,
  },
];
type Place = (row: Row, column: string) => string;

const PAGE = 500;

async function inspectSecrets(db: Db, vault: Vault | undefined, step: number): Promise<Report['secrets']> {
  const found = { sealed: 0, unreadable: 0 };
  for (const { table, keys, columns, place, since = 1 } of SEALED) {
    if (step < since) continue;
    const known = await db.one("SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = ?", [table]);
    if (known === undefined) continue;
    const order = keys.join(', ');
    let after: Row | undefined;
    for (;;) {
      const marks = keys.map(() => '?').join(', ');
      const rows: Row[] = await db.all(
        `SELECT ${order}, ${columns.join(', ')} FROM ${table}
         ${after === undefined ? '' : `WHERE (${order}) > (${marks})`} ORDER BY ${order} LIMIT ${PAGE}`,
        after === undefined ? [] : keys.map((key) => after?.[key] ?? null),
      );
      for (const row of rows) {
        for (const column of columns) {
          const value = row[column];
          if (typeof value !== 'string' || !/^v\d+\./.test(value)) continue;
          found.sealed += 1;
          if (!opens(vault, value, place(row, column))) found.unreadable += 1;
        }
      }
      after = rows.at(-1);
      if (rows.length < PAGE) break;
    }
  }
  return found;
}

function opens(vault: Vault | undefined, sealed: string, place: string): boolean {
  try {
    return vault?.open(sealed, place) !== undefined;
  } catch {
    return false;
  }
}

export function reportText(report: Report): string {
  const { schema, integrity, secrets } = report;
  return [
    `Schema        step ${schema.step} of ${schema.newest}${schema.step < schema.newest ? ': run "sitefleet migrate"' : ''}`,
    `Integrity     ${sound(integrity) ? 'sound' : integrity.slice(0, 5).join('; ')}`,
    `Foreign keys  ${report.foreign_keys === 0 ? 'sound' : `${report.foreign_keys} rows point to nothing`}`,
    `Secrets       ${secrets.sealed} sealed${secrets.unreadable === 0 ? '' : `, ${secrets.unreadable} cannot be opened: is it the right secret key?`}`,
    report.ok ? 'All is well.' : 'Something is wrong.',
  ].join('\n');
}
