/** Ends a process whose threads may be in native code. */

/**
 * Ends the process by a signal, at once. `process.exit` waits until each thread returns from native code, which may be
 * minutes later, and code of libsql that returns into a thread that is gone aborts the process.
 * @param code for the first process of a container, which its own signals do not end
 */
export function endProcess(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL', code: number): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(code);
}
