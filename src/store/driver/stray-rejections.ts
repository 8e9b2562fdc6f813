/**
 * Ignores unhandled rejections of the libSQL client. When several steps of a batch fail, the client rejects one promise per
 * step and waits only for the first. Node ends the process for the others: a transaction that timed out on the server would
 * end the service. The call itself reports the failure, so such rejections are ignored; all others keep their effect.
 */

let listening = false;

/** Installs the handler, once per process. */
export function ignoreStrayRejections(): void {
  if (listening) return;
  listening = true;
  process.on('unhandledRejection', (reason) => {
    // If there are other listeners, the decision is theirs.
    if (!isStray(reason) && process.listenerCount('unhandledRejection') === 1) throw reason;
  });
}

/** An error that a server sent for one step: the library's class is not ours to import. */
function isStray(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'ResponseError' && 'proto' in reason;
}
