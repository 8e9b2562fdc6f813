/** Checks, before anything is opened, that the files a command needs can be created and written. */

import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { databaseFile } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import { ServiceError } from '../runtime/errors.js';

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
  const file = resolve(path);
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
    const code = (error as NodeJS.ErrnoException).code ?? '';
    throw new ServiceError(
      'svc_storage_unavailable',
      `The ${what} cannot be kept in ${file}: ${REASONS[code] ?? `the system says ${code || String(error)}`}.`,
      { advice: `Allow this user to write there, or name another file with ${setting}.`, cause: error },
    );
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
