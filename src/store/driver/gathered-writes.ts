/**
 * A Db that combines concurrent batches of another one. A commit writes every page that changed, and batches of many
 * sites change the same ones: twenty syncs in one transaction take a sixth of the time of twenty commits.
 */

import type { BatchResult, Db, Row, Statement, Value } from './db.js';
import { StorageError } from './db.js';

/** Maximum batches per transaction: while it lasts, other processes wait for their turn. */
const MOST = 20;

interface Asked {
  statements: readonly Statement[];
  resolve(results: BatchResult[]): void;
  reject(error: unknown): void;
}

/**
 * Batches are not delayed to wait for others: those that become ready within the same turn of the event loop are
 * combined. A batch resolves after the commit. If one fails, none of its group was stored, and each is stored
 * separately. Other calls are passed on at once.
 */
export function gatherWrites(db: Db): Db {
  let waiting: Asked[] = [];

  const store = async (group: readonly Asked[]): Promise<void> => {
    try {
      const results = await db.batch(group.flatMap((asked) => asked.statements));
      let at = 0;
      for (const { statements, resolve } of group) {
        resolve(results.slice(at, at + statements.length));
        at += statements.length;
      }
    } catch (error) {
      // The lock was already waited for as long as allowed. Any other error may concern a single batch.
      const alone = group.length === 1 || (error instanceof StorageError && WAITED.has(error.kind));
      for (const asked of group) {
        if (alone) asked.reject(error);
        else await db.batch(asked.statements).then(asked.resolve, asked.reject);
      }
    }
  };

  let stored: Promise<unknown> = Promise.resolve();
  const flush = (): void => {
    const asked = waiting;
    waiting = [];
    for (let at = 0; at < asked.length; at += MOST) stored = Promise.all([stored, store(asked.slice(at, at + MOST))]);
  };

  return {
    kind: db.kind,
    all: <T extends Row = Row>(sql: string, args?: readonly Value[]) => db.all<T>(sql, args),
    one: <T extends Row = Row>(sql: string, args?: readonly Value[]) => db.one<T>(sql, args),
    run: (sql, args) => db.run(sql, args),
    batch(statements) {
      if (statements.length === 0) return Promise.resolve([]);
      return new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ statements, resolve, reject });
      });
    },
    read: (statements) => db.read(statements),
    script: (sql) => db.script(sql),
    async close() {
      flush();
      await stored;
      await db.close();
    },
  };
}

const WAITED: ReadonlySet<StorageError['kind']> = new Set(['busy', 'unavailable']);
