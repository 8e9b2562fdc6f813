/**
 * Removes invisible characters from text that is sent to a model. Texts of child sites are cleaned when they are stored
 * (`schemas/text.ts`); this is the last check, in case another source was forgotten.
 */

/** Invisible code points: control, surrogates, private use, separators, tag characters and bidi overrides, but not joiners. */
const INVISIBLE = /\p{Cc}|\p{Cs}|\p{Co}|\p{Zl}|\p{Zp}|[\u{E0100}-\u{E01EF}]|(?!\u200C|\u200D)\p{Cf}/gu;
/** Printable ASCII needs no cleaning, and most texts are that. */
const PRINTABLE = /^[ -~]*$/;

/** The text without invisible characters, except line breaks and tabs. At most `max` characters. */
export function cleanText(text: string, max = Number.POSITIVE_INFINITY): string {
  const visible = PRINTABLE.test(text)
    ? text
    : text.replace(INVISIBLE, (char) => (char === '\n' || char === '\t' ? char : ''));
  if (visible.length <= max) return visible;
  const cut = visible.slice(0, Math.max(0, max - 1));
  // Does not end in half a surrogate pair.
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** A JSON value with every text in it cleaned; the same value when nothing changes. */
export function cleanValue<T>(value: T): T {
  if (typeof value === 'string') return cleanText(value) as T;
  if (value === null || typeof value !== 'object') return value;
  // Rarely does anything change, and copying a long list costs as much as checking it.
  if (Array.isArray(value)) return (value.some(isUnclean) ? value.map(cleanValue) : value) as T;
  if (!Object.values(value).some(isUnclean)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cleanValue(member)])) as T;
}

function isUnclean(value: unknown): boolean {
  return cleanValue(value) !== value;
}
