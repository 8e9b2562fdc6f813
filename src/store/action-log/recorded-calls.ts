/**
 * Calls that change something are recorded in the transaction of their first change, and steps that the service takes in
 * their own: if the record cannot be stored, the change is not made.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db, Row, Statement, Value } from '../driver/db.js';
import { inspectSql } from '../driver/sql-text.js';
import type { ActionChain, ChainEntry } from './chain.js';

interface CallState {
  /** The database that the call changes. */
  db: Db;
  entry: ChainEntry;
  stored: boolean;
  left: boolean;
  storing: Promise<unknown> | null;
  /** False once the call has ended: what it started in the background is not its own any more. */
  running: boolean;
}

/** Work whose next change is a step that is told. */
interface StepState {
  db: Db;
  entry: ChainEntry;
  taken: boolean;
}

interface State {
  call?: CallState | undefined;
  step?: StepState | undefined;
}

/** The record of a call as far as it goes. */
export interface CallRecord {
  /** Whether the call has changed anything yet, or tried to. */
  stored(): boolean;
  /** Whether it has changed something that is not in this database, or tried to. */
  left(): boolean;
}

export interface RecordedCalls {
  /** The database that the changes of calls go through. */
  readonly db: Db;
  /** Runs the work of a call. @param entry the row that its first change is stored with */
  run<T>(entry: ChainEntry, work: (record: CallRecord) => Promise<T>): Promise<T>;
  /** Stores the row of the current call, if that has not happened: before it changes something elsewhere. */
  begin(): Promise<void>;
  /** Runs work that makes one conditional write. @param entry the row that is stored with it, if it changes anything */
  step<T>(entry: ChainEntry, work: () => Promise<T>): Promise<T>;
}

/** One for all databases of the process: each more that was used makes every promise of the process slower. */
const states = new AsyncLocalStorage<State>();

export function createRecordedCalls(db: Db, chain: ActionChain): RecordedCalls {
  const current = (): State => {
    const { call, step } = states.getStore() ?? {};
    return { call: call?.db === db ? call : undefined, step: step?.db === db ? step : undefined };
  };
  /** What the next change is stored with. */
  const open = () => {
    const { call, step } = current();
    return {
      unstored: call?.running === true && !call.stored ? call : undefined,
      untold: step?.taken === false ? step : undefined,
    };
  };

  const write = async (statements: readonly Statement[]) => {
    const { call } = current();
    // Several changes of a call may start at once: the others wait for what becomes of the first.
    while (call?.storing != null) await call.storing;
    const { unstored, untold } = open();
    if (unstored === undefined && untold === undefined) return db.batch(statements);
    const storing = chain.append(entryOf(unstored), statements, entryOf(untold));
    const noted = storing.then(() => {
      if (unstored !== undefined) unstored.stored = true;
      if (untold !== undefined) untold.taken = true;
    });
    if (unstored !== undefined)
      unstored.storing = noted
        .catch(() => undefined)
        .finally(() => {
          unstored.storing = null;
        });
    await noted;
    return storing;
  };
  const isOpen = () => {
    const { unstored, untold } = open();
    return unstored !== undefined || untold !== undefined;
  };
  /** The first statement of a call may be one that is run alone. */
  const first = async (sql: string, args: readonly Value[]) => (await write([{ sql, args }]))[0];

  return {
    db: {
      kind: db.kind,
      all: async <T extends Row = Row>(sql: string, args: readonly Value[] = []) =>
        isOpen() && inspectSql(sql).counts ? ((await first(sql, args))?.rows as T[]) : db.all<T>(sql, args),
      one: async <T extends Row = Row>(sql: string, args: readonly Value[] = []) =>
        isOpen() && inspectSql(sql).counts ? ((await first(sql, args))?.rows[0] as T) : db.one<T>(sql, args),
      run: async (sql, args = []) => {
        if (!isOpen() || !inspectSql(sql).counts) return db.run(sql, args);
        const result = await first(sql, args);
        return { changes: result?.changes ?? 0, lastId: result?.lastId ?? 0 };
      },
      batch: (statements) => (isOpen() && statements.length > 0 ? write(statements) : db.batch(statements)),
      read: (statements) => db.read(statements),
      script: (sql) => db.script(sql),
      close: () => db.close(),
    },
    async run(entry, work) {
      const call: CallState = { db, entry, stored: false, left: false, storing: null, running: true };
      try {
        return await states.run({ call }, () => work({ stored: () => call.stored, left: () => call.left }));
      } finally {
        call.running = false;
      }
    },
    async begin() {
      const { call } = current();
      if (call === undefined || !call.running) return;
      call.left = true;
      if (!call.stored) await write([]);
    },
    step: (entry, work) => states.run({ ...states.getStore(), step: { db, entry, taken: false } }, work),
  };
}

const entryOf = (state: { entry: ChainEntry } | undefined) => (state === undefined ? [] : [state.entry]);
