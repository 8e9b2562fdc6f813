/** The form in which names are compared, in lists and searches. */

/**
 * Form in which names are compared: SQLite folds ASCII only, so case is folded before storing and before searching.
 * By way of the upper case, because some letters have two lower ones (σ and ς, s and ſ): the search index takes them for
 * the same, and a shorter search, which reads the rows, must not take them for different.
 */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(BEYOND_ASCII, oneLower);
}

const BEYOND_ASCII = /[^\p{ASCII}]/gu;

function oneLower(letter: string): string {
  const upper = letter.toUpperCase();
  return upper.length === letter.length ? upper.toLowerCase() : letter;
}

/** A search as it is compared with folded names; '' = no filter. NUL cannot be bound, and no name holds one. */
export function needle(search: string | undefined): string {
  return search === undefined ? '' : fold(search.replaceAll('\0', '').trim());
}
