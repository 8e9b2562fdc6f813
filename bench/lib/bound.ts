/** Lower bounds for the time that work of known length takes: the baseline of a fan-out. */

/**
 * Time taken by greedy list scheduling: `slots` workers, each taking the next piece of the sequence when it is free. `Σ
 * / slots` would ignore the tail, in which the last pieces run alone.
 */
export function greedyMakespan(lengths: readonly number[], slots: number): number {
  if (!Number.isInteger(slots) || slots < 1)
    throw new RangeError(`slots: expected a whole number from 1, got ${slots}`);
  const free = new Float64Array(Math.min(slots, Math.max(lengths.length, 1)));
  let end = 0;
  for (const length of lengths) {
    let first = 0;
    for (let slot = 1; slot < free.length; slot++) if ((free[slot] ?? 0) < (free[first] ?? 0)) first = slot;
    const done = (free[first] ?? 0) + length;
    free[first] = done;
    end = Math.max(end, done);
  }
  return end;
}

/**
 * Lower bound under both limits: all slots busy to the end, the fullest host busy to the end, or the longest piece. It
 * need not be reachable.
 */
export function hostBound(hosts: readonly (readonly number[])[], slots: number, perHost: number): number {
  const work = hosts.map((lengths) => lengths.reduce((total, length) => total + length, 0));
  const longest = Math.max(0, ...hosts.flat());
  const total = work.reduce((all, one) => all + one, 0);
  return Math.max(total / slots, Math.max(0, ...work) / perHost, longest);
}
