/** Checks, before anything is opened, that the files a command needs can be created and written. */

import { randomBytes } from 'node:crypto';
import { accessSync, constants, linkSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { databaseFile } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import { ServiceError } from '../runtime/errors.js';
import { realPath } from '../runtime/real-path.js';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user cannot write there',
  EPERM: 'this user cannot write there',
  EROFS: 'the disk is mounted read-only',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'that is a folder',
};

const { R_OK, W_OK, X_OK } = constants;

/** Throws `svc_storage_unavailable`, naming the path, the reason, the setting and what to do. Leaves nothing behind. */
export function assertWritable(config: Pick<Config, 'db' | 'secret_key_file'>): void {
  const database = databaseFile(config.db);
  if (database !== null) check(database, 'database', 'SITEFLEET_DB', R_OK | W_OK);
  const key = config.secret_key_file;
  // An existing one is only read.
  if (key !== null) check(key, 'secret key', 'SITEFLEET_SECRET_KEY_FILE', R_OK);
}

function check(path: string, what: string, setting: string, needed: number): void {
  const file = realPath(path);
  try {
    if (exists(file)) {
      if (statSync(file).isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
      accessSync(file, needed);
      // A database keeps its log next to it.
      if (needed & W_OK) accessSync(dirname(file), W_OK | X_OK);
      return;
    }
    let folder = dirname(file);
    while (!exists(folder) && folder !== dirname(folder)) folder = dirname(folder);
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(folder, W_OK | X_OK);
  } catch (error) {
    throw new ServiceError('svc_storage_unavailable', `The ${what} cannot be kept in ${file}: ${reasonOf(error)}.`, {
      advice: `Allow this user to write there, or name another file with ${setting}.`,
      cause: error,
    });
  }
}

/**
 * Throws `svc_storage_unavailable` if another file in the same folder cannot take the place of this one, which exists.
 * Changes nothing and leaves nothing behind.
 * @param advice what else helps
 */
export function assertReplaceable(file: string, what: string, advice = ''): void {
  const refused = (reason: string, remedy: string, cause: unknown) =>
    new ServiceError(
      'svc_storage_unavailable',
      `The ${what} ${file} cannot be replaced: ${reason}. Nothing was changed.`,
      { advice: `${remedy}${advice}`, cause },
    );
  try {
    accessSync(dirname(file), W_OK | X_OK);
  } catch (error) {
    throw refused(reasonOf(error), `Allow this user to write in ${dirname(file)}.`, error);
  }
  const trial = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    // A file that is mounted can have no second name in the folder, even if both are on the same disk.
    linkSync(file, trial);
  } catch (error) {
    // Any other refusal says nothing of a replacement: the disk may know no links, or the file be of another user.
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') return;
    throw refused('it is mounted as a single file', 'Mount the folder that it is in instead.', error);
  } finally {
    rmSync(trial, { force: true });
  }
}

export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return REASONS[code] ?? `the system says ${code || String(error)}`;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
