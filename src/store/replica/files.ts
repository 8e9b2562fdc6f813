/** The files of a replica. One process owns them; files that are not its own are left alone. */

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type Database from 'libsql';
import { StorageError } from '../driver/db.js';
import { loadDriver } from '../driver/embedded-native.js';
import { ensureFile } from '../driver/files.js';

export interface ReplicaFiles {
  /** Absolute path of the database file: the requested name with a suffix unique to this replica. */
  readonly path: string;
  /** Changes whenever something was written to the replica. */
  fingerprint(): string;
  /** Removes files of earlier replicas. */
  tidy(): void;
  /** Removes the replica; the next one has another `path`. */
  renew(): void;
  /** Removes it and frees the name for other processes. */
  release(): void;
}

/** Suffixes of the files that libSQL keeps next to a replica. */
const ENDINGS = ['', '-wal', '-shm', '-client_wal_index', '-info'];
/** Until a replica uses a write-ahead log it has a journal, for a moment in which it may be closed or killed. */
const OURS = new RegExp(`^-[0-9a-f]{8}(${[...ENDINGS, '-journal'].join('|')})$`);

/**
 * Takes a name for the replicas of this process, for as long as it lives: the operating system lifts the lock of one that
 * was killed. What an earlier process left is removed. That is on purpose: a copy that survived a power cut, a server that
 * was put back to an older state or another server can be told from a sound one only by comparing all of it, and copying all
 * of it costs no more. So a replica never outlives its process.
 *
 * Each replica has an ending of its own, because the syncing process of a killed one may live a moment longer, and what it
 * still writes must not meet ours.
 * @throws StorageError `other` when another process has the name, or when there is a file of that name
 */
export function claimReplica(name: string): ReplicaFiles {
  const stem = resolve(name);
  if (existsSync(stem)) {
    throw refused(`${stem} exists, and is no replica. Name a file that does not exist: its endings are added.`);
  }
  const lock = lockOf(stem);
  const sweep = (keep?: string) => {
    const folder = dirname(stem);
    const start = basename(stem);
    for (const file of readdirSync(folder)) {
      if (!file.startsWith(start) || !OURS.test(file.slice(start.length))) continue;
      if (keep === undefined || !file.startsWith(basename(keep))) rmSync(join(folder, file), { force: true });
    }
  };
  const fresh = () => `${stem}-${randomBytes(4).toString('hex')}`;
  sweep();
  let path = fresh();
  return {
    get path() {
      return path;
    },
    fingerprint: () => ENDINGS.map((ending) => fingerprintOf(`${path}${ending}`)).join(' '),
    tidy: () => sweep(path),
    renew() {
      sweep();
      path = fresh();
    },
    release() {
      sweep();
      // The lock file stays: another process may just have opened it.
      lock.close();
    },
  };
}

/** An open transaction is the lock: SQLite can lock a file on every system, Node cannot. */
function lockOf(stem: string): Database.Database {
  const file = `${stem}-lock`;
  ensureFile(file, true);
  const Driver = loadDriver();
  const lock = new Driver(file);
  try {
    lock.exec('PRAGMA busy_timeout=0; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    throw refused(`${stem} is in use by another process. Each process needs a replica of its own.`, error);
  }
}

function refused(message: string, cause?: unknown): StorageError {
  return new StorageError('other', `SITEFLEET_DB_REPLICA: ${message}`, cause);
}

function fingerprintOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '-' : `${found.size}:${found.mtimeMs}`;
}
