/**
 * The storage port. It has two drivers, which nothing else in the program knows: `embedded.ts` (native libsql on a file
 * or in memory) and `remote.ts` (a libSQL server).
 */

/** Values that may be bound. `undefined`, NaN and NUL characters are refused by the driver wrapper. */
export type Value = string | number | bigint | boolean | null | Uint8Array;
export type Row = Record<string, string | number | null | Uint8Array>;

export interface Statement {
  sql: string;
  args: readonly Value[];
}

export interface RunResult {
  /** Rows inserted, updated or deleted by the statement itself; 0 for any other statement. */
  changes: number;
  /**
   * Row id of an INSERT that inserted, else 0. Wrong after an upsert that updated (SQLite keeps the id before) and 0
   * when the statement returns rows: use RETURNING in both cases.
   */
  lastId: number;
}

/** Result of one statement of a batch: rows for a SELECT or RETURNING, else the change count. */
export interface BatchResult {
  rows: Row[];
  changes: number;
  lastId: number;
}

export interface Db {
  readonly kind: 'embedded' | 'remote';
  all<T extends Row = Row>(sql: string, args?: readonly Value[]): Promise<T[]>;
  one<T extends Row = Row>(sql: string, args?: readonly Value[]): Promise<T | undefined>;
  run(sql: string, args?: readonly Value[]): Promise<RunResult>;
  /** All statements in one write transaction, or none. One round trip. */
  batch(statements: readonly Statement[]): Promise<BatchResult[]>;
  /** Several reads in one snapshot and one round trip. */
  read(statements: readonly Statement[]): Promise<Row[][]>;
  /** A script of several statements without arguments, inside one exclusive transaction. Migrations only. */
  script(sql: string): Promise<void>;
  close(): Promise<void>;
}

/** The part of a database that reads. */
export type Reads = Pick<Db, 'all' | 'one' | 'read'>;

/**
 * A message for callers, instead of the general text for the kind of failure. It contains no paths: anyone may read it.
 */
interface PublicMessage {
  message: string;
  advice: string;
}

/** Rejections of a Db, typed by what the caller can do about it. */
export class StorageError extends Error {
  readonly kind:
    | 'unique'
    | 'foreign_key'
    | 'check'
    | 'busy'
    | 'full'
    | 'readonly'
    | 'disk'
    | 'unavailable'
    | 'corrupt'
    | 'other';
  readonly publicMessage: PublicMessage | undefined;
  constructor(kind: StorageError['kind'], message: string, cause?: unknown, publicMessage?: PublicMessage) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StorageError';
    this.kind = kind;
    this.publicMessage = publicMessage;
  }

  /** Advice, if more is known than the kind. */
  get advice(): string | undefined {
    return this.publicMessage?.advice;
  }
}

export function sql(text: string, ...args: Value[]): Statement {
  return { sql: text, args };
}
