/** The result of the bare servers' one tool: a constant, or the count of sites as the driver alone reads it. */

import { openBare } from './native.js';

export type Answer = () => Record<string, unknown>;

/** By the environment of `stdioBare`. */
export function bareAnswer(): Answer {
  const { BENCH_RESULT = '{}', BENCH_COUNT } = process.env;
  const result = JSON.parse(BENCH_RESULT) as Record<string, unknown>;
  if (BENCH_COUNT === undefined) return () => result;
  const count = openBare(BENCH_COUNT).prepare('SELECT sum(n) FROM site_count');
  return () => ({ total: Number(count.all()[0]?.[0] ?? 0) });
}
