/**
 * Batches that are stored only while a condition holds. A batch cannot branch, so its first statement inserts a row that the
 * table `batch_guard` refuses when the condition does not hold; that failure rolls the whole batch back.
 */

import type { Db, Statement, Value } from './db.js';
import { StorageError, sql } from './db.js';

/** Name of the constraint in migration 8, as both drivers report it in their errors. */
const CONSTRAINT = 'batch_guard_holds';

/** The condition of a batch: an SQL expression that is true or false, never NULL. */
export function guard(condition: string, ...args: Value[]): Statement {
  return sql(`INSERT INTO batch_guard (holds) SELECT 0 WHERE NOT (${condition})`, ...args);
}

/**
 * Runs a batch behind a guard.
 * @returns false when the condition did not hold; then nothing was stored
 * @throws StorageError for every other failure
 */
export async function guardedBatch(db: Db, condition: Statement, statements: readonly Statement[]): Promise<boolean> {
  try {
    await db.batch([condition, ...statements]);
    return true;
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'check' && error.message.includes(CONSTRAINT)) return false;
    throw error;
  }
}
