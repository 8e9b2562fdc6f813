/** The priority of a thread: which one goes first when both want a processor. */

import { setPriority } from 'node:os';

/** A nice value: higher is later. */
const NICE = 5;

/**
 * Lowers the priority of the calling thread: a caller waits for an answer in milliseconds, a job does not. Linux only, where the
 * call means a thread; elsewhere it means the whole process, and nothing is done.
 */
export function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, NICE);
  } catch {
    // The system does not allow it: all threads are equal then.
  }
}
