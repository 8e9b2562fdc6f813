/** Version order by the rules WordPress itself uses (PHP's version_compare): plugin versions are not semver. Pure. */

/** Rank of a word by its beginning: any other word < dev < alpha < beta < RC < (number) < pl. Case-sensitive. */
const WORDS: readonly (readonly [RegExp, number])[] = [
  [/^dev/, 1],
  [/^a/, 2],
  [/^b/, 3],
  [/^(RC|rc)/, 4],
  [/^#/, 5],
  [/^p/, 6],
];
/** Stands for a number when it is compared with a word. */
const NUMBER = '#';
/** Larger numbers are treated as this one. */
const LARGEST = 2n ** 63n - 1n;

/** −1, 0 or 1 as `a` is older than, the same as, or newer than `b`. */
export function compareVersions(a: string, b: string): -1 | 0 | 1 {
  // PHP considers a version that ends in a dot older than itself.
  if (a === b) return 0;
  if (a === '' || b === '') return a === '' ? -1 : 1;
  if (PLAIN.test(a) && PLAIN.test(b)) return comparePlain(a, b);
  return compareFrom(split(a), split(b));
}

/** Numbers separated by dots, none too large for a float: nearly every version. A search compares thousands of them. */
const PLAIN = /^\d{1,15}(?:\.\d{1,15})*$/;

function comparePlain(a: string, b: string): -1 | 0 | 1 {
  const [left, right] = [a.split('.'), b.split('.')];
  for (let at = 0; at < left.length && at < right.length; at++) {
    const difference = Number(left[at]) - Number(right[at]);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return left.length === right.length ? 0 : left.length < right.length ? -1 : 1;
}

function compareFrom(left: readonly string[], right: readonly string[]): -1 | 0 | 1 {
  let at = 0;
  for (; at < left.length && at < right.length; at++) {
    const [ours = '', theirs = ''] = [left[at], right[at]];
    // A dot at the very end leaves an empty part, before which the comparison stops.
    if (at > 0 && (ours === '' || theirs === '')) break;
    const order = comparePart(ours, theirs);
    if (order !== 0) return order;
  }
  if (at < left.length) return tail(left.slice(at));
  return at < right.length ? negated(tail(right.slice(at))) : 0;
}

/** Compares the remaining parts of the longer version: a number makes it newer, a word is compared with a number. */
function tail(rest: readonly string[]): -1 | 0 | 1 {
  const [first = ''] = rest;
  if (isNumber(first)) return 1;
  return rest.length === 1 && first === '' ? -1 : compareFrom(rest, [NUMBER]);
}

function comparePart(a: string, b: string): -1 | 0 | 1 {
  if (isNumber(a) && isNumber(b)) {
    const [left, right] = [numberOf(a), numberOf(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  }
  const order = rank(isNumber(a) ? NUMBER : a) - rank(isNumber(b) ? NUMBER : b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

/** Splits at dots, after inserting a dot wherever digits meet other characters, and for every other separator. */
function split(version: string): string[] {
  if (version.startsWith('#')) return version.split('.');
  // Bytes, as PHP sees them.
  const bytes = Buffer.from(version, 'utf8').toString('latin1');
  const parts: string[] = [];
  if (bytes.startsWith('.')) parts.push('');
  let start = parts.length;
  // A part ends at an existing or inserted dot; several in a row count as one.
  for (let at = 1; at < bytes.length; at++) {
    const [before, char] = [bytes.charAt(at - 1), bytes.charAt(at)];
    const meets = (isWord(before) && isDigit(char)) || (isDigit(before) && isWord(char) && !/[-_+]/.test(char));
    if (!meets && /[A-Za-z0-9]/.test(char)) continue;
    if (at > start || parts.length === 0) parts.push(bytes.slice(start, at));
    start = meets ? at : at + 1;
  }
  parts.push(bytes.slice(start));
  return parts;
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9';
}

/** Neither a digit nor a dot. */
function isWord(char: string): boolean {
  return !isDigit(char) && char !== '.';
}

function isNumber(part: string): boolean {
  return /^\d/.test(part);
}

function numberOf(part: string): bigint {
  const digits = BigInt(/^\d+/.exec(part)?.[0] ?? '0');
  return digits > LARGEST ? LARGEST : digits;
}

function rank(part: string): number {
  return WORDS.find(([word]) => word.test(part))?.[1] ?? 0;
}

function negated(order: -1 | 0 | 1): -1 | 0 | 1 {
  return order === 0 ? 0 : order === 1 ? -1 : 1;
}
