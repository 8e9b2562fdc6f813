/** What is not stored, although people ask assistants for it: what comes closest to it, and what stays unknown. */

interface Gap {
  note: string;
  /** Operations that tell a part of it, the best first. */
  operations: readonly string[];
  /** What it is about: one word of each list is in the question. */
  asked: readonly (readonly string[])[];
  /** Words of another question, which an operation answers. */
  unless: readonly string[];
}

const GAPS: readonly Gap[] = [
  {
    note: 'No operation lists the users of all sites: which users a site has is not stored. svc-compare-sites-v1 with administrators: true asks 2 to 5 sites at a time who their administrators are now; svc-search-changes-v1 tells over all sites who was made administrator or changed, as far as the logs of the sites go. Other users are not known.',
    operations: ['svc/compare-sites-v1', 'svc/search-changes-v1'],
    asked: [
      ['administrator', 'administrators', 'admin', 'admins', 'users'],
      ['list', 'which', 'who', 'all', 'every', 'show', 'have', 'count', 'many', 'current'],
    ],
    unless: [
      'new newly became become changed change made make created create added removed deleted last since week yesterday recently',
      'differ difference compare two between sitefleet dashboard key password login alert mail',
    ].flatMap((line) => line.split(' ')),
  },
];

/**
 * What comes closest to what is asked for; undefined if it is no gap.
 * @param words of the question, stemmed
 * @param stem stems the words of a text
 */
export function gapOf(
  words: readonly string[],
  stem: (text: string) => string[],
): Pick<Gap, 'note' | 'operations'> | undefined {
  const asked = new Set(words);
  const has = (list: readonly string[]) => list.flatMap(stem).some((word) => asked.has(word));
  return GAPS.find((gap) => gap.asked.every(has) && !has(gap.unless));
}
