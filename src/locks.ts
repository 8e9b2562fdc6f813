/** One piece of work at a time per site, within this process. */

import type { SiteLocks } from './context.js';

export function createLocks(): SiteLocks {
  const tails = new Map<number, Promise<void>>();
  return {
    async exclusive(siteId, signal, work) {
      const before = tails.get(siteId);
      let release = () => {};
      const mine = new Promise<void>((resolve) => {
        release = resolve;
      });
      const tail = before === undefined ? mine : before.then(() => mine);
      tails.set(siteId, tail);
      try {
        if (before !== undefined) await orAborted(before, signal);
        return await work();
      } finally {
        release();
        if (tails.get(siteId) === tail) tails.delete(siteId);
      }
    },
  };
}

/** Waits for a turn, but no longer than the caller does. */
async function orAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop = () => {};
  const given = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([turn, given]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
