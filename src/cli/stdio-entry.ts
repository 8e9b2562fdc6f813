/**
 * Entry point of the bundle of `sitefleet stdio` (see build.mjs). It does what the command does, without loading the
 * others. The bundle contains the serving half only: the engine has its own thread and modules.
 */

import { readConfig } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import { keepStdoutClean, problemText, say } from './output.js';
import { stdio } from './stdio.js';

/** False: the modules are needed, for an engine in this thread, or to report a configuration error. */
export const started: boolean = begin();

function begin(): boolean {
  let config: Config;
  try {
    config = readConfig();
  } catch {
    return false;
  }
  if (config.db === ':memory:') return false;
  keepStdoutClean();
  void run(config);
  return true;
}

async function run(config: Config): Promise<void> {
  try {
    await stdio(config);
  } catch (error) {
    say(problemText(error));
    process.exitCode = 1;
  }
  // Everything opened is closed by now; a library that keeps running must not hold the process.
  setTimeout(() => process.exit(), 3000).unref();
}
