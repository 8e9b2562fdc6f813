/** A Db that reports the duration and outcome of each call of another one. */

import type { Db, Row, Value } from './db.js';
import { StorageError } from './db.js';

/** One call. `failure` is null when it succeeded; expected kinds such as `unique` are reported as failures too. */
export interface DbCall {
  method: 'all' | 'one' | 'run' | 'batch' | 'read' | 'script';
  ms: number;
  failure: StorageError['kind'] | null;
}

export function instrumentDb(db: Db, report: (call: DbCall) => void): Db {
  const timed = async <T>(method: DbCall['method'], work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    try {
      const result = await work();
      report({ method, ms: performance.now() - began, failure: null });
      return result;
    } catch (error) {
      const failure = error instanceof StorageError ? error.kind : 'other';
      report({ method, ms: performance.now() - began, failure });
      throw error;
    }
  };
  return {
    kind: db.kind,
    all: <T extends Row>(sql: string, args?: readonly Value[]) => timed('all', () => db.all<T>(sql, args)),
    one: <T extends Row>(sql: string, args?: readonly Value[]) => timed('one', () => db.one<T>(sql, args)),
    run: (sql, args) => timed('run', () => db.run(sql, args)),
    batch: (statements) => timed('batch', () => db.batch(statements)),
    read: (statements) => timed('read', () => db.read(statements)),
    script: (sql) => timed('script', () => db.script(sql)),
    close: () => db.close(),
  };
}
