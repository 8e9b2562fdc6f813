/**
 * Start of the bundle of `sitefleet stdio` (see build.mjs). It does what the command does, without loading the others.
 * The bundle holds the serving half only: the engine has a thread and modules of its own.
 */

import { readConfig } from '../config/config.js';
import type { Config } from '../config/types.js';
import { keepStdoutClean, problemText, say } from './output.js';
import { stdio } from './stdio.js';

/** False: the modules are needed, for an engine in this very thread, or to say what is wrong with the configuration. */
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
  // All that was opened is closed by now; what a library left running must not keep the process.
  setTimeout(() => process.exit(), 3000).unref();
}
