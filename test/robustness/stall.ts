/**
 * Measures the longest time an event loop is blocked, in CPU time of this thread, and compares it to the time for a piece
 * of work: a busy machine does not lengthen the one without the other.
 */

import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds of CPU that this thread has used so far; where the kernel does not report them, those of the process. */
function cpuMs(): number {
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
async function longestStall(work: () => Promise<unknown>): Promise<number> {
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

const HARMLESS = `[${Array<string>(300_000).fill('[]').join()}]`;
/** Milliseconds of CPU that reading and writing a harmless megabyte takes; measured when first needed. */
let unit = 0;

function harmlessMs(): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 5; i++) {
    const began = cpuMs();
    JSON.stringify(JSON.parse(HARMLESS));
    fastest = Math.min(fastest, cpuMs() - began);
  }
  return fastest;
}

/**
 * How often a harmless megabyte could be read and written in the longest time for which `work` blocks the event loop. What
 * is above the limit is measured again, together with the megabyte: garbage collection may fall into any work, and the
 * machine may have become slower.
 */
export async function harmlessMegabytes(limit: number, work: () => Promise<unknown>): Promise<number> {
  if (unit === 0) unit = harmlessMs();
  let least = (await longestStall(work)) / unit;
  for (let tries = 0; tries < 3 && least > limit; tries++) {
    const now = harmlessMs();
    least = Math.min(least, (await longestStall(work)) / now);
  }
  return least;
}
