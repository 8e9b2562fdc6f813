/** Which thread goes first when both want a processor. */

import { setPriority } from 'node:os';

const BEHIND = 5;
/** Between two rests of a thread that has work all the time. */
const WORK_MS = 1;
/** Linux makes about 0.07 of it: the shortest sleep there is. */
const REST_MS = 0.01;

/**
 * Puts the calling thread behind the others of the process: answers come before the work whose results nobody waits for in
 * milliseconds. Linux only, where the call means a thread; elsewhere it means the whole process, and nothing is done.
 */
export function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, BEHIND);
  } catch {
    // A system that does not allow it: then all are equal.
  }
}

/**
 * Answers what the calling thread does between two pieces of work: it sleeps for a moment, so that a thread that waits for
 * this processor gets it. A priority alone does not do that. The kernel of a server leaves the processor to who has it until
 * the next tick of its clock (4 ms at 250 Hz), whoever waits; a thread that sleeps hands it over at once. Linux only.
 */
export function createRest(): () => void {
  if (process.platform !== 'linux') return () => undefined;
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  let rested = performance.now();
  return () => {
    if (performance.now() - rested < WORK_MS) return;
    Atomics.wait(nobody, 0, 0, REST_MS);
    rested = performance.now();
  };
}
