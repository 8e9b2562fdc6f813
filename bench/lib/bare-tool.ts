/** The result of the bare servers' only tool: a constant, or the number of sites read by the driver alone. */

import { openBare } from './native.js';

export type Answer = () => Record<string, unknown>;

/** Configured by the environment that `stdioBare` sets. */
export function bareAnswer(): Answer {
  const { BENCH_RESULT = '{}', BENCH_COUNT } = process.env;
  const result = JSON.parse(BENCH_RESULT) as Record<string, unknown>;
  if (BENCH_COUNT === undefined) return () => result;
  const count = openBare(BENCH_COUNT).prepare('SELECT sum(n) FROM site_count');
  return () => ({ total: Number(count.all()[0]?.[0] ?? 0) });
}
