/** Reads of lists: some rows, and how many there are in total. Both in one read, or they could show different states. */

import type { Reads, Row, Statement, Value } from './db.js';
import { offset } from './sql-fragments.js';

export interface Listed<T> {
  items: T[];
  total: number;
}

/** Rows, and the `n` that another statement counts, in one snapshot. */
export async function rowsAndTotal<T extends Row>(db: Reads, rows: Statement, count: Statement): Promise<Listed<T>> {
  const [items = [], [counted] = []] = await db.read([rows, count]);
  return { items: items as T[], total: Number(counted?.n ?? 0) };
}

/** The same for one page of the rows: their statement is given without LIMIT and OFFSET. */
export function readPage<T extends Row>(
  db: Reads,
  { sql, args }: Statement,
  count: Statement,
  page: number,
  perPage: number,
): Promise<Listed<T>> {
  const rows = { sql: `${sql} LIMIT ? OFFSET ?`, args: [...args, perPage, offset(page, perPage)] };
  return rowsAndTotal<T>(db, rows, count);
}

/** The `n` that a statement counts. */
export async function countOf(db: Reads, sql: string, args: readonly Value[] = []): Promise<number> {
  const row = await db.one(sql, args);
  return Number(row?.n ?? 0);
}
