/**
 * Checks whether the database file at its path is still the one that was opened. SQLite keeps writing to a file that
 * was removed or replaced, and all of that is lost at the next start.
 */

import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { StorageError } from './db.js';

/** Which file a path names. Plain data: it is passed to the engine thread. */
export interface FileIdentity {
  dev: bigint;
  ino: bigint;
}

export interface FileGuard {
  readonly identity: FileIdentity | null;
  /** A StorageError `unavailable` while another file, or none, is at the path; null otherwise. */
  problem(): StorageError | null;
}

/** The log is checked this often at most; the file itself at each call, which takes about 3 µs. */
const LOG_MS = 1000;

/**
 * Guards an open database file.
 * @param identity the file as it was when the process first opened it; by default the one that is there now
 */
export function guardFile(path: string, identity: FileIdentity | null = identityOf(path)): FileGuard {
  const log = `${path}-wal`;
  // It may be created later, by the first write.
  let knownLog = identityOf(log);
  let logCheckedAt = Number.NEGATIVE_INFINITY;
  let logMoved = false;

  const logProblem = (): boolean => {
    const now = performance.now();
    if (now - logCheckedAt < LOG_MS && !logMoved) return false;
    logCheckedAt = now;
    const found = identityOf(log);
    knownLog ??= found;
    logMoved = knownLog !== null && !same(knownLog, found);
    return logMoved;
  };

  return {
    identity,
    problem() {
      try {
        const found = identityOf(path);
        if (identity !== null && !same(identity, found)) return lost(path, found === null ? 'removed' : 'replaced');
        return logProblem() ? lost(log, 'log') : null;
      } catch {
        // A failing file system says nothing about the file; SQLite will meet the same failure.
        return null;
      }
    },
  };
}

/** The file that a path names; null if there is none. */
function identityOf(path: string): FileIdentity | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : { dev: found.dev, ino: found.ino };
}

/** Some file systems do not number files; then it suffices that there is one. */
function same(known: FileIdentity, found: FileIdentity | null): boolean {
  if (found === null) return false;
  if (known.ino === 0n || found.ino === 0n) return true;
  return known.ino === found.ino && known.dev === found.dev;
}

/** What happened to the file or its log, and what to do. */
const LOSSES = {
  removed: [
    'was removed or moved away',
    'Restore the file and the service continues; a restart begins with a new one.',
  ],
  replaced: [
    'was replaced by another file',
    'Restart the service to use the new file, or restore the old one and the service continues.',
  ],
  log: [
    'was removed or replaced',
    'Restore the file and the service continues. If that is not possible, restart the service.',
  ],
} as const;

function lost(path: string, loss: keyof typeof LOSSES): StorageError {
  const [what, advice] = LOSSES[loss];
  const text = (name: string) =>
    `The database file ${name} ${what} while the service is running, so nothing can be saved.`;
  return new StorageError('unavailable', text(path), undefined, { message: text(basename(path)), advice });
}
