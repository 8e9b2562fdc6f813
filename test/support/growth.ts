/** How work grows with its input, in CPU time: a busy machine slows the small and the large alike. */

import { expect } from 'vitest';

/**
 * Expects that sixteen times the input takes about sixteen times the work, and not its square, which is 256 times.
 * @param work does the work for an input of this size, which should take at least a millisecond
 */
export function expectToGrowLinearly(work: (size: number) => void, size: number): void {
  const cpu = (of: number) => {
    const began = process.cpuUsage();
    work(of);
    const { user, system } = process.cpuUsage(began);
    return user + system;
  };
  // Compiled by now.
  cpu(size);
  const small = Math.max(cpu(size), cpu(size), 1000);
  expect(cpu(16 * size)).toBeLessThan(100 * small);
}
