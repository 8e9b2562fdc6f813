/** How a running command is asked to end. */

import { say } from './output.js';

/** Aborted by the first SIGINT or SIGTERM. A second one ends the process at once: the user means it. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
    stop.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  return stop.signal;
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Runs the steps in order, each even when one before it failed; says what failed. */
export async function stopAll(steps: readonly (() => Promise<void> | void)[]): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      say(`While stopping: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    }
  }
}
