/**
 * The fast start of `sitefleet stdio`: an assistant starts a new process for each session and waits for it, and loading some
 * five hundred modules would be most of that time. The build bundles what stdio needs into one file, without the modules that
 * only HTTP or the engine thread load. Imports nothing but Node.
 */

import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** From Node 22.1 on. */
type CompileCache = { enableCompileCache?: (folder: string) => unknown };

/**
 * Lets Node keep compiled code for the next start, where it can; in a folder of the user's own, because it is code that others
 * must not be able to write.
 */
export function keepCompiledCode(): void {
  (nodeModule as CompileCache).enableCompileCache?.(join(homedir(), '.cache', 'sitefleet'));
}

/** Runs the bundle; false if there is none (`npm run dev`), or if it declines. */
export function launchBundle(): boolean {
  const file = fileURLToPath(new URL('../app/stdio.bundle.cjs', import.meta.url));
  if (!existsSync(file)) return false;
  const bundle = nodeModule.createRequire(import.meta.url)(file) as { started: boolean };
  return bundle.started;
}
