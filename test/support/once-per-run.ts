/** Resources shared by all workers of a run, made once: by the first worker that asks, while the others wait for it. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder for resources made once per run, such as bundled programs. */
    programs: string;
  }
}

const LONGEST_MS = 300_000;
const made = new Map<string, Promise<string>>();

/**
 * A folder of that name with the output of `make`. It is removed after the run; when a watched run restarts, it is made
 * again.
 * @throws the error of `make`, for every worker that asks
 */
export function oncePerRun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const known = made.get(name) ?? makeOrWait(join(inject('programs'), name), make);
  made.set(name, known);
  return known;
}

async function makeOrWait(folder: string, make: (folder: string) => Promise<void>): Promise<string> {
  // Written last, by the worker that makes it: empty, or the reason of the failure.
  const end = `${folder}.made`;
  try {
    mkdirSync(`${folder}.begun`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    for (const until = Date.now() + LONGEST_MS; !existsSync(end); await new Promise((go) => setTimeout(go, 20)))
      if (Date.now() > until) throw new Error(`${folder} was not made within ${LONGEST_MS / 1000} s.`);
    const why = readFileSync(end, 'utf8');
    if (why !== '') throw new Error(why);
    return folder;
  }
  mkdirSync(folder);
  const why = await make(folder).then(
    () => '',
    (error: unknown) => String(error),
  );
  writeFileSync(end, why);
  if (why !== '') throw new Error(why);
  return folder;
}
