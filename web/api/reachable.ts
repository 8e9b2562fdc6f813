/** Whether the service answers. While it does not, it is polled every two seconds, and the page stays as it is. */

import { createStore } from './store.js';

export const reachable = createStore(true);

const AGAIN_MS = 2000;
let waiting: ReturnType<typeof setTimeout> | undefined;

reachable.subscribe(() => {
  if (!reachable.get()) ask();
});

function ask(): void {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    try {
      const { ok } = await fetch('/readyz', { cache: 'no-store' });
      if (ok) return reachable.set(true);
    } catch {
      // Still unreachable.
    }
    ask();
  }, AGAIN_MS);
}
