/** A Db that refuses to write. */

import type { Db, Row, Value } from './db.js';
import { StorageError } from './db.js';

/**
 * A Db that only reads. `read` chooses the database for each call and may try another one when it fails. `close` closes none
 * of them.
 */
export function readOnly(read: <T>(work: (db: Db) => Promise<T>) => Promise<T>): Db {
  const refused = () => Promise.reject(new StorageError('readonly', 'This connection only reads.'));
  return {
    kind: 'remote',
    all: <T extends Row>(sql: string, args?: readonly Value[]) => read((db) => db.all<T>(sql, args)),
    one: <T extends Row>(sql: string, args?: readonly Value[]) => read((db) => db.one<T>(sql, args)),
    read: (statements) => read((db) => db.read(statements)),
    run: refused,
    batch: refused,
    script: refused,
    close: () => Promise.resolve(),
  };
}
