#!/usr/bin/env node
/** The command `sitefleet`: what has to happen before its modules are loaded, which are loaded last. */

import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** From Node 22.1 on. */
type CompileCache = { enableCompileCache?: (folder: string) => unknown };

// Compiled code is kept for the next start, where Node can; in a folder of the user's own, because others must not be able to
// write it.
(nodeModule as CompileCache).enableCompileCache?.(join(homedir(), '.cache', 'sitefleet'));

// A signal before anything was opened is not a failure. The serving commands install their own handler once they are
// loaded.
if (['stdio', 'serve', 'work', 'demo'].includes(process.argv[2] ?? '')) {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (process.listenerCount(name) === 1) process.exit(0);
    });
  }
}
await import('./cli/program.js');
