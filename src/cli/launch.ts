/**
 * The flags of V8 for all commands, and the fast start of `sitefleet stdio`: one bundled file with V8's compiled code
 * next to it, which starts in half the time of some five hundred modules. Imports nothing but Node. `build.mjs` creates
 * the bundle; without one the modules are run.
 */

import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

/**
 * To be called before anything else is compiled, because compiled code is cached for one set of flags. Why they are
 * set: docs/decisions/0040.
 * @param syncs whether the command syncs fleets: bursts of work that end before optimized code would pay
 */
export function setV8Flags(syncs: boolean): void {
  // The HTTP client contains its parser as WebAssembly. After its first responses V8 would compile that again with all
  // optimizations: a tenth of a second of CPU and tens of megabytes in every process, for microseconds per response.
  setFlagsFromString('--liftoff-only');
  // Heaps are small here: waking helper threads costs more than they do.
  setFlagsFromString('--no-parallel-scavenge');
  // Node 20 optimizes code after a sixth of this use. Later versions wait longer, and do not know the flag.
  if (syncs && process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=400000');
}

/**
 * Compiled code is saved once the functions of a usual start have been compiled, and soon: in a busy process V8 drops
 * them again within seconds, and every later start would compile them.
 */
const KEEP_AFTER_MS = 500;

interface Bundle {
  exports: { started?: boolean };
}
type Wrapper = (require: NodeJS.Require, filename: string, module: Bundle) => void;

/** Runs the bundle; false if there is none, if it is older than the modules it was made of, or if it declines. */
export function launchBundle(): boolean {
  const file = fileURLToPath(new URL('../app/stdio.bundle.cjs', import.meta.url));
  const source = readBundle(file);
  if (source === undefined) return false;
  const cached = readCache(cacheFiles(file, source));
  const script = new Script(`(function(require,__filename,module){${source}\n})`, {
    filename: file,
    ...(cached === undefined ? {} : { cachedData: cached }),
  });
  const bundle: Bundle = { exports: {} };
  (script.runInThisContext() as Wrapper)(createRequire(file), file, bundle);
  if (bundle.exports.started !== true) return false;
  if (cached === undefined || script.cachedDataRejected === true) keepLater(script, cacheFiles(file, source));
  return true;
}

function readBundle(file: string): string | undefined {
  try {
    // A released package has no modules that could be newer.
    const modules = statSync(new URL('../app/service.js', import.meta.url), { throwIfNoEntry: false });
    if (modules !== undefined && statSync(file).mtimeMs < modules.mtimeMs) return undefined;
    // The bundle is pure ASCII, which latin1 reads fastest.
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}

/**
 * Next to the bundle, or in the user's own folder if the program is installed for all users; never in a folder that
 * others can write to, because this is code. The cache begins with the bundle's digest, because V8 itself compares only
 * the length.
 */
function cacheFiles(file: string, source: string): string[] {
  const name = `${basename(file)}.${source.slice(2, 18)}.${process.version}-${process.arch}`;
  return [join(dirname(file), name), join(homedir(), '.cache', 'sitefleet', name)];
}

function readCache(files: readonly string[]): Buffer | undefined {
  for (const file of files) {
    try {
      return readFileSync(file);
    } catch {
      // Tries the next one, or none: that is only slower.
    }
  }
  return undefined;
}

function keepLater(script: Script, files: readonly string[]): void {
  const keep = () => {
    clearTimeout(timer);
    process.off('exit', keep);
    const data = script.createCachedData();
    files.some((file) => write(file, data));
  };
  const timer = setTimeout(keep, KEEP_AFTER_MS);
  timer.unref();
  process.once('exit', keep);
}

/** Completely or not at all: another start may be reading. */
function write(file: string, data: Buffer): boolean {
  const partial = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(partial, data, { mode: 0o600 });
    renameSync(partial, file);
    return true;
  } catch {
    rmSync(partial, { force: true });
    return false;
  }
}
