/** Finds the name that a misspelled one most likely stands for. */

/** A longer name is not a misspelling of one of ours. */
const LONGEST = 60;

/** The name of `names` that is closest to `wrong` in spelling; undefined if none is close. */
export function nearestName(wrong: string, names: readonly string[]): string | undefined {
  const given = plain(wrong);
  if (given === '' || given.length > LONGEST) return undefined;
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const known = plain(name);
    const contained = Math.min(given.length, known.length) > 2 && (given.includes(known) || known.includes(given));
    const distance = editDistance(given, known);
    const steps = contained ? Math.min(1, distance) : distance;
    if (steps <= Math.max(1, Math.floor(known.length / 3)) && steps < least) {
      nearest = name;
      least = steps;
    }
  }
  return nearest;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/**
 * Number of insertions, deletions, replacements of one letter and swaps of two neighbors that turn `a` into `b`
 * (Damerau-Levenshtein).
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const least = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      next[j] = swapped ? Math.min(least, (before[j - 2] ?? 0) + 1) : least;
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
