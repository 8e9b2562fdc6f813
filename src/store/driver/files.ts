/** Database files: their paths, their creation, and backups. */

import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Db } from './db.js';
import { StorageError } from './db.js';
import { hasCode } from './sqlite-errors.js';

export const MEMORY = ':memory:';

/**
 * The absolute path behind a `file:` URL, or `:memory:`.
 * @throws TypeError saying what is wrong with the URL
 */
export function databasePath(url: string): string {
  if (url === MEMORY || url === 'file::memory:') return MEMORY;
  if (!url.startsWith('file:')) throw new TypeError('An embedded database is named by file:PATH or :memory:.');
  if (/[?#]/.test(url)) throw new TypeError('A file: database takes no options after its path (no ? and no #).');
  let path: string;
  try {
    path = url.startsWith('file://') ? fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length));
  } catch (error) {
    throw new TypeError('The file: URL of the database is not valid; percent signs are written %25.', { cause: error });
  }
  if (path === '') throw new TypeError('The file: URL of the database has no path.');
  return resolve(path);
}

/**
 * Creates the file (0600) and its folder (0700) before SQLite does, which would let others read them. The -wal file
 * takes over the mode.
 * @throws StorageError `unavailable`
 */
export function ensureFile(path: string, create: boolean): void {
  if (existsSync(path)) return;
  if (!create) throw new StorageError('unavailable', `The database file ${path} does not exist yet.`);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw new StorageError('unavailable', `The database file ${path} cannot be created.`, error);
  }
}

/**
 * Copies the database, as of now, into a new file of mode 0600. Needs a connection opened as writer, though it only
 * reads; other connections may go on writing meanwhile.
 * @throws StorageError `other` when the file exists or the database is remote, `full` when the disk is
 */
export async function backup(db: Db, path: string): Promise<void> {
  if (db.kind !== 'embedded') {
    throw new StorageError('other', 'Only a database in a file can be copied here; use the backup of its server.');
  }
  const target = resolve(path);
  requireFree(target);
  const partial = `${target}.partial`;
  reserve(partial);
  try {
    // VACUUM INTO accepts an empty file, so the mode was set before the first byte of data.
    await db.run('VACUUM INTO ?', [partial]);
    publish(partial, target);
  } finally {
    rmSync(partial, { force: true });
  }
}

/**
 * Gives a complete file its final name: it appears there whole or not at all, and never over another file.
 * @throws StorageError `other` when the name was taken meanwhile
 */
export function publish(partial: string, target: string): void {
  const handle = openSync(partial, 'r');
  fsyncSync(handle);
  closeSync(handle);
  try {
    linkSync(partial, target);
    rmSync(partial);
  } catch (error) {
    if (hasCode(error) && error.code === 'EEXIST') throw taken(target, error);
    // File systems without links, such as those of USB sticks.
    requireFree(target);
    renameSync(partial, target);
  }
}

function requireFree(file: string): void {
  if (existsSync(file)) throw taken(file);
}

function taken(file: string, cause?: unknown): StorageError {
  return new StorageError('other', `The file ${file} exists already; choose another name.`, cause);
}

/** Creates the file that is written to. One that is there was left by a process that was ended, or is being written. */
function reserve(partial: string): void {
  try {
    closeSync(openSync(partial, 'wx', 0o600));
  } catch (error) {
    const left = hasCode(error) && error.code === 'EEXIST';
    const why = left
      ? 'was left unfinished, or is being written now; remove it if no other backup is running'
      : 'cannot be created';
    throw new StorageError('other', `The file ${partial} ${why}.`, error);
  }
}
