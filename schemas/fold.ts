/** Folds names for comparison in lists and searches. */

/**
 * The form in which names are compared: SQLite folds ASCII only, so case is folded before storing and before searching.
 * Through the upper case, because some letters have two lower-case forms (σ and ς, s and ſ): the search index treats
 * them as equal, and a shorter search, which reads the rows, must not treat them as different.
 */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(BEYOND_ASCII, oneLower);
}

const BEYOND_ASCII = /[^\p{ASCII}]/gu;

function oneLower(letter: string): string {
  const upper = letter.toUpperCase();
  return upper.length === letter.length ? upper.toLowerCase() : letter;
}

/**
 * A search term in the form in which folded names are compared; '' = no filter. NUL cannot be bound, and no name
 * contains one.
 */
export function needle(search: string | undefined): string {
  return search === undefined ? '' : fold(search.replaceAll('\0', '').trim());
}
