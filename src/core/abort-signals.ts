/** Abort signals: one that never fires, and a combination of two that leaves nothing behind on either. */

import { setMaxListeners } from 'node:events';

/** The signal of calls that are finished even when their caller hangs up. It never fires. */
export const UNINTERRUPTED = new AbortController().signal;
// Every change in flight in the engine listens to it.
setMaxListeners(0, UNINTERRUPTED);

/**
 * Runs `work` with a signal that is aborted as soon as one of two is, and detaches it from both when it ends. `AbortSignal.any` would
 * keep a trace of every call on a signal that lives as long as the process: Node 20 never removes one, some 55 bytes each, which
 * for a fleet that is checked every minute comes to hundreds of megabytes a day.
 */
export async function withEitherSignal<T>(
  one: AbortSignal,
  other: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const detach = [one, other].map((signal) => {
    // One signal often stands for a run over thousands of sites.
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
