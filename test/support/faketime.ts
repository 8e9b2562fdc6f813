/** libfaketime, under which a process sees another date. */

import { existsSync, readdirSync } from 'node:fs';
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
