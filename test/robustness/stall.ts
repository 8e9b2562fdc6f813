/**
 * Measures the longest time an event loop is blocked, in CPU time of this thread, which a busy machine does not
 * lengthen.
 */

import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds of CPU that this thread has used so far; where the kernel does not report them, those of the process. */
export function cpuMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

/**
 * Runs `work` and returns the longest time, in milliseconds of CPU, between two samples until it ended. Samples are
 * taken each millisecond, or in the first turn of the event loop after that: one in each turn would keep the processor
 * busy while `work` waits.
 */
export async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let over = false;
  await pause(1);
  let last = cpuMs();
  const sample = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const done = work().finally(() => {
    over = true;
  });
  // Work done before the first wait counts, too.
  while (!over) {
    await pause(1);
    sample();
  }
  sample();
  await done;
  return longest;
}
