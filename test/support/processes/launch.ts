/**
 * Starts a program that `script.ts` has bundled. The first process of each stores V8's compiled code beside the script.
 */

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { threadId } from 'node:worker_threads';

/** By then the functions of a usual start have been compiled. A process that ends sooner stores nothing. */
const KEEP_AFTER_MS = 1_000;

type Body = (require: NodeJS.Require, program: string, url: string) => Promise<void>;

/** @param url of the program's own file, beside which it looks for others */
export async function launch(program: string, url: string): Promise<void> {
  const filename = fileURLToPath(new URL('programs.script', url));
  const kept = `${filename}.${program}`;
  const cachedData = existsSync(kept) ? readFileSync(kept) : undefined;
  // It is all ASCII, which is fastest to read as latin1.
  const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
  if (cachedData === undefined) setTimeout(keep, KEEP_AFTER_MS, script, kept).unref();
  await (script.runInThisContext() as Body)(createRequire(url), program, url);
}

function keep(script: Script, file: string): void {
  if (existsSync(file)) return;
  // Written atomically: another process may be reading.
  const partial = `${file}.${process.pid}-${threadId}`;
  try {
    writeFileSync(partial, script.createCachedData());
    renameSync(partial, file);
  } catch {
    // The test has removed the folder.
    rmSync(partial, { force: true });
  }
}
