/** Statements that write one row, by the names of its columns. */

import { type Statement, sql, type Value } from './db.js';

/** `INSERT INTO table (…) VALUES (…)`. */
export function insertRow(table: string, row: Readonly<Record<string, Value>>): Statement {
  const names = Object.keys(row);
  return sql(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ...Object.values(row),
  );
}

/** `UPDATE table SET … WHERE key = ?` for the columns that have a value; none if no column has one. */
export function updateRow(
  table: string,
  key: string,
  id: number,
  columns: Readonly<Record<string, Value | undefined>>,
): Statement[] {
  const given = Object.entries(columns).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  if (given.length === 0) return [];
  const sets = given.map(([name]) => `${name} = ?`).join(', ');
  return [sql(`UPDATE ${table} SET ${sets} WHERE ${key} = ?`, ...given.map(([, value]) => value), id)];
}
