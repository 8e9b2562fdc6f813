/** Opens database files and databases in memory with native libsql. */

import type Database from 'libsql';
import type { Db } from './db.js';
import { StorageError } from './db.js';
import { EmbeddedDb, type NativeDatabase, type NativeStatement } from './embedded-db.js';
import { loadDriver } from './embedded-native.js';
import { type FileIdentity, guardFile } from './file-guard.js';
import { databasePath, ensureFile, MEMORY } from './files.js';
import { fileError, hasCode } from './sqlite-errors.js';

export { backup } from './files.js';

interface EmbeddedOptions {
  /** A file has one writer and any number of readers. Memory is seen by the one connection that opened it. */
  mode: 'writer' | 'reader';
  /** How many prepared statements are kept, 500 by default. */
  cacheStatements?: number;
  /** The file that must be at the path: a second thread must not open, or create, another one. */
  identity?: FileIdentity | null | undefined;
}

const WAL_TIMEOUT_MS = 5000;

/**
 * Opens a database in this process.
 * @param url `file:relative/path`, `file:/absolute/path`, `file:///absolute/path` or `:memory:`
 * @throws StorageError `unavailable` when the file cannot be opened, `corrupt` when it is no database
 */
export function openEmbedded(url: string, options: EmbeddedOptions): Db {
  const { mode, cacheStatements = 500 } = options;
  if (!(cacheStatements >= 1)) throw new RangeError('cacheStatements is a count of at least one.');
  const path = databasePath(url);
  if (path === MEMORY && mode === 'reader') {
    throw new TypeError('A database in memory has one connection: open it as writer.');
  }
  const { identity } = options;
  const Driver = loadDriver();
  if (path !== MEMORY) {
    const problem = identity ? guardFile(path, identity).problem() : null;
    if (problem !== null) throw problem;
    ensureFile(path, mode === 'writer');
  }
  let native: Database.Database | undefined;
  try {
    native = new Driver(path);
    configure(native, path, mode);
    return new EmbeddedDb(native as unknown as NativeDatabase, {
      mode,
      cacheStatements,
      path: path === MEMORY ? null : path,
      guard: path === MEMORY || mode === 'reader' ? null : guardFile(path, identity ?? undefined),
    });
  } catch (error) {
    native?.close();
    if (error instanceof StorageError) throw error;
    if (!hasCode(error)) throw new StorageError('unavailable', `The database file ${path} cannot be opened.`, error);
    throw fileError(path === MEMORY ? null : path, error);
  }
}

function configure(native: Database.Database, path: string, mode: EmbeddedOptions['mode']): void {
  // A reader serves requests on the main thread, which must not stand still for a lock.
  native.exec(`PRAGMA busy_timeout=${mode === 'writer' ? 5000 : 200}`);
  if (path !== MEMORY && mode === 'writer') enterWal(native, path);
  native.exec(
    `PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-65536;
     PRAGMA mmap_size=268435456; PRAGMA journal_size_limit=67108864;
     PRAGMA query_only=${mode === 'reader' ? 'ON' : 'OFF'}; SELECT 1 FROM sqlite_schema LIMIT 1`,
  );
}

/** Switches to WAL. SQLite does not wait for another process that switches the same new file, so this does. */
function enterWal(native: Database.Database, path: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const end = performance.now() + WAL_TIMEOUT_MS;
  for (;;) {
    try {
      const [row] = (native.prepare('PRAGMA journal_mode=WAL') as unknown as NativeStatement).raw(true).all([]);
      if (row?.[0] === 'wal') return;
      throw new StorageError('unavailable', `${path} cannot use a write-ahead log; keep it on a local disk.`);
    } catch (error) {
      if (!hasCode(error) || !error.code.startsWith('SQLITE_BUSY') || performance.now() > end) throw error;
      Atomics.wait(pause, 0, 0, 20);
    }
  }
}
