/** Version order by the rules WordPress itself uses (PHP's version_compare): plugin versions are not semver. Pure. */

/** Rank of a word in a version: any other word < dev < alpha < beta < RC < (number) < pl. */
const WORDS: readonly (readonly [RegExp, number])[] = [
  [/^dev/, 1],
  [/^a(lpha)?/, 2],
  [/^b(eta)?/, 3],
  [/^(rc|c)/i, 4],
  [/^#/, 5],
  [/^p(l)?/, 6],
];

/** −1, 0 or 1 as `a` is older than, the same as, or newer than `b`. */
export function compareVersions(a: string, b: string): -1 | 0 | 1 {
  const left = parts(a);
  const right = parts(b);
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const order = comparePart(left[index], right[index]);
    if (order !== 0) return order;
  }
  return 0;
}

/** A version counts as new only when PHP would order it after the installed one; unknown ones are never "the same". */
export function isNewer(offered: string, installed: string): boolean {
  return compareVersions(offered, installed) > 0;
}

function parts(version: string): string[] {
  return version
    .replace(/[-_+]/g, '.')
    .replace(/(\d)([^\d.])/g, '$1.$2')
    .replace(/([^\d.])(\d)/g, '$1.$2')
    .split('.')
    .filter((part) => part !== '');
}

function comparePart(a: string | undefined, b: string | undefined): -1 | 0 | 1 {
  // A missing part loses against a number and wins against a word that means "before release".
  if (a === undefined) return b === undefined ? 0 : isNumber(b) ? -1 : sign(rank('#') - rank(b));
  if (b === undefined) return isNumber(a) ? 1 : sign(rank(a) - rank('#'));
  if (isNumber(a) && isNumber(b)) return sign(compareNumbers(a, b));
  if (!isNumber(a) && !isNumber(b)) return sign(rank(a) - rank(b));
  return isNumber(a) ? sign(rank('#') - rank(b)) : sign(rank(a) - rank('#'));
}

function isNumber(part: string): boolean {
  return /^\d/.test(part);
}

function compareNumbers(a: string, b: string): number {
  const left = a.replace(/^0+(?=\d)/, '');
  const right = b.replace(/^0+(?=\d)/, '');
  return left.length === right.length ? (left < right ? -1 : left > right ? 1 : 0) : left.length - right.length;
}

function rank(part: string): number {
  return WORDS.find(([word]) => word.test(part))?.[1] ?? 0;
}

function sign(n: number): -1 | 0 | 1 {
  return n < 0 ? -1 : n > 0 ? 1 : 0;
}
