/** The flags of V8 that all commands run with. Imports nothing but Node. */

import { setFlagsFromString } from 'node:v8';

/** Without them a server spends a quarter more CPU on the first sync after its start (docs/decisions/0040). */
const FLAGS = [
  // The HTTP client contains its parser as WebAssembly. After its first responses V8 would compile that again with all
  // optimizations: a tenth of a second of CPU and tens of megabytes in every process, for microseconds per response.
  '--liftoff-only',
  // Heaps are small here: waking helper threads costs more than they do.
  '--no-parallel-scavenge',
  // Node 20 optimizes code after a sixth of this use: bursts of work end before that pays. Newer ones wait by default.
  ...(process.versions.v8.startsWith('11.') ? ['--interrupt-budget=400000'] : []),
];

/** To be called before anything else is compiled, because compiled code is cached for one set of flags. */
export function setV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
