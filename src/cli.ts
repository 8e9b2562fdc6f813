#!/usr/bin/env node
/** The command `sitefleet`. An assistant that starts `stdio` waits for it, so that command has a fast path. */

import { setFlagsFromString } from 'node:v8';
import { launchBundle } from './cli/launch.js';

// The HTTP client contains its parser as WebAssembly. After its first responses V8 would compile that again with all
// optimizations: a tenth of a second of CPU and tens of megabytes in every process, for microseconds per response. Set
// before anything is compiled, because compiled code is cached for one set of flags.
setFlagsFromString('--liftoff-only');

const [command, ...more] = process.argv.slice(2);
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
