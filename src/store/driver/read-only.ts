import type { BatchResult, Db, Row, RunResult, Statement, Value } from './db.js';
import { StorageError } from './db.js';

/**
 * A Db that only reads. `read` chooses for each call which database does the work, and may try another when it fails.
 * Closing it closes none of them.
 */
export function readOnly(read: <T>(work: (db: Db) => Promise<T>) => Promise<T>): Db {
  const refused = () => Promise.reject(new StorageError('readonly', 'This connection only reads.'));
  return {
    kind: 'remote',
    all: <T extends Row = Row>(sql: string, args?: readonly Value[]): Promise<T[]> =>
      read((db) => db.all<T>(sql, args)),
    one: <T extends Row = Row>(sql: string, args?: readonly Value[]): Promise<T | undefined> =>
      read((db) => db.one<T>(sql, args)),
    read: (statements: readonly Statement[]): Promise<Row[][]> => read((db) => db.read(statements)),
    run: (): Promise<RunResult> => refused(),
    batch: (): Promise<BatchResult[]> => refused(),
    script: (): Promise<void> => refused(),
    close: () => Promise.resolve(),
  };
}
