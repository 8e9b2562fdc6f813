/** Thread priority: which thread goes first when both want a processor. */

import { setPriority } from 'node:os';

/** A nice value: higher means lower priority. */
const NICE = 5;

/**
 * Lowers the priority of the calling thread: callers expect responses in milliseconds, jobs can wait. Linux only, where
 * the call applies to a thread; elsewhere it would apply to the whole process, so nothing is done.
 */
export function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, NICE);
  } catch {
    // The system does not allow it, so all threads stay equal.
  }
}
