/** Work in this process that another call may cancel, by its id. */

import { withEitherSignal } from './abort-signals.js';

export interface Cancellable {
  /** Runs work with a signal that ends with that of its caller, or as soon as somebody cancels it. */
  run<T>(id: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /**
   * Cancels work, and resolves once it has ended.
   * @returns false if none with this id is at work here
   */
  cancel(id: string): Promise<boolean>;
}

export function createCancellable(): Cancellable {
  const atWork = new Map<string, { cancel(): void; ended: Promise<unknown> }>();
  return {
    async run(id, signal, work) {
      const own = new AbortController();
      const running = withEitherSignal(signal, own.signal, work);
      atWork.set(id, { cancel: () => own.abort(), ended: running.catch(() => undefined) });
      try {
        return await running;
      } finally {
        atWork.delete(id);
      }
    },
    async cancel(id) {
      const found = atWork.get(id);
      found?.cancel();
      await found?.ended;
      return found !== undefined;
    },
  };
}
