/** Exact arithmetic for money: fractions of big integers, rounded once, at the end (operations §5.9). */

/** `n / d` with `d` above 0, in lowest terms. */
export interface Fraction {
  readonly n: bigint;
  readonly d: bigint;
}

export const ZERO: Fraction = { n: 0n, d: 1n };

/** Parses decimal text such as `12.50`. Throws RangeError for anything else. */
export function decimal(text: string): Fraction {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) throw new RangeError('Not a decimal number.');
  const [, sign, whole = '', part = ''] = match;
  const digits = BigInt(whole + part);
  return reduced(sign === '-' ? -digits : digits, 10n ** BigInt(part.length));
}

export function plus(a: Fraction, b: Fraction): Fraction {
  return reduced(a.n * b.d + b.n * a.d, a.d * b.d);
}

export function times(a: Fraction, factor: number): Fraction {
  return reduced(a.n * BigInt(factor), a.d);
}

/** Throws RangeError unless the divisor is a positive integer. */
export function over(a: Fraction, divisor: number): Fraction {
  if (!Number.isSafeInteger(divisor) || divisor < 1) throw new RangeError('The divisor must be a positive integer.');
  return reduced(a.n, a.d * BigInt(divisor));
}

/** Rounds to 2 decimals, half away from zero, to the JSON number that prints so. */
export function rounded(a: Fraction): number {
  const size = a.n < 0n ? -a.n : a.n;
  const cents = (size * 200n + a.d) / (2n * a.d);
  const text = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
  return cents === 0n ? 0 : Number(a.n < 0n ? `-${text}` : text);
}

function reduced(n: bigint, d: bigint): Fraction {
  const divisor = gcd(n < 0n ? -n : n, d);
  return { n: n / divisor, d: d / divisor };
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x === 0n ? 1n : x;
}
