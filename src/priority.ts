/** Which thread goes first when both want a processor. */

import { setPriority } from 'node:os';

const BEHIND = 5;

/**
 * Puts the calling thread behind the others of the process: answers come before the work whose results nobody waits for in
 * milliseconds. Linux only, where the call means a thread; elsewhere it means the whole process, and nothing is done.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, BEHIND);
  } catch {
    // A system that does not allow it: then all are equal.
  }
}
