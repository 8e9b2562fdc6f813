/**
 * A batch of which several steps fail rejects one promise per step inside the client library, which waits for the first
 * only. Node ends a process for a rejection nobody waits for: a transaction that timed out on the server would take the
 * whole service with it. What such a stray says has been told by the call itself, so it is dropped; any other keeps its effect.
 */

let listening = false;

export function ignoreStrayRejections(): void {
  if (listening) return;
  listening = true;
  process.on('unhandledRejection', (reason) => {
    // With other listeners it is theirs to decide.
    if (!isStray(reason) && process.listenerCount('unhandledRejection') === 1) throw reason;
  });
}

/** An error that a server sent for one step: the library's class is not ours to import. */
function isStray(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'ResponseError' && 'proto' in reason;
}
