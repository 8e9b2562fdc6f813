/** Plain statistics over small samples. Functions do not modify their arguments. */

/** The value below which the share `q` (0 to 1) of the sample lies, interpolated. NaN for an empty sample. */
export function quantile(sample: readonly number[], q: number): number {
  if (sample.length === 0) return Number.NaN;
  const sorted = [...sample].sort((a, b) => a - b);
  const at = Math.min(Math.max(q, 0), 1) * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

export function median(sample: readonly number[]): number {
  return quantile(sample, 0.5);
}

export function sum(sample: readonly number[]): number {
  return sample.reduce((total, value) => total + value, 0);
}

export type Range = readonly [low: number, high: number];

/** The interquartile range: the spread reported beside a median. */
export function middleHalf(sample: readonly number[]): Range {
  return [quantile(sample, 0.25), quantile(sample, 0.75)];
}

/** Rounds to three significant digits: all that a measurement on a shared machine carries. */
export function rounded(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(3)) : value;
}
