/** Compares the schema of a database with what the migrations create: a foreign trigger would affect every write. */

import type { Db } from './db.js';
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

/** Compares with what the migrations up to `step` create. */
export async function schemaDifference(
  db: Db,
  migrations: readonly Migration[],
  step: number,
): Promise<SchemaDifference> {
  const found = await objectsOf(db);
  const memory = await openDb(':memory:');
  try {
    await migrate(
      memory,
      migrations.filter(({ id }) => id <= step),
    );
    const expected = await objectsOf(memory);
    return {
      foreign: [...found.keys()].filter((name) => !expected.has(name) && !TOOLS.test(name)),
      missing: [...expected.keys()].filter((name) => !found.has(name)),
      changed: [...found].filter(([name, text]) => (expected.get(name) ?? text) !== text).map(([name]) => name),
    };
  } finally {
    await memory.close();
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
