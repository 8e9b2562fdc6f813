/** Start of a program that `script.ts` has bundled. V8's compiled code of each is kept beside the script by its first process. */

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { threadId } from 'node:worker_threads';

/** By then the functions of a usual start have been compiled. What ends sooner keeps nothing. */
const KEEP_AFTER_MS = 1_000;

type Body = (require: NodeJS.Require, program: string, url: string) => Promise<void>;

/** @param url of the program's own file, beside which it looks for others */
export async function launch(program: string, url: string): Promise<void> {
  // As `cli.ts` does: compiled code is of use only under the flags it was compiled with.
  setFlagsFromString('--liftoff-only');
  const filename = fileURLToPath(new URL('programs.script', url));
  const kept = `${filename}.${program}`;
  const cachedData = existsSync(kept) ? readFileSync(kept) : undefined;
  // All of it is ASCII, which is read fastest as what it is.
  const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
  if (cachedData === undefined) setTimeout(keep, KEEP_AFTER_MS, script, kept).unref();
  await (script.runInThisContext() as Body)(createRequire(url), program, url);
}

function keep(script: Script, file: string): void {
  if (existsSync(file)) return;
  // Whole or not at all: another process may be reading.
  const partial = `${file}.${process.pid}-${threadId}`;
  try {
    writeFileSync(partial, script.createCachedData());
    renameSync(partial, file);
  } catch {
    // The test has taken the folder away.
    rmSync(partial, { force: true });
  }
}
