/** libfaketime, under which a process sees another date. */

import { existsSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The library that changes the clock of a process with threads; undefined = not installed. */
export const FAKETIME = libfaketime();

/** Where Debian, Fedora and Homebrew install it. */
function libfaketime(): string | undefined {
  const folders = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/opt/homebrew/lib'].filter((path) => existsSync(path));
  const below = folders.flatMap((path) => [
    path,
    ...readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? join(path, entry.name) : [],
    ),
  ]);
  const names = ['libfaketimeMT.so.1', 'libfaketimeMT.1.dylib'];
  return below
    .flatMap((path) => names.flatMap((name) => [join(path, name), join(path, 'faketime', name)]))
    .find((path) => existsSync(path));
}

/**
 * Removes what libfaketime keeps of killed processes, by their numbers: a new process of another user that is given such a
 * number cannot start.
 */
export function dropLeftovers(): void {
  const folder = '/dev/shm';
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const pid = /^(?:sem\.)?faketime_(?:sem|shm)_(\d+)$/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      unlinkSync(join(folder, name));
    } catch {
      // Another user's, or another worker was faster.
    }
  }
}
