/** Abort signals: one that never fires, and a combination of two that leaves no listeners behind. */

import { setMaxListeners } from 'node:events';

/** A signal that never fires, for calls that finish even if their caller hangs up. */
export const UNINTERRUPTED = new AbortController().signal;
// Every running change in the engine listens to it.
setMaxListeners(0, UNINTERRUPTED);

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
