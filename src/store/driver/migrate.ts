/** Brings the schema of a database up to date. */

import type { Db } from './db.js';
import { StorageError } from './db.js';

/** One step of the schema. `sql` is a script of any number of statements; ids ascend and are never used again. */
export interface Migration {
  id: number;
  name: string;
  sql: string;
}

const TABLE = `CREATE TABLE IF NOT EXISTS migration (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at INTEGER NOT NULL
)`;

/**
 * Brings the schema up to date, one transaction per migration. Any number of processes may do so at once: each step
 * begins by writing its own row in its transaction, so exactly one process takes it and the others find it done.
 * @returns the highest migration id before and after, 0 for an empty database
 * @throws StorageError `other` when the database has migrations this program does not know: newer ones, or ones from
 * before its first
 */
export async function migrate(db: Db, migrations: readonly Migration[]): Promise<{ from: number; to: number }> {
  assertAscending(migrations);
  if (!(await hasTable(db))) await db.run(TABLE);
  const done = await appliedIds(db);
  const from = Math.max(0, ...done);
  const known = new Set(migrations.map((migration) => migration.id));
  const unknown = [...done].filter((id) => !known.has(id));
  if (unknown.length > 0) throw unusable(Math.max(...unknown), migrations);
  for (const migration of migrations) {
    if (!done.has(migration.id)) await apply(db, migration);
  }
  return { from, to: Math.max(from, ...known) };
}

async function apply(db: Db, { id, name, sql }: Migration): Promise<void> {
  // `script` takes no arguments, so the two literals are written here: a checked integer and a quoted text.
  const claim = `INSERT INTO migration (id, name, applied_at) VALUES (${id}, '${name.replaceAll("'", "''")}', unixepoch());`;
  try {
    await db.script(`${claim}\n${sql}`);
  } catch (error) {
    // A unique index that the migration itself violates fails with the same kind; the row of the step tells the two apart.
    const doneElsewhere = error instanceof StorageError && error.kind === 'unique' && (await appliedIds(db)).has(id);
    if (!doneElsewhere) throw error;
  }
}

/**
 * Checked first because even a CREATE … IF NOT EXISTS waits for the write lock, and does nothing where there is a view of the
 * name, which may have no end.
 */
async function hasTable(db: Db): Promise<boolean> {
  const named = "SELECT type FROM sqlite_schema WHERE name = 'migration' COLLATE NOCASE AND type <> 'trigger'";
  const type = (await db.one(named))?.type;
  if (type === undefined || type === 'table') return type === 'table';
  throw new StorageError(
    'other',
    `The database is not of Sitefleet: in it, migration is not a table but of the type ${type}.`,
  );
}

async function appliedIds(db: Db): Promise<Set<number>> {
  const rows = await db.all<{ id: number }>('SELECT id FROM migration');
  return new Set(rows.map((row) => row.id));
}

function assertAscending(migrations: readonly Migration[]): void {
  let last = 0;
  for (const { id, name } of migrations) {
    if (!Number.isSafeInteger(id) || id <= last) {
      throw new TypeError(`Migration "${name}" has the id ${id}; ids are whole numbers that ascend from 1.`);
    }
    last = id;
  }
}

function unusable(found: number, migrations: readonly Migration[]): StorageError {
  const [first, last] = [migrations[0]?.id ?? 1, migrations.at(-1)?.id ?? 0];
  return new StorageError(
    'other',
    found < first
      ? `The database has migration ${found}, this program knows them from ${first} on. It was written by a version from ` +
          'before the first release and cannot be upgraded: export its sites with that version (sitefleet export), then ' +
          'import them into a new database.'
      : `The database has migration ${found}, this program knows them up to ${last}. ` +
          'It was written by a newer version: upgrade the program, or open another database.',
  );
}
