/** A database port that counts calls and statements, for tests that fail when a list costs one query per row. */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { BatchResult, Db, Row, RunResult, Statement, Value } from '../../src/store/driver/db.js';

export interface Counts {
  /** Calls of the port: each costs a round trip on a server. */
  calls: number;
  /** Statements in them: these cost time in the database. */
  statements: number;
}

export type CountingDb = Db & {
  readonly counts: Counts;
  /** The SQL of every statement since the last reset, in order. */
  readonly log: readonly string[];
  reset(): void;
  /** Calls of the port that `work` makes, without those of timers running meanwhile. */
  callsOf(work: () => Promise<unknown>): Promise<number>;
};

export function countingDb(db: Db): CountingDb {
  const counts: Counts = { calls: 0, statements: 0 };
  const log: string[] = [];
  const own = new AsyncLocalStorage<{ calls: number }>();
  const count = (...texts: string[]) => {
    counts.calls++;
    const work = own.getStore();
    if (work !== undefined) work.calls++;
    counts.statements += texts.length;
    log.push(...texts);
  };
  const texts = (statements: readonly Statement[]) => statements.map((statement) => statement.sql);
  return {
    kind: db.kind,
    counts,
    log,
    reset() {
      counts.calls = 0;
      counts.statements = 0;
      log.length = 0;
    },
    async callsOf(work) {
      const counted = { calls: 0 };
      await own.run(counted, work);
      return counted.calls;
    },
    all<T extends Row = Row>(sql: string, args?: readonly Value[]): Promise<T[]> {
      count(sql);
      return db.all<T>(sql, args);
    },
    one<T extends Row = Row>(sql: string, args?: readonly Value[]): Promise<T | undefined> {
      count(sql);
      return db.one<T>(sql, args);
    },
    run(sql: string, args?: readonly Value[]): Promise<RunResult> {
      count(sql);
      return db.run(sql, args);
    },
    batch(statements: readonly Statement[]): Promise<BatchResult[]> {
      count(...texts(statements));
      return db.batch(statements);
    },
    read(statements: readonly Statement[]): Promise<Row[][]> {
      count(...texts(statements));
      return db.read(statements);
    },
    script(sql: string): Promise<void> {
      count(sql);
      return db.script(sql);
    },
    close: () => db.close(),
  };
}
