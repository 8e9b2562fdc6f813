/**
 * Finds Lighthouse on this machine. It is not a dependency, being five times as large as all of them together: users
 * who want audits without Google's service install it.
 */

import { access, realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { findInPackage } from '../../runtime/global-packages.js';

const PROGRAM = join('cli', 'index.js');

/**
 * Path of Lighthouse's program: of the configured command or folder; otherwise of a package next to this one, or
 * installed globally. Null if there is none.
 */
export async function findLighthouse(configured: string | null): Promise<string | null> {
  if (configured !== null) return programAt(configured);
  try {
    return createRequire(import.meta.url).resolve('lighthouse/cli/index.js');
  } catch {
    // Not next to this package.
  }
  return findInPackage('lighthouse', PROGRAM, null);
}

async function programAt(path: string): Promise<string | null> {
  try {
    // The command is a link to the program.
    const real = await realpath(path);
    const program = (await stat(real)).isDirectory() ? join(real, PROGRAM) : real;
    if (!program.endsWith(PROGRAM)) return null;
    await access(program);
    return program;
  } catch {
    return null;
  }
}
