/**
 * Reads the attributes of a tag as browsers do, and what is said in them to search engines. Pure.
 *
 * What a visitor calls himself may stand in any value: a text that looks like another attribute must not pass for one.
 */

/** A value whose quotation mark does not come again goes on to the end of the tag. */
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s{0,20}=\s{0,20}(?:"([^"]*)(?:"|$)|'([^']*)(?:'|$)|([^\s"'<>][^\s<>]*)))?/g;

/** The value of the first attribute of this name, '' if absent. @param attributes all that follows the name of a tag */
export function attribute(attributes: string, name: string): string {
  for (const [, found = '', double, single, bare] of attributes.matchAll(ATTRIBUTE))
    if (found.toLowerCase() === name) return double ?? single ?? bare ?? '';
  return '';
}

/** The words of an attribute that lists some, as `rel` and `class` do, in small letters. */
export function wordsIn(attributes: string, name: string): string[] {
  return attribute(attributes, name).toLowerCase().split(/\s+/);
}

/**
 * Whether these directives for search engines keep a page out of their results; a header may name an engine before them. `none`
 * stands for a size or a date behind some others.
 */
export function forbidsIndex(directives: string): boolean {
  return directives
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .some((one) => !/^(?:max-|unavailable_after\b)/.test(one) && /(?:^|[\s:])(?:noindex|none)$/.test(one));
}
