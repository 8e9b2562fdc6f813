/** Guesses which tool a misspelled name meant. */

/** Up to three names that share most words with the asked one, best first; none when nothing is close. */
export function closestNames(asked: string, names: readonly string[]): string[] {
  const words = new Set(wordsOf(asked));
  if (words.size === 0) return [];
  return names
    .map((name) => ({ name, score: similarity(words, wordsOf(name)) }))
    .filter(({ score }) => score >= 0.5)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** `listSites`, `list_sites` and `svc/list-sites-v1` are the same words: prefix and version tell nothing. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, 100)
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && word !== 'svc' && !/^v\d+$/.test(word));
}

function similarity(asked: ReadonlySet<string>, words: readonly string[]): number {
  const shared = words.filter((word) => asked.has(word) || asked.has(`${word}s`) || asked.has(word.replace(/s$/, '')));
  return shared.length / Math.max(asked.size, words.length);
}
