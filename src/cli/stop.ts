/** Stop signals, and the orderly shutdown of a running command. */

import { setMaxListeners } from 'node:events';
import { systemClock } from '../runtime/clock.js';
import { endProcess } from '../runtime/end-process.js';
import { messageOf, say } from './output.js';

/** A closing terminal sends several signals at once; they count as one request. */
const SAME_REQUEST_MS = 1000;

/** Aborted by the first SIGINT, SIGTERM or SIGHUP. A later one ends the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  // Every running call listens to it.
  setMaxListeners(0, stop.signal);
  let asked = 0;
  const onSignal = (name: NodeJS.Signals) => {
    const now = systemClock.now();
    if (stop.signal.aborted && now - asked > SAME_REQUEST_MS) {
      if (name === 'SIGINT') endProcess('SIGINT', 130);
      // Windows cannot send a hangup.
      endProcess('SIGTERM', 143);
    }
    if (stop.signal.aborted) return;
    asked = now;
    stop.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  return stop.signal;
}

/** Node ends a process in which only background timers are left: this wait keeps it alive. */
const LONG_MS = 2 ** 31 - 1;

export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const alive = setInterval(() => undefined, LONG_MS);
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(alive);
        resolve();
      },
      { once: true },
    );
  });
}

/** Runs the steps in order, each even if an earlier one failed; reports what failed. */
export async function stopAll(steps: readonly (() => Promise<void> | void)[]): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      say(`While stopping: ${messageOf(error)}`);
      process.exitCode = 1;
    }
  }
}
