/** Loads the native driver for database files. A package manager may have left its native part out. */

import { createRequire } from 'node:module';
import type Database from 'libsql';
import { StorageError } from './db.js';
import { hasCode } from './sqlite-errors.js';

/**
 * The class of native databases. By `require`, because Node 20 ends the process when an `import` meets a CommonJS module
 * that throws, even if the failure is caught.
 * @throws StorageError `unavailable` with what is missing and what to do
 */
export function loadDriver(): typeof Database {
  try {
    return createRequire(import.meta.url)('libsql') as typeof Database;
  } catch (error) {
    throw withoutDriver(error);
  }
}

function withoutDriver(error: unknown): unknown {
  if (!hasCode(error) || !['MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED'].includes(error.code)) return error;
  const missing = /Cannot find module '([^']+)'/.exec(error.message)?.[1];
  const what =
    missing === undefined
      ? `The database driver's native part cannot be loaded on this system (${process.platform} ${process.arch})`
      : `The database driver's native part is not installed: the package ${missing} is missing`;
  return new StorageError('unavailable', `${what}. Without it no database file can be opened.`, error, {
    message: `${what}.`,
    advice:
      'Install again on this machine with the optional packages: "npm ci" or "npm install", without --omit=optional. ' +
      'A libSQL server (SITEFLEET_DB=https://…) needs no native part.',
  });
}
