/** The flags of V8 that the commands run with. Imports nothing but Node. */

import { setFlagsFromString } from 'node:v8';

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
