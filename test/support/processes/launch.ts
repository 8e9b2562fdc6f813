/**
 * Starts a program that `script.ts` has bundled. The first process of each command stores V8's compiled code beside the
 * script: when it ends, because all that the command uses has been compiled by then.
 */

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { isMainThread, threadId } from 'node:worker_threads';

/** For processes and threads that are killed: by then they have started, also on a busy machine. */
const KEEP_AFTER_MS = 5_000;

type Body = (require: NodeJS.Require, url: string) => Promise<void>;

/** @param url of the program's own file, beside which it looks for others */
export async function launch(program: string, url: string): Promise<void> {
  const filename = fileURLToPath(new URL(`${program}.script.js`, url));
  // The code of another command is better than none.
  const [own, any] = [`${filename}.${command()}`, `${filename}.code`];
  const known = [own, any].find(existsSync);
  const cachedData = known === undefined ? undefined : readFileSync(known);
  // It is all ASCII, which is fastest to read as latin1.
  const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
  if (known !== own) {
    const keepIt = () => {
      for (const file of [own, any]) keep(script, file);
    };
    setTimeout(keepIt, KEEP_AFTER_MS).unref();
    // One that failed has used little of it.
    process.once('exit', (code) => {
      if (code === 0) keepIt();
    });
  }
  await (script.runInThisContext() as Body)(createRequire(url), url);
}

/** The first argument, if it is the name of a command that is run. Threads have the arguments of their process. */
function command(): string {
  const [, , first = '', ...others] = process.argv;
  const runs = isMainThread && /^[a-z][a-z-]{0,20}$/.test(first) && !others.includes('--help');
  return runs ? first : 'code';
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
