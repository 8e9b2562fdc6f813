/**
 * Compares the schema of a database with what the migrations create: a foreign trigger would affect every write, and a view
 * in place of a table may have no end.
 */

import type { Db } from './db.js';
import { StorageError } from './db.js';
import { type Migration, migrate } from './migrate.js';
import { openDb } from './open.js';

/** Names such as `trigger site_count`. */
export interface SchemaDifference {
  /** Not created by any migration. */
  foreign: string[];
  missing: string[];
  /** Present, but with another definition. */
  changed: string[];
}

/** Tables of replication tools. Without a trigger they have no effect. */
const TOOLS = /^(?:table|index) (?:_litestream_|libsql_|sqlite_)/;
/** Names and types of columns only: nothing that is evaluated when the table is read or checked. */
const PLAIN = /^CREATE (?:TABLE|(?:UNIQUE )?INDEX) [^()]*\([\w\s,"`]*\)[\w\s,]*$/i;

/**
 * The step of a database, 0 if it is not known, and how its schema differs from what the migrations up to that step create.
 * Of a file that may be anyone's nothing is evaluated: only definitions are read, and one table that is as ours.
 */
export async function examineSchema(
  db: Db,
  migrations: readonly Migration[],
): Promise<{ step: number; difference: SchemaDifference }> {
  const found = await objectsOf(db);
  const memory = await openDb(':memory:');
  try {
    await migrate(memory, []);
    const [[steps = '', definition] = []] = await objectsOf(memory);
    const step = found.get(steps) === definition ? await stepOf(db) : 0;
    // A file whose list of steps is damaged is compared with the newest schema.
    await migrate(
      memory,
      migrations.filter(({ id }) => id <= (step ?? Infinity)),
    );
    const expected = await objectsOf(memory);
    const foreign = ([name, text]: [string, string]) => !expected.has(name) && !(TOOLS.test(name) && PLAIN.test(text));
    const difference = {
      foreign: [...found].filter(foreign).map(([name]) => name),
      missing: [...expected.keys()].filter((name) => !found.has(name)),
      changed: [...found].filter(([name, text]) => (expected.get(name) ?? text) !== text).map(([name]) => name),
    };
    return { step: step ?? 0, difference };
  } finally {
    await memory.close();
  }
}

/** Null if the page is damaged. */
async function stepOf(db: Db): Promise<number | null> {
  try {
    return Number((await db.one('SELECT max(id) AS step FROM migration'))?.step ?? 0);
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'corrupt') return null;
    throw error;
  }
}

/** One sentence of names, null if there is no difference. */
export function differenceText({ foreign, missing, changed }: SchemaDifference): string | null {
  const parts = [
    ['not of Sitefleet', foreign],
    ['missing', missing],
    ['changed', changed],
  ] as const;
  const differences = parts.filter(([, names]) => names.length > 0);
  if (differences.length === 0) return null;
  return differences
    .map(([what, names]) => `${what}: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`)
    .join('; ');
}

/** Definitions by type and name. Objects that SQLite creates for a constraint have none. */
async function objectsOf(db: Db): Promise<Map<string, string>> {
  const rows = await db.all('SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name');
  return new Map(rows.map(({ type, name, sql }) => [`${type} ${name}`, normalised(String(sql))]));
}

/** Without comments, and with white space reduced to one space; texts and quoted names stay as they are. */
function normalised(sql: string): string {
  return sql
    .replace(
      /('(?:[^']|'')*'|"(?:[^"]|"")*")|(?:--[^\n]*|\/\*[\s\S]*?\*\/|\s)+/g,
      (_match, quoted?: string) => quoted ?? ' ',
    )
    .trim();
}
