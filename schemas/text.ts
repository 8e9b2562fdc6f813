/** Cleans text from child sites, which is untrusted, before it is stored or shown. */

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  copy: '©',
  reg: '®',
  trade: '™',
  deg: '°',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  ntilde: 'ñ',
};

const ENTITY = /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([A-Za-z]{2,8}));/gi;
const TAG = /<[A-Za-z/!?][^<>]*>/g;
const OPENING = /<(?=[A-Za-z/!?])/g;
const SCRIPT_BLOCK = /<(script|style)\b[^<>]*>[^<]*<\/\1\s*>/gi;
const ELEMENTS =
  'a|abbr|address|applet|area|article|aside|audio|b|base|bdi|bdo|big|blockquote|body|br|button|canvas|caption|center|cite|code|col|' +
  'colgroup|data|datalist|dd|del|details|dfn|dialog|div|dl|dt|em|embed|fieldset|figcaption|figure|font|footer|form|frame|frameset|' +
  'h[1-6]|head|header|hgroup|hr|html|i|iframe|img|input|ins|kbd|label|legend|li|link|main|map|mark|marquee|math|menu|meta|meter|nav|' +
  'noscript|object|ol|optgroup|option|output|p|param|picture|pre|progress|q|rp|rt|ruby|s|samp|script|search|section|select|slot|' +
  'small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|time|title|tr|track|' +
  'tt|u|ul|var|video|wbr';
/** A tag of HTML, one with attributes, or a comment: markup even if it was sent as entities. */
const HTML = new RegExp(`</?(?:${ELEMENTS})(?=[\\s/>])[^<>]*>|<[A-Za-z][^<>=]*=[^<>]*>|<[!?][^<>]*>`, 'gi');
/** Remains of such a tag: truncated, or nested deeper than in genuine text. */
const HTML_OPENING = new RegExp(`<(?=[/!?]|(?:${ELEMENTS})(?![\\w-])|[A-Za-z][^>=]{0,300}=)`, 'gi');
/** Control, private-use and surrogate code points, and invisible format ones (bidi overrides, tag characters, BOM …). */
export const INVISIBLE = /\p{Cc}|\p{Cs}|\p{Co}|\p{Zl}|\p{Zp}|[\u{E0100}-\u{E01EF}]|(?!\u200C|\u200D)\p{Cf}/gu;
/**
 * In a line also all others without a sign of their own, such as fillers. Joiners and the choice of emoji belong to
 * words, but several in a row only hide something.
 */
const UNSEEN =
  /\p{Cc}|\p{Cs}|\p{Co}|\p{Zl}|\p{Zp}|\u2800|(?!\u200C|\u200D|\uFE0E|\uFE0F|[\u180B-\u180D]|\u180F)(?:\p{Cf}|\p{Default_Ignorable_Code_Point})|(?<=\u200C|\u200D)(?:\u200C|\u200D|\uFE0E|\uFE0F)|(?<=\uFE0E|\uFE0F)(?:\uFE0E|\uFE0F)/gu;
/** What is not seen at the beginning of a line, whatever follows. */
const UNSEEN_START = /^(?: |\u200C|\u200D|\uFE0E|\uFE0F|[\u180B-\u180D]|\u180F)+/;

/** Decodes HTML entities in one pass: `&amp;lt;` becomes `&lt;`, never `<`. Unknown ones stay. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(ENTITY, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const valid = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return valid ? String.fromCodePoint(code) : '\uFFFD';
  });
}

/** At most `max` characters, with an ellipsis if text was cut off. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max - 1);
  // Never ends in half a surrogate pair.
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}

function raw(value: unknown, max: number): string {
  const text =
    typeof value === 'string' ? value : typeof value === 'number' && Number.isFinite(value) ? String(value) : '';
  // The work below is bounded by what can remain, not by the length of the input.
  return text.length > max * 4 + 1000 ? text.slice(0, max * 4 + 1000) : text;
}

/**
 * Text without invisible characters, so the slow patterns are skipped: printable ASCII, the letters of Europe, typographic
 * punctuation, currency signs, Japanese and Chinese.
 */
const ORDINARY =
  /^[ -~\u00A1-\u00AC\u00AE-\u02FF\u0370-\u052F\u2010-\u2027\u20A0-\u20BF\u3001-\u3029\u3041-\u30FF\u4E00-\u9FFF]*$/;

/** Before tags are searched: an invisible character inside one would hide it. */
function visible(text: string): string {
  return ORDINARY.test(text) ? text : text.replace(/\s+/g, ' ').replace(UNSEEN, '');
}

function withoutMarkup(text: string): string {
  if (!text.includes('<')) return text;
  const bare = text.includes('</') ? text.replace(SCRIPT_BLOCK, ' ') : text;
  return bare.replace(TAG, ' ');
}

/**
 * One line of plain text, as a visitor of the site would read it: without markup, entities decoded once, then as
 * `cleanLine`. Brackets that were sent as entities are text (`&lt;Test&gt;`) unless they form HTML markup (`&lt;b&gt;`,
 * as the child escapes messages), so the result must be escaped when it is inserted into HTML.
 */
export function plainText(value: unknown, max: number): string {
  // Twice: the remains around a nested tag may form one.
  let bare = withoutMarkup(withoutMarkup(visible(raw(value, max))));
  // The remains of a truncated or nested tag must not look like the beginning of one.
  if (bare.includes('<')) bare = bare.replace(OPENING, ' ');
  const decoded = visible(decodeEntities(bare));
  return cleanLine(decoded.includes('<') ? withoutHtml(decoded) : decoded, max);
}

function withoutHtml(text: string): string {
  return text.replace(SCRIPT_BLOCK, ' ').replace(HTML, ' ').replace(HTML, ' ').replace(HTML_OPENING, ' ');
}

/**
 * One line, with every visible character unchanged: without control and bidi characters, blanks collapsed, at most
 * `max` characters.
 */
export function cleanLine(text: string, max: number): string {
  let line = visible(text);
  if (line.includes('  ')) line = line.replace(/ {2,}/g, ' ');
  return cut(line.replace(UNSEEN_START, '').trimEnd(), max);
}

/** JSON whose invisible characters are escapes, as they were sent: the same data, and no terminal acts on them. */
export function visibleJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return ORDINARY.test(text)
    ? text
    : text.replace(INVISIBLE, (char) =>
        Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
          '',
        ),
      );
}

/**
 * Text whose markup and line breaks belong to it (comments, excerpts): only invisible characters are removed, and the
 * length is bounded.
 */
export function richText(value: string, max: number): string {
  const text = raw(value, max);
  const kept = ORDINARY.test(text)
    ? text
    : text.replace(INVISIBLE, (char) => (char === '\n' || char === '\t' ? char : ''));
  return cut(kept, max);
}

/** An identifier kept exactly as sent (slugs go back to the child), or null if it is not a valid one. */
export function exactText(value: unknown, max: number): string | null {
  if (typeof value !== 'string' || value === '' || value.length > max) return null;
  return ORDINARY.test(value) || value.search(INVISIBLE) < 0 ? value : null;
}
