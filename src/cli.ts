#!/usr/bin/env node
/** The command `sitefleet`. An assistant that starts `stdio` waits for it, so that command has a short way in. */

import { setFlagsFromString } from 'node:v8';
import { launchBundle } from './cli/launch.js';

// The HTTP client brings its parser as WebAssembly. From its first answers on V8 would compile that once more, with all optimizations: a
// tenth of a second of CPU and tens of megabytes in every process, for microseconds per answer. Before anything is compiled, because
// compiled code is kept for one set of flags.
setFlagsFromString('--liftoff-only');

const [command, ...more] = process.argv.slice(2);
// Asked to end before anything was opened: that is no failure. What serves takes over as soon as it is loaded.
if (command !== undefined && ['stdio', 'serve', 'work', 'demo'].includes(command)) {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (process.listenerCount(name) === 1) process.exit(0);
    });
  }
}
if (command !== 'stdio' || more.length > 0 || !launchBundle()) await import('./cli/program.js');
