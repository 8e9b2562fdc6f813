/** One operation at a time per site, within a process. Between processes: test/robustness/fencing.test.ts. */

import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createSiteLocks } from '../../src/runtime/cluster/leases.js';

const NEVER = new AbortController().signal;

it.each(['exclusive', 'local'] as const)('who gives up waiting lets no other in: %s', async (kind) => {
  const locks = createSiteLocks();
  const order: string[] = [];
  let end = () => {};
  const first = locks[kind](7, NEVER, async () => {
    order.push('first begins');
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    order.push('first ends');
  });
  const patience = new AbortController();
  const second = locks[kind](7, patience.signal, async () => void order.push('second'));
  patience.abort();
  await expect(second).rejects.toThrow();
  const third = locks[kind](7, NEVER, async () => void order.push('third'));
  for (let i = 0; i < 5; i++) await turn();
  end();
  await Promise.all([first, third]);
  expect(order).toEqual(['first begins', 'first ends', 'third']);
  // The lock is free again: the next caller does not wait.
  expect(await locks.local(7, NEVER, async (waited) => waited)).toBe(false);
});
