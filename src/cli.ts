#!/usr/bin/env node
/** The command `sitefleet`. An assistant that starts `stdio` waits for it, so that command has a fast path. */

import { keepCompiledCode, launchBundle } from './cli/launch.js';

const [command, ...more] = process.argv.slice(2);
keepCompiledCode();

// A signal before anything was opened is not a failure. The serving commands install their own handler once they are
// loaded.
if (command !== undefined && ['stdio', 'serve', 'work', 'demo'].includes(command)) {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (process.listenerCount(name) === 1) process.exit(0);
    });
  }
}
if (command !== 'stdio' || more.length > 0 || !launchBundle()) await import('./cli/program.js');
