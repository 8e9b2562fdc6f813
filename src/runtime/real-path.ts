/** Finds the file that a path leads to. */

import { existsSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The path of the file itself, without links: what replaces a file, or lies next to it, belongs there. The file need
 * not exist yet.
 */
export function realPath(path: string): string {
  const file = resolve(path);
  try {
    return realpathSync(file);
  } catch (error) {
    // What opens the file says why it cannot be reached.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return file;
    // A pipe in /dev/fd has no other path; a drive may be missing.
    if (existsSync(file) || dirname(file) === file) return file;
  }
  const folder = realPath(dirname(file));
  const named = join(folder, basename(file));
  const target = linkTarget(named);
  return target === null ? named : realPath(resolve(folder, target));
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
