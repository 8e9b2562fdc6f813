/** Statements that write one row, by the names of its columns. */

import { type Statement, sql, type Value } from './db.js';
import type { Fragment } from './sql-fragments.js';

/** `INSERT INTO table (…) VALUES (…)`. */
export function insertRow(table: string, row: Readonly<Record<string, Value>>): Statement {
  const names = Object.keys(row);
  return sql(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ...Object.values(row),
  );
}

/** The named members: a caller's object may have others. */
export function only<Name extends string>(
  names: readonly Name[],
  from: Readonly<Record<Name, Value>>,
): Record<string, Value> {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}

/** Columns to set; undefined ones stay as they are. */
type Columns = Readonly<Record<string, Value | undefined>>;

/** `a = ?, b = ?` for the columns that have a value; empty if none has one. */
export function assignments(columns: Columns): Fragment {
  const given = Object.entries(columns).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return { text: given.map(([name]) => `${name} = ?`).join(', '), args: given.map(([, value]) => value) };
}

/** `UPDATE table SET … WHERE key = ?`; no statement if no column has a value. */
export function updateRow(table: string, key: string, id: number, columns: Columns): Statement[] {
  const { text, args } = assignments(columns);
  return text === '' ? [] : [sql(`UPDATE ${table} SET ${text} WHERE ${key} = ?`, ...args, id)];
}
