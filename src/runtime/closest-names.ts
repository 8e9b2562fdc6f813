/** Suggestions for a misspelled tool name. */

/** Up to three names that share the most words with the given one, best first; none if nothing is close. */
export function closestNames(given: string, names: readonly string[]): string[] {
  const words = new Set(wordsOf(given));
  if (words.size === 0) return [];
  return names
    .map((name) => ({ name, score: similarity(words, wordsOf(name)) }))
    .filter(({ score }) => score >= 0.5)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** `listSites`, `list_sites` and `svc/list-sites-v1` have the same words: prefix and version are ignored. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, 100)
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && word !== 'svc' && !/^v\d+$/.test(word));
}

function similarity(given: ReadonlySet<string>, words: readonly string[]): number {
  const shared = words.filter((word) => given.has(word) || given.has(`${word}s`) || given.has(word.replace(/s$/, '')));
  return shared.length / Math.max(given.size, words.length);
}
