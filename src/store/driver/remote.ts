import { createClient as createHttp } from '@libsql/client/http';
import type { Client, ResultSet } from '@libsql/client/ws';
import { createClient as createWs } from '@libsql/client/ws';
import type { BatchResult, Db, Row, RunResult, Statement, Value } from './db.js';
import { StorageError } from './db.js';
import { Lru } from './lru.js';
import { remoteError, wasDropped } from './remote-errors.js';
import { assertScript, inspectSql, type SqlFacts } from './sql-text.js';
import { closedError } from './sqlite-errors.js';
import { ignoreStrayRejections } from './stray-rejections.js';
import { type Bound, bindValues, rowBuilder } from './values.js';

interface RemoteOptions {
  /** A reader refuses to write, as an embedded one does. Default writer. */
  mode?: 'writer' | 'reader';
  /** How long one call may take, 30 s by default. */
  timeoutMs?: number;
}

/** A connection, and how many calls use it. */
interface Link {
  client: Client;
  calls: number;
  retired: boolean;
}

/**
 * Pause between attempts of a write for which the server was too busy: random, because other processes retry as well.
 */
const BUSY_PAUSE_MS = 100;

/**
 * Opens a libSQL server (sqld, Turso). Nothing is sent before the first call.
 *
 * Writes leave one after the other, although waiting for the server is idle time: sqld 0.24.32 stops accepting writes
 * for good when several connections wait for its write lock while another one makes a checkpoint. A waiting connection
 * that is refused then keeps its place in the queue, and after it was closed the lock is handed to it.
 *
 * A read whose connection drops is sent once more. A write is not: the server may have done it before the connection
 * broke, and doing it twice would be worse than a StorageError `unavailable`, after which the caller can read and decide.
 * What a server refused because another writer was at work was not done: it is sent again while the time limit allows.
 * @param url `libsql://`, `https://`, `http://`, `wss://` or `ws://`
 * @throws TypeError for another or an invalid URL
 */
export function openRemote(url: string, token?: string, options: RemoteOptions = {}): Db {
  ignoreStrayRejections();
  return new RemoteDb(url, token, options);
}

class RemoteDb implements Db {
  readonly kind = 'remote';
  readonly #connect: () => Client;
  readonly #readOnly: boolean;
  readonly #timeoutMs: number;
  readonly #facts = new Lru<SqlFacts>(500);
  readonly #writes: Turns;
  #link: Link;
  #closed = false;

  constructor(url: string, token: string | undefined, options: RemoteOptions) {
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#writes = new Turns(this.#timeoutMs);
    this.#readOnly = options.mode === 'reader';
    this.#connect = connector(url, token, this.#timeoutMs);
    this.#link = { client: this.#connect(), calls: 0, retired: false };
  }

  async all<T extends Row = Row>(sql: string, args: readonly Value[] = []): Promise<T[]> {
    return (await this.#single(sql, args)).rows as T[];
  }

  async one<T extends Row = Row>(sql: string, args: readonly Value[] = []): Promise<T | undefined> {
    return (await this.#single(sql, args)).rows[0] as T | undefined;
  }

  async run(sql: string, args: readonly Value[] = []): Promise<RunResult> {
    const { changes, lastId } = await this.#single(sql, args);
    return { changes, lastId };
  }

  async batch(statements: readonly Statement[]): Promise<BatchResult[]> {
    if (statements.length === 0) return [];
    const facts = statements.map(({ sql }) => this.#inspect(sql));
    const wire = statements.map(({ sql, args }, i) => toWire(sql, args, facts[i]));
    const results = await this.#write((client) => client.batch(wire, 'write'));
    return results.map((result, i) => fromWire(result, facts[i]));
  }

  async read(statements: readonly Statement[]): Promise<Row[][]> {
    if (statements.length === 0) return [];
    const facts = statements.map(({ sql }) => this.#inspect(sql));
    // Servers take the 'read' of a batch as a hint and would write.
    const writing = facts.find((each) => !each.reads);
    if (writing) throw new TypeError(`read() takes reading statements only, not ${writing.verb}.`);
    const wire = statements.map(({ sql, args }, i) => toWire(sql, args, facts[i]));
    const results = await this.#call((client) => client.batch(wire, 'read'), true);
    return results.map((result) => fromWire(result).rows);
  }

  async script(sql: string): Promise<void> {
    assertScript(sql);
    this.#refuseWrites();
    // One request; when a statement fails, the server ends the stream and with it the open transaction.
    await this.#write((client) => client.executeMultiple(`BEGIN IMMEDIATE;\n${sql}\n;COMMIT`));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#link.client.close();
  }

  async #single(sql: string, args: readonly Value[]): Promise<BatchResult> {
    const facts = this.#inspect(sql);
    const wire = toWire(sql, args, facts);
    const work = (client: Client) => client.execute(wire);
    return fromWire(facts.reads ? await this.#call(work, true, sql) : await this.#write(work, sql), facts);
  }

  #inspect(sql: string): SqlFacts {
    let facts = this.#facts.get(sql);
    if (facts === undefined) {
      facts = inspectSql(sql);
      this.#facts.set(sql, facts);
    }
    if (!facts.reads) this.#refuseWrites();
    return facts;
  }

  #refuseWrites(): void {
    if (this.#readOnly) throw new StorageError('readonly', 'This connection only reads.');
  }

  /** In turn, and repeated while other writers are active. */
  #write<T>(work: (client: Client) => Promise<T>, sql?: string): Promise<T> {
    return this.#writes.run(async (end) => {
      for (;;) {
        try {
          return await this.#call(work, false, sql);
        } catch (error) {
          const pause = BUSY_PAUSE_MS * (0.5 + Math.random());
          const busy = error instanceof StorageError && error.kind === 'busy';
          if (!busy || this.#closed || performance.now() + pause >= end) throw error;
          await new Promise((resolve) => setTimeout(resolve, pause));
        }
      }
    });
  }

  async #call<T>(work: (client: Client) => Promise<T>, repeatable: boolean, sql?: string): Promise<T> {
    try {
      return await this.#attempt(work);
    } catch (error) {
      if (!repeatable || this.#closed || !wasDropped(error)) throw remoteError(error, sql);
    }
    return this.#attempt(work).catch((error: unknown) => {
      throw remoteError(error, sql);
    });
  }

  async #attempt<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (this.#closed) throw closedError();
    const link = this.#link;
    link.calls++;
    try {
      return await within(this.#timeoutMs, work(link.client), () => this.#retire(link));
    } finally {
      link.calls--;
      if (link.retired && link.calls === 0) link.client.close();
    }
  }

  /** A connection that stays silent may be dead: later calls get a new one, calls under way keep theirs. */
  #retire(link: Link): void {
    link.retired = true;
    if (this.#link === link && !this.#closed) this.#link = { client: this.#connect(), calls: 0, retired: false };
  }
}

/** The result of work on a server, or a StorageError `unavailable` when it takes longer than `ms`. */
async function within<T>(ms: number, work: Promise<T>, onLate?: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      onLate?.();
      reject(new StorageError('unavailable', `The storage server did not answer within ${ms} ms.`));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs one task at a time, in order of arrival. */
class Turns {
  readonly #limitMs: number;
  readonly #waiting = new Set<() => void>();
  #busy = false;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** @param work receives the instant of `performance.now()` at which its time ends, including the wait for its turn */
  async run<T>(work: (end: number) => Promise<T>): Promise<T> {
    const end = performance.now() + this.#limitMs;
    if (this.#busy) await this.#turn();
    this.#busy = true;
    try {
      return await work(end);
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#busy = false;
      else next();
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        this.#waiting.delete(begin);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(begin);
        reject(new StorageError('busy', `Other writes were in progress for ${this.#limitMs} ms.`));
      }, this.#limitMs);
      this.#waiting.add(begin);
    });
  }
}

function connector(url: string, token: string | undefined, timeoutMs: number): () => Client {
  const scheme = /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase() ?? '';
  if (!['libsql', 'https', 'http', 'wss', 'ws'].includes(scheme)) {
    throw new TypeError('A storage server is named by libsql://, https://, http://, wss:// or ws://.');
  }
  const config = { url, intMode: 'number' as const, ...(token ? { authToken: token } : {}) };
  const connect = () => {
    if (scheme === 'ws' || scheme === 'wss') return createWs(config);
    // Without its own limit an abandoned request would hold its socket.
    const limited = (request: Request) => fetch(request, { signal: AbortSignal.timeout(timeoutMs) });
    return createHttp({ ...config, fetch: limited });
  };
  return () => {
    try {
      return connect();
    } catch (error) {
      // The URL may carry a token, so it is not repeated.
      throw new TypeError('The URL of the storage server is not valid.', { cause: error });
    }
  };
}

function toWire(sql: string, args: readonly Value[], facts: SqlFacts | undefined): { sql: string; args: Bound[] } {
  const bound = bindValues(sql, args, facts?.parameters ?? 0);
  for (let i = 0; i < bound.length; i++) {
    const value = bound[i];
    // Half a surrogate pair has no UTF-8; the server would refuse the request. Embedded storage writes U+FFFD for it.
    if (typeof value === 'string') bound[i] = value.toWellFormed();
  }
  return { sql, args: bound };
}

function fromWire(result: ResultSet, facts?: SqlFacts): BatchResult {
  const build = rowBuilder(result.columns);
  const rows = result.rows.map((row) => {
    const values = new Array<unknown>(result.columns.length);
    for (let i = 0; i < values.length; i++) {
      const value = row[i];
      values[i] = value instanceof ArrayBuffer ? Buffer.from(value) : value;
    }
    return build(values);
  });
  const changes = facts?.counts ? result.rowsAffected : 0;
  const inserted = facts?.inserts && changes > 0 && result.columns.length === 0;
  return { rows, changes, lastId: inserted ? Number(result.lastInsertRowid ?? 0) : 0 };
}
