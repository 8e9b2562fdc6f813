/**
 * A Db that combines concurrent reads of another one. On a server each call is a round trip: reads that begin within
 * the same turn of the event loop share one.
 */

import type { Db, Reads, Row, Statement, Value } from './db.js';
import { StorageError } from './db.js';

/** Maximum number of statements sent together: servers bound the size of an answer. */
const MOST = 24;

interface Asked {
  statements: readonly Statement[];
  resolve(rows: Row[][]): void;
  reject(error: unknown): void;
}

/** Writes are passed on at once. */
export function gatherReads(db: Db): Db {
  let waiting: Asked[] = [];

  const send = async (group: readonly Asked[]): Promise<void> => {
    try {
      const statements = group.flatMap((asked) => asked.statements);
      const [first] = statements;
      // A single one needs no transaction.
      const rows =
        first !== undefined && statements.length === 1
          ? [await db.all(first.sql, first.args)]
          : await db.read(statements);
      let at = 0;
      for (const { statements, resolve } of group) {
        resolve(rows.slice(at, at + statements.length));
        at += statements.length;
      }
    } catch (error) {
      // If the server is away, every caller should know. Any other error concerns one statement, or the combined
      // answers.
      const alone = group.length === 1 || (error instanceof StorageError && error.kind === 'unavailable');
      for (const asked of group) {
        if (alone) asked.reject(error);
        else db.read(asked.statements).then(asked.resolve, asked.reject);
      }
    }
  };

  const flush = (): void => {
    const asked = waiting;
    waiting = [];
    let group: Asked[] = [];
    let size = 0;
    for (const each of asked) {
      if (group.length > 0 && size + each.statements.length > MOST) {
        void send(group);
        group = [];
        size = 0;
      }
      group.push(each);
      size += each.statements.length;
    }
    void send(group);
  };

  const read = (statements: readonly Statement[]): Promise<Row[][]> => {
    if (statements.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      // After everything that the current event still starts.
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ statements, resolve, reject });
    });
  };
  const reads = readsBy(read);

  return {
    kind: db.kind,
    all: async <T extends Row = Row>(sql: string, args?: readonly Value[]) =>
      READS.test(sql) ? reads.all<T>(sql, args) : db.all<T>(sql, args),
    one: async <T extends Row = Row>(sql: string, args?: readonly Value[]) =>
      READS.test(sql) ? reads.one<T>(sql, args) : db.one<T>(sql, args),
    run: (sql, args) => db.run(sql, args),
    batch: (statements) => db.batch(statements),
    read,
    script: (sql) => db.script(sql),
    close: () => db.close(),
  };
}

/** Single reads by means of one that takes several. */
export function readsBy(read: Reads['read']): Reads {
  const all = async <T extends Row>(sql: string, args: readonly Value[] = []) =>
    ((await read([{ sql, args }]))[0] ?? []) as T[];
  return {
    read,
    all,
    one: async <T extends Row>(sql: string, args?: readonly Value[]) => (await all<T>(sql, args))[0],
  };
}

/** Statements that can only read: `all` and `one` also take those that write and return rows. */
const READS = /^\s*select\b/i;
