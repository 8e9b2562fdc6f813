/**
 * Text that leaves for a model. Texts of child sites were cleaned when they came in (`schemas/text.ts`); this is the last
 * gate, so that nothing unseen reaches a model by a way that was forgotten.
 */

/** Code points nobody sees: control, surrogates, private use, separators, tag characters and bidi overrides; joiners stay. */
const INVISIBLE = /\p{Cc}|\p{Cs}|\p{Co}|\p{Zl}|\p{Zp}|[\u{E0100}-\u{E01EF}]|(?!\u200C|\u200D)\p{Cf}/gu;
/** Printable ASCII needs no look: it is nearly all there is. */
const PRINTABLE = /^[ -~]*$/;

/** Without unseen characters; line breaks and tabs stay. At most `max` characters. */
export function cleanText(text: string, max = Number.POSITIVE_INFINITY): string {
  const visible = PRINTABLE.test(text)
    ? text
    : text.replace(INVISIBLE, (char) => (char === '\n' || char === '\t' ? char : ''));
  if (visible.length <= max) return visible;
  const cut = visible.slice(0, Math.max(0, max - 1));
  // Never end in half a surrogate pair.
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** A JSON value with every text in it cleaned; the value itself where there was nothing to do. */
export function cleanValue<T>(value: T): T {
  if (typeof value === 'string') return cleanText(value) as T;
  if (value === null || typeof value !== 'object') return value;
  // Hardly ever is there anything to do, and a copy of a long list costs as much as the look.
  if (Array.isArray(value)) return (value.some(isUnclean) ? value.map(cleanValue) : value) as T;
  if (!Object.values(value).some(isUnclean)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cleanValue(member)])) as T;
}

function isUnclean(value: unknown): boolean {
  return cleanValue(value) !== value;
}
