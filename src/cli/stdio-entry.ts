/**
 * Start of the bundle of `sitefleet stdio` (see build.mjs). It does what cli.ts does for that command, without loading
 * the other commands.
 */

import { readConfig } from '../config.js';
import { keepStdoutClean, problemText, say } from './output.js';
import { stdio } from './stdio.js';

async function run(): Promise<void> {
  keepStdoutClean();
  try {
    await stdio(readConfig());
  } catch (error) {
    say(problemText(error));
    process.exitCode = 1;
  }
  // All that was opened is closed by now; what a library left running must not keep the process.
  setTimeout(() => process.exit(), 3000).unref();
}

void run();
