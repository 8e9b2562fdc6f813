/** The driver for database files: the storage port over native libsql. */

import type { BatchResult, Db, Row, RunResult, Statement, Value } from './db.js';
import { StorageError } from './db.js';
import type { FileGuard } from './file-guard.js';
import { Lru } from './lru.js';
import { assertScript, inspectSql, type SqlFacts } from './sql-text.js';
import { closedError, fileError, hasCode } from './sqlite-errors.js';
import { bindValues, rowBuilder } from './values.js';

/** The part of native libsql that is safe to use (see `Prepared`). Its `inTransaction` aborts the process once closed. */
export interface NativeDatabase {
  prepare(sql: string): unknown;
  exec(sql: string): void;
  close(): void;
}

export interface NativeStatement {
  readonly reader: boolean;
  raw(on: boolean): NativeStatement;
  all(args: readonly unknown[]): unknown[][];
  run(args: readonly unknown[]): { changes: number; lastInsertRowid: number };
  columns(): Array<{ name: string }>;
}

/**
 * A prepared statement in the cache. Two rules keep native libsql from wrong rows and stuck locks: `get` is never called (after
 * any other call it runs with earlier arguments), and what returns rows is always read to its end by `all` (`run`
 * leaves a SELECT open and keeps the lock of a RETURNING).
 */
interface Prepared {
  native: NativeStatement;
  facts: SqlFacts;
  returnsRows: boolean;
  width: number;
  build: (values: unknown[]) => Row;
}

interface EmbeddedSettings {
  mode: 'writer' | 'reader';
  cacheStatements: number;
  /** Null in memory. */
  path: string | null;
  /** For a writer on a file: refuses writes once the file is no longer at its path. */
  guard: FileGuard | null;
}

/** Every call runs synchronously on the calling thread, so that calls never interleave; the port's promises are resolved at once. */
export class EmbeddedDb implements Db {
  readonly kind = 'embedded';
  readonly #native: NativeDatabase;
  readonly #statements: Lru<Prepared>;
  readonly #settings: EmbeddedSettings;
  #closed = false;

  constructor(native: NativeDatabase, settings: EmbeddedSettings) {
    this.#native = native;
    this.#settings = settings;
    this.#statements = new Lru(settings.cacheStatements);
  }

  async all<T extends Row = Row>(sql: string, args: readonly Value[] = []): Promise<T[]> {
    return this.#rows(sql, args) as T[];
  }

  async one<T extends Row = Row>(sql: string, args: readonly Value[] = []): Promise<T | undefined> {
    return this.#rows(sql, args)[0] as T | undefined;
  }

  async run(sql: string, args: readonly Value[] = []): Promise<RunResult> {
    if (this.#prepare(sql).facts.counts) this.#requireFile();
    const { changes, lastId } = this.#execute(sql, args);
    return { changes, lastId };
  }

  async batch(statements: readonly Statement[]): Promise<BatchResult[]> {
    if (statements.length === 0) return [];
    this.#requireFile();
    return this.#transaction('BEGIN IMMEDIATE', () => statements.map(({ sql, args }) => this.#execute(sql, args)));
  }

  async read(statements: readonly Statement[]): Promise<Row[][]> {
    if (statements.length === 0) return [];
    const run = () =>
      statements.map(({ sql, args }) => {
        const prepared = this.#prepare(sql);
        if (!prepared.facts.reads)
          throw new TypeError(`read() takes reading statements only, not ${prepared.facts.verb}.`);
        return this.#query(prepared, sql, args);
      });
    return statements.length === 1 ? run() : this.#transaction('BEGIN', run);
  }

  async script(sql: string): Promise<void> {
    assertScript(sql);
    this.#requireFile();
    this.#transaction('BEGIN IMMEDIATE', () => this.#exec(sql));
    // Column lists of cached statements may describe earlier versions of the tables.
    this.#statements.clear();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#statements.clear();
    try {
      // libsql leaves the -wal file behind; emptied, the database is one file that can be copied.
      if (this.#settings.path !== null && this.#settings.mode === 'writer') {
        this.#native.exec('PRAGMA busy_timeout=0; PRAGMA wal_checkpoint(TRUNCATE)');
      }
    } catch {
      // Another connection is reading. The log stays, and the next process that opens the file reads it.
    }
    this.#native.close();
  }

  #rows(sql: string, args: readonly Value[]): Row[] {
    const prepared = this.#prepare(sql);
    if (prepared.facts.counts) this.#requireFile();
    if (prepared.returnsRows) return this.#query(prepared, sql, args);
    this.#execute(sql, args);
    return [];
  }

  #query(prepared: Prepared, sql: string, args: readonly Value[]): Row[] {
    const bound = bindValues(sql, args, prepared.facts.parameters);
    let raw: unknown[][];
    try {
      raw = prepared.native.all(bound);
    } catch (error) {
      throw this.#failed(error, sql, prepared, bound);
    }
    // Another connection changed the tables, and SQLite prepared the statement again.
    if (raw[0] && raw[0].length !== prepared.width) Object.assign(prepared, shapeOf(prepared.native));
    return raw.map(prepared.build);
  }

  #execute(sql: string, args: readonly Value[]): BatchResult {
    const prepared = this.#prepare(sql);
    const { facts } = prepared;
    if (prepared.returnsRows) {
      const rows = this.#query(prepared, sql, args);
      return { rows, changes: facts.counts ? rows.length : 0, lastId: 0 };
    }
    const bound = bindValues(sql, args, facts.parameters);
    try {
      const { changes, lastInsertRowid } = prepared.native.run(bound);
      if (!facts.counts) {
        // CREATE, ALTER, DROP: see script().
        this.#statements.clear();
        return { rows: [], changes: 0, lastId: 0 };
      }
      const inserted = changes > 0 && facts.inserts;
      return { rows: [], changes, lastId: inserted ? lastInsertRowid : 0 };
    } catch (error) {
      throw this.#failed(error, sql, prepared, bound);
    }
  }

  #prepare(sql: string): Prepared {
    if (this.#closed) throw closedError();
    const cached = this.#statements.get(sql);
    if (cached !== undefined) return cached;
    const facts = inspectSql(sql);
    try {
      const native = this.#native.prepare(sql) as NativeStatement;
      const returnsRows = native.reader;
      const prepared = { native, facts, returnsRows, ...shapeOf(returnsRows ? native.raw(true) : native) };
      this.#statements.set(sql, prepared);
      return prepared;
    } catch (error) {
      throw this.#mapped(error, sql);
    }
  }

  /**
   * A writing statement that met SQLITE_BUSY stays "in progress", and no COMMIT of this connection succeeds any more.
   * libsql has no reset, but running the statement again begins with one; `query_only` keeps that run from writing.
   */
  #failed(error: unknown, sql: string, prepared: Prepared, bound: readonly unknown[]): unknown {
    const failure = this.#mapped(error, sql);
    if (!(failure instanceof StorageError) || failure.kind !== 'busy' || prepared.facts.reads) return failure;
    this.#native.exec('PRAGMA query_only=ON');
    try {
      if (prepared.returnsRows) prepared.native.all(bound);
      else prepared.native.run(bound);
    } catch {
      // "attempt to write a readonly database": as intended.
    }
    if (this.#settings.mode === 'writer') this.#native.exec('PRAGMA query_only=OFF');
    return failure;
  }

  #transaction<T>(begin: string, work: () => T): T {
    this.#exec(begin);
    try {
      const result = work();
      this.#exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.#native.exec('ROLLBACK');
      } catch {
        // After some errors (a full disk) SQLite has rolled back already, and there is nothing left to undo.
      }
      throw error;
    }
  }

  #exec(sql: string): void {
    if (this.#closed) throw closedError();
    try {
      this.#native.exec(sql);
    } catch (error) {
      throw this.#mapped(error, sql);
    }
  }

  #requireFile(): void {
    const problem = this.#settings.guard?.problem() ?? null;
    if (problem !== null) throw problem;
  }

  #mapped(error: unknown, sql: string): unknown {
    return hasCode(error) ? fileError(this.#settings.path, error, sql) : error;
  }
}

function shapeOf(native: NativeStatement): Pick<Prepared, 'width' | 'build'> {
  const columns = native.columns().map((column) => column.name);
  return { width: columns.length, build: rowBuilder(columns) };
}
