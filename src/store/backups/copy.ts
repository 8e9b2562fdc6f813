/** Copies a database file for a backup, and verifies that the copy is complete. */

import { renameSync, rmSync, statSync } from 'node:fs';
import { fileUrl } from '../../runtime/file-url.js';
import { StorageError } from '../driver/db.js';
import { backup } from '../driver/files.js';
import { openDb } from '../driver/open.js';

/** Suffix of a file that has not been verified yet. */
const UNVERIFIED = '.unverified';

/**
 * Copies the database, opens the copy and reads all of it, and only then gives it its name. Other connections may write
 * meanwhile.
 * @param url `file:` URL of the database
 * @returns the size of the copy in bytes
 * @throws StorageError if it cannot be made, or is not complete; nothing is left behind
 */
export async function copyAndVerify(url: string, path: string): Promise<number> {
  const unverified = `${path}${UNVERIFIED}`;
  const source = await openDb(url, { mode: 'writer' });
  try {
    await backup(source, unverified);
  } finally {
    await source.close();
  }
  try {
    await verify(unverified);
    renameSync(unverified, path);
    return statSync(path).size;
  } catch (error) {
    for (const file of [unverified, `${unverified}-wal`, `${unverified}-shm`]) rmSync(file, { force: true });
    throw error;
  }
}

async function verify(path: string): Promise<void> {
  const copy = await openDb(fileUrl(path), { mode: 'reader' });
  try {
    const lines = (await copy.all('PRAGMA integrity_check')).map((row) => String(Object.values(row)[0]));
    if (lines.some((line) => line !== 'ok'))
      throw new StorageError('corrupt', `The copy of the database is damaged: ${lines.slice(0, 3).join('; ')}.`);
    const dangling = (await copy.all('PRAGMA foreign_key_check')).length;
    if (dangling > 0)
      throw new StorageError('corrupt', `In the copy of the database ${dangling} rows point to nothing.`);
    await copy.one('SELECT max(id) AS step FROM migration');
  } finally {
    await copy.close();
  }
}
