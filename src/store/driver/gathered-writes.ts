/**
 * A Db that combines concurrent writes of another one. A commit writes every page that changed, and the writes for many
 * sites change the same ones: twenty syncs in one transaction take a sixth of the time of twenty commits. On a server
 * each transaction is also a round trip.
 */

import type { BatchResult, Db, Row, Statement, Value } from './db.js';
import { StorageError } from './db.js';

/** Maximum writes per transaction: while it lasts, other processes wait for their turn. */
const MOST = 20;

/** How long a write may wait for its turn. A server that is silent uses up its own time limit for each transaction. */
const LONGEST_WAIT_MS = 30_000;

interface Asked {
  statements: readonly Statement[];
  /** `performance.now()` */
  since: number;
  resolve(results: BatchResult[]): void;
  reject(error: unknown): void;
}

/**
 * One transaction at a time: what is asked for meanwhile shares the next one, in its order. A write resolves after the
 * commit. If one fails, none of its group was stored, and each is stored separately. Reads, and statements that SQLite
 * refuses inside a transaction or that return rows, are passed on at once.
 */
export function gatherWrites(db: Db): Db {
  const waiting: Asked[] = [];
  let storing: Promise<void> | null = null;

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

  const refuseLate = (): void => {
    const limit = performance.now() - LONGEST_WAIT_MS;
    while (waiting[0] !== undefined && waiting[0].since < limit) {
      waiting.shift()?.reject(new StorageError('busy', `Other writes were in progress for ${LONGEST_WAIT_MS} ms.`));
    }
  };

  const storeWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      // After everything that the current event still starts.
      await new Promise((resolve) => setImmediate(resolve));
      await store(waiting.splice(0, MOST));
      refuseLate();
    }
    storing = null;
  };

  const write = (statements: readonly Statement[]): Promise<BatchResult[]> => {
    if (statements.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      waiting.push({ statements, since: performance.now(), resolve, reject });
      storing ??= storeWaiting();
    });
  };

  return {
    kind: db.kind,
    all: <T extends Row = Row>(sql: string, args?: readonly Value[]) => db.all<T>(sql, args),
    one: <T extends Row = Row>(sql: string, args?: readonly Value[]) => db.one<T>(sql, args),
    run: async (sql, args = []) => {
      if (!CHANGES_ROWS.test(sql)) return db.run(sql, args);
      const [result] = await write([{ sql, args }]);
      return { changes: result?.changes ?? 0, lastId: result?.lastId ?? 0 };
    },
    batch: write,
    read: (statements) => db.read(statements),
    script: (sql) => db.script(sql),
    async close() {
      await storing;
      await db.close();
    },
  };
}

const CHANGES_ROWS = /^\s*(?:insert|update|delete)\b/i;

const WAITED: ReadonlySet<StorageError['kind']> = new Set(['busy', 'unavailable']);
