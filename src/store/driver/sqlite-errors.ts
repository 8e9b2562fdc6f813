/** Converts codes and messages of SQLite to StorageErrors. */

import { basename } from 'node:path';
import { StorageError } from './db.js';
import { excerpt } from './sql-text.js';

type Kind = StorageError['kind'];

/** What the triggers of `schema/sealed.ts` say. */
export const KEY_REPLACED = 'secret_key_replaced';

/** Beginnings of SQLite and server codes, in the order they are tried. */
const KINDS: ReadonlyArray<readonly [prefix: string, kind: Kind]> = [
  ['SQLITE_CONSTRAINT_UNIQUE', 'unique'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 'unique'],
  ['SQLITE_CONSTRAINT_ROWID', 'unique'],
  ['SQLITE_CONSTRAINT_FOREIGNKEY', 'foreign_key'],
  ['SQLITE_CONSTRAINT_', 'check'],
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['TRANSACTION_TIMEOUT', 'busy'],
  ['TRANSACTION_BUSY', 'busy'],
  ['SQLITE_FULL', 'full'],
  ['SQLITE_READONLY', 'readonly'],
  ['SQLITE_AUTH', 'readonly'],
  ['BLOCKED', 'readonly'],
  ['SQLITE_CANTOPEN', 'unavailable'],
  ['SQLITE_IOERR', 'disk'],
  ['SQLITE_CORRUPT', 'corrupt'],
  ['SQLITE_NOTADB', 'corrupt'],
];

/**
 * The typed error for a code and message of SQLite. A server reports only `SQLITE_CONSTRAINT`; there the message says which
 * kind of constraint failed. These messages hold names of tables and columns, never values.
 */
export function storageError(code: string, message: string, cause: unknown, sql?: string): StorageError {
  if (message.includes(KEY_REPLACED)) return keyReplaced(cause);
  const kind = kindOf(code, message);
  const where = kind === 'other' && sql !== undefined ? ` (in: ${excerpt(sql)})` : '';
  return new StorageError(kind, `${message}${where}`, cause);
}

function kindOf(code: string, message: string): Kind {
  if (code === 'SQLITE_CONSTRAINT') {
    if (/UNIQUE constraint failed|PRIMARY KEY must be unique/.test(message)) return 'unique';
    return message.includes('FOREIGN KEY constraint failed') ? 'foreign_key' : 'check';
  }
  return KINDS.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'other';
}

/** The typed error for a failure of a database; a damaged file is named, with what to do. @param path null in memory */
export function fileError(path: string | null, cause: CodedError, sql?: string): StorageError {
  const { code, message } = cause;
  const error = storageError(code, message, cause, sql);
  if (error.kind !== 'corrupt' || path === null) return error;
  return new StorageError('corrupt', `The database file ${path} is damaged: ${message}.`, cause, {
    message: `The database file ${basename(path)} is damaged: a part of it cannot be read.`,
    advice:
      'Run "sitefleet check" to see how far; then stop the service and restore a backup with "sitefleet restore".',
  });
}

/** This process has another secret key than the one that secrets are stored with by now. */
export function keyReplaced(cause?: unknown): StorageError {
  return new StorageError('unavailable', KEY_REPLACED, cause, {
    message: 'The secret key was replaced while this process was running, so it can store no secrets.',
    advice: 'Restart it.',
  });
}

export function closedError(): StorageError {
  return new StorageError('unavailable', 'The database connection is closed.');
}

type CodedError = Error & { code: string };

/** Whether a caught value carries an error code, as those of SQLite, Node and the network do. */
export function hasCode(error: unknown): error is CodedError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code !== '';
}
