/**
 * Abort signals: one that never fires, one with a time limit, and a combination of two that leaves no listeners behind.
 */

import { setMaxListeners } from 'node:events';

/** A signal that never fires, for calls that finish even if their caller hangs up. */
export const UNINTERRUPTED = new AbortController().signal;
// Every running change in the engine listens to it.
setMaxListeners(0, UNINTERRUPTED);

/**
 * A signal that aborts with the given one, and after so many milliseconds with a TimeoutError. `AbortSignal.any` holds its
 * sources weakly, and Node 20 collects an `AbortSignal.timeout` that nothing else holds: its time then never comes.
 */
export function withTimeLimit(signal: AbortSignal, ms: number): AbortSignal {
  const limit = new AbortController();
  setTimeout(() => limit.abort(new DOMException('The time is up.', 'TimeoutError')), ms).unref();
  return AbortSignal.any([signal, limit.signal]);
}

/**
 * Runs `work` with a signal that aborts as soon as one of two does, and detaches it from both afterwards.
 * `AbortSignal.any` would leave a trace of every call on a signal that lives as long as the process: Node 20 never
 * removes it, some 55 bytes each, which adds up to hundreds of megabytes a day for a fleet that is checked every
 * minute.
 */
export async function withEitherSignal<T>(
  one: AbortSignal,
  other: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const detach = [one, other].map((signal) => {
    // One signal often serves a run over thousands of sites.
    setMaxListeners(0, signal);
    const abort = () => either.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    return () => signal.removeEventListener('abort', abort);
  });
  try {
    return await work(either.signal);
  } finally {
    for (const each of detach) each();
  }
}
