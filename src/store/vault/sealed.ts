/**
 * Every sealed column of the database. This list is the only one: the start, key rotation, `check`, `restore` and `backup`
 * go by it, and a test finds any sealed column that is missing from it.
 */

import type { Db, Row, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import type { Vault } from './vault.js';

interface SealedTable {
  table: string;
  /** Primary key, by which the table is read in pages. */
  keys: readonly string[];
  columns: readonly string[];
  /** What the text of a row and column was sealed for. */
  place(row: Row, column: string): string;
}

export const SEALED: readonly SealedTable[] = [
  {
    table: 'site_secret',
    keys: ['site_id'],
    columns: ['private_key', 'regverify', 'http_user', 'http_pass', 'unique_id'],
    place: (row, column) => `site_secret:${row.site_id}:${column}`,
  },
  { table: 'setting', keys: ['key'], columns: ['value'], place: (row) => `setting:${row.key}` },
  {
    table: 'alert_recipient',
    keys: ['uid'],
    columns: ['target'],
    place: (row) => `alert_recipient:${row.uid}:target`,
  },
  {
    table: 'idempotency',
    keys: ['principal', 'key'],
    columns: ['body', 'fingerprint'],
    place: (row, column) =>
      `${column === 'body' ? 'idempotency' : 'idempotency_fingerprint'}:${row.principal}:${row.key}`,
  },
];

/** Sealed texts by key, and how many of them the present keys cannot open. */
export interface SealedReport {
  sealed: number;
  unreadable: number;
  /** By key id; `null` for incomplete texts. */
  keys: { id: string | null; sealed: number; unreadable: number }[];
  /** The first unreadable ones: `site_secret:12:private_key`. */
  places: string[];
}

interface SealedText {
  column: string;
  place: string;
  text: string;
}

interface SealedRow {
  in: SealedTable;
  row: Row;
  texts: SealedText[];
}

const PAGE = 500;
const PLACES_NAMED = 20;
/** Another pass finds the rows that a running server sealed with the old key in the meantime. */
const PASSES = 3;

/** Pages of rows with sealed texts. `firstPage` is for callers that expect to be done after one row. */
async function* sealedRows(db: Db, firstPage = PAGE): AsyncGenerator<SealedRow[]> {
  for (const each of SEALED) {
    const found = await db.one("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", [each.table]);
    // A database of an earlier version may lack the table, or a column.
    const columns = each.columns.filter((column) => new RegExp(`\\b${column}\\b`).test(String(found?.sql ?? '')));
    if (columns.length === 0) continue;
    const order = each.keys.join(', ');
    const placeholders = each.keys.map(() => '?').join(', ');
    let after: Row | undefined;
    for (let limit = firstPage; ; limit = PAGE) {
      const rows: Row[] = await db.all(
        `SELECT ${order}, ${columns.join(', ')} FROM ${each.table}
         ${after === undefined ? '' : `WHERE (${order}) > (${placeholders})`} ORDER BY ${order} LIMIT ${limit}`,
        after === undefined ? [] : each.keys.map((key) => after?.[key] ?? null),
      );
      yield rows.map((row) => ({ in: each, row, texts: textsOf(each, columns, row) }));
      after = rows.at(-1);
      if (rows.length < limit) break;
    }
  }
}

function textsOf(table: SealedTable, columns: readonly string[], row: Row): SealedText[] {
  return columns.flatMap((column) => {
    const text = row[column];
    return typeof text === 'string' && /^v\d+\./.test(text) ? [{ column, text, place: table.place(row, column) }] : [];
  });
}

/** Counts all sealed texts and tries to open them. Without a vault none can be opened. */
export async function surveySealed(db: Db, vault: Vault | undefined): Promise<SealedReport> {
  const keys = new Map<string | null, { sealed: number; unreadable: number }>();
  const places: string[] = [];
  for await (const page of sealedRows(db)) {
    for (const { text, place } of page.flatMap(({ texts }) => texts)) {
      const id = keyIdOf(text);
      const count = keys.get(id) ?? { sealed: 0, unreadable: 0 };
      keys.set(id, count);
      count.sealed += 1;
      if (opens(vault, text, place)) continue;
      count.unreadable += 1;
      if (places.length < PLACES_NAMED) places.push(place);
    }
  }
  const all = [...keys].map(([id, count]) => ({ id, ...count }));
  const sum = (member: 'sealed' | 'unreadable') => all.reduce((total, count) => total + count[member], 0);
  return { sealed: sum('sealed'), unreadable: sum('unreadable'), keys: all, places };
}

/**
 * Whether the vault belongs to this database: null if it opens something, or if nothing is sealed; otherwise the result
 * of a survey. With the right key it reads one row.
 */
export async function strangeVault(db: Db, vault: Vault | undefined): Promise<SealedReport | null> {
  let sealed = false;
  for await (const page of sealedRows(db, 1)) {
    for (const { text, place } of page.flatMap(({ texts }) => texts)) {
      if (opens(vault, text, place)) return null;
      sealed = true;
    }
  }
  return sealed ? surveySealed(db, vault) : null;
}

/**
 * Reseals everything sealed with another key, using the current one; returns how many rows were rewritten. If
 * interrupted, it can be run again.
 * @throws VaultError if a text cannot be opened; earlier rows have been rewritten by then
 */
export async function reseal(db: Db, vault: Vault): Promise<number> {
  let rewritten = 0;
  for (let pass = 0; pass < PASSES; pass++) {
    let changed = 0;
    for await (const page of sealedRows(db)) {
      const statements = page.flatMap((row) => resealed(row, vault));
      if (statements.length === 0) continue;
      for (const { changes } of await db.batch(statements)) changed += changes;
    }
    rewritten += changed;
    if (changed === 0) break;
  }
  return rewritten;
}

/**
 * Deletes rows with texts that cannot be opened, for a lost key; returns how many. A site without its row must be added
 * again.
 */
export async function forgetUnreadable(db: Db, vault: Vault | undefined): Promise<number> {
  let forgotten = 0;
  for await (const page of sealedRows(db)) {
    const lost = page.filter(({ texts }) => texts.some(({ text, place }) => !opens(vault, text, place)));
    const statements = lost.map(({ in: { table, keys }, row }) =>
      sql(
        `DELETE FROM ${table} WHERE ${keys.map((key) => `${key} = ?`).join(' AND ')}`,
        ...keys.map((key) => row[key] ?? null),
      ),
    );
    if (statements.length === 0) continue;
    for (const { changes } of await db.batch(statements)) forgotten += changes;
  }
  return forgotten;
}

/** Writes the row with its texts sealed by the current key, unless the row was changed in the meantime. */
function resealed({ in: { table, keys }, row, texts }: SealedRow, vault: Vault): Statement[] {
  const old = texts.filter(({ text }) => vault.keyIdOf(text) !== vault.currentId);
  if (old.length === 0) return [];
  const sets = old.map(({ column }) => `${column} = ?`).join(', ');
  const unchanged = [...keys, ...old.map(({ column }) => column)].map((column) => `${column} = ?`).join(' AND ');
  const args: Value[] = [
    ...old.map(({ text, place }) => vault.seal(vault.open(text, place), place)),
    ...keys.map((key) => row[key] ?? null),
    ...old.map(({ text }) => text),
  ];
  return [sql(`UPDATE ${table} SET ${sets} WHERE ${unchanged}`, ...args)];
}

function keyIdOf(text: string): string | null {
  return /^v\d+\.([0-9a-f]{8})\./.exec(text)?.[1] ?? null;
}

function opens(vault: Vault | undefined, sealed: string, place: string): boolean {
  try {
    return vault?.open(sealed, place) !== undefined;
  } catch {
    return false;
  }
}
