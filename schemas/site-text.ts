/**
 * Quotes text of a child site inside our own messages: errors, alerts, mails. A site may be hostile and a language
 * model may read its text, so it is always marked as the site's words, without anything that could pass for a part of
 * the conversation.
 */

import { cut, decodeEntities } from './text.js';

const MAX_WORDS = 300;

/*
 * Repetitions in the patterns are bounded, or cannot cross their own beginning: a text may be one character
 * a million times, and a pattern that looks ahead from each of them takes seconds.
 */

/** Line breaks of every kind; the text after one could be read as a new turn of a conversation. */
const BREAK = /\r\n?|[\n\v\f\u0085\u2028\u2029]/g;
/** Control, bidirectional, tag, zero-width and other invisible characters. */
const INVISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** HTML, role tags such as `<system>` and `</s>`, and `<|…|>`. */
const TAG = /<\s*[A-Za-z/!?|][^<>]{0,500}>/g;
/** `[INST]`, `[/INST]`, `[SYSTEM_PROMPT]`. */
const BRACKETED = /\[\s{0,20}\/?\s{0,20}(?:[A-Z_]{3,40}|inst|sys|system|user|assistant|human)\s{0,20}\]/g;
const MARKDOWN_LINK = /!?\[([^[\]]*)\] ?(?:\([^()]*\)|\[[^[\]]*\])/g;
const TURN_OF_LINE =
  /^[ \t>#*_=|-]*(?:human|assistant|user|system|developer|tool|function|model|ai|bot|instructions?|response)[ *_]*:/gim;
const TURN = /\b(?:human|assistant)[ *_]*:/gi;
/** A turn that remains after all passes: without its colon it is none. */
const TURN_LEFT = /\b(human|assistant)[ *_:]*:|^(\W*(?:system|user))[ *_:]*:/gi;
const ROLES = 'system|user|assistant|human|developer|tool|function|model|bos|eos|start_of_\\w+|end_of_\\w+';
/** The beginning of a role tag, also of one that is never closed. */
const ROLE = new RegExp(`<(?=[\\s/<]{0,40}(?:${ROLES})\\b)`, 'gi');
/** Where there is one, whatever stands before it. */
const ANY_ROLE = new RegExp(`<[\\s/]{0,40}(?:${ROLES})\\b`);
/** Whatever looks like the quotes around the words of a site, and with them would seem to end. */
const QUOTES =
  /["\u201c-\u201f«»\u2033\u2034\u2036\u2037\u2057\u02ba\u02dd\u02ee\u02f5\u02f6\u05f2\u05f4\u1cd3\u275d\u275e\u2760\u301d-\u301f\u3003\u2e42\u{1f676}-\u{1f678}]/gu;
/** Two single ones look like a double one. An accent without a letter has become one with a blank. */
const TWO_SINGLE_QUOTES =
  /['‘’‚‛`′‵\u02b9\u02bb-\u02bd\u02c8\u02ca\u02cb\u02f4\u05f3\u07f4\u07f5\ua78c]{2,}| \u0301 \u0301| [\u0308\u030b\u030e]/g;

/** Behind each letter of ASCII, and the colon, what looks like it in other alphabets. */
const ALIKE =
  'aаɑαᴀ bЬʙ cсϲᴄ dԁɗᴅ eеєɛᴇ fƒ gɡց hһհʜ iіıɩιɪ jјϳᴊ kкκᴋ lӏʟ mмᴍ nпոɴη oоοօᴏσ pрρᴘ qԛգ rгᴦʀ sѕꜱ tтτᴛ uսυцᴜ vѵνᴠ wԝωᴡ xхχ yуγүʏ zᴢ ' +
  'AАΑ BВΒ CСϹ DᎠ EЕΕ HНΗ IІΙӀ JЈ KКΚ LᏞ MМΜ NΝՈ OОΟՕ PРΡ SЅՏ TТΤ UՍ VѴ XХΧ YУΥҮ ZΖ :∶ː꞉˸։׃፡';
const LOOK_ALIKE = new Map<string, string>();
for (const [plain = '', ...others] of ALIKE.split(' ')) for (const other of others) LOOK_ALIKE.set(other, plain);
/** Latin letters with accents. */
for (const [from, to] of [[0xc0, 0x24f] as const, [0x1e00, 0x1eff] as const]) {
  for (let point = from; point <= to; point++) {
    const char = String.fromCodePoint(point);
    const [base = ''] = char.normalize('NFD');
    if (/[A-Za-z]/.test(base)) LOOK_ALIKE.set(char, base);
  }
}

/** The text with letters of ASCII in place of those that look like them, of the same length. */
function folded(text: string): string {
  return text.replace(
    /[\u00c0-\u058f\u05c3\u1361\u13a0-\u13f5\u1d00-\u1eff\u2236\ua731\ua789]/g,
    (char) => LOOK_ALIKE.get(char) ?? char,
  );
}

/** Removes what a pattern finds in the folded text; of a match, its first group is kept where there is one. */
function without(text: string, pattern: RegExp): string {
  let [kept, at] = ['', 0];
  for (const match of folded(text).matchAll(pattern)) {
    const [, word, first] = match;
    kept += text.slice(at, match.index + (word ?? first ?? '').length);
    at = match.index + match[0].length;
  }
  return at === 0 ? text : kept + text.slice(at);
}

/** One pass over markup that may be nested or encoded: removing one tag can join the parts of another. */
function pass(text: string): string {
  const bare = decodeEntities(text)
    .normalize('NFKC')
    .replace(BREAK, '\n')
    .replace(INVISIBLE, '')
    .replace(TAG, '\n')
    .replace(BRACKETED, '\n')
    .replace(MARKDOWN_LINK, '$1');
  return without(without(bare, TURN_OF_LINE), TURN);
}

/** One line of at most `max` characters in which nothing is markup, a link, a quote or a conversation marker. */
export function harmless(value: unknown, max: number): string {
  // The work is bounded by what can remain, not by the length of the input.
  let text = typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, max * 4 + 1000) : '';
  for (let passes = 0; passes < 8; passes++) {
    const next = pass(text);
    if (next === text) break;
    text = next;
  }
  const plain = text
    // Remains of markers that were truncated, nested too deeply, or unknown. A comparison such as `<5` stays.
    .replace(/<(?![\s\d=])|(?<![\s\d=])>/g, '')
    .replace(ROLE, '')
    .replace(/\[/g, '(')
    .replace(/\]/g, ')')
    .replace(/`/g, "'")
    .replace(QUOTES, "'")
    .replace(TWO_SINGLE_QUOTES, "'")
    .replace(/\s+/g, ' ')
    .trim();
  return cut(without(plain, TURN_LEFT), max);
}

/**
 * What a model could take for a part of the conversation, or fetch: marks of chat templates, the beginning of a turn,
 * links and images of Markdown.
 */
const MARKS = new RegExp(
  [
    /<\||\|>|<<\s{0,20}\/?\s{0,20}sys|<\s{0,20}\/?\s{0,20}s>/,
    ANY_ROLE,
    /\[\s{0,20}\/?\s{0,20}(?:inst|sys|system|user|assistant|human|system_prompt|available_tools|tool_calls|tool_results)\s{0,20}\]/,
    /!\[|\]\(|\]\[|<https?:/,
    /```/,
    /\b(?:human|assistant)[ *_]*:|^\W*(?:system|user)[ *_]*:/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);
/** Printable ASCII without any of these is nothing but a text, as most are. */
const PLAIN = /^[ !-%'-;=?-Z\\^_a-~]*$/;
const TURNS = /(?:human|assistant|system|user)[ *_]*:/i;

/** Whether a text has such a mark, however it is written. */
function isMarked(text: string): boolean {
  if (PLAIN.test(text) && !TURNS.test(text)) return false;
  let bare = text;
  for (let passes = 0; passes < 8; passes++) {
    const next = decodeEntities(bare).normalize('NFKC').replace(INVISIBLE, '');
    if (next === bare) break;
    bare = next;
  }
  return MARKS.test(bare) || MARKS.test(folded(bare));
}

/**
 * A text as a model may read it: unchanged unless a line of it has marks that are no part of a name; such a line loses
 * all markup.
 */
export function unmarked(text: string): string {
  if (!isMarked(text)) return text;
  return text
    .split('\n')
    .map((line) => (isMarked(line) ? harmless(line, line.length) : line))
    .join('\n');
}

/**
 * The same for a slug, which names one item: its signs are replaced and none is removed, so that it never becomes the
 * slug of another.
 */
export function unmarkedSlug(slug: string): string {
  return isMarked(slug) ? slug.replace(/[^\w.+~@/ -]/g, '_') : slug;
}

/** Quotes text of a site in a sentence of ours: `The site says: "…".`; '' if nothing is left of the text. */
export function siteSays(value: unknown): string {
  const words = harmless(value, MAX_WORDS).replace(/\.$/, '');
  return words === '' ? '' : `The site says: "${words}".`;
}

/** Words in other spellings than with blanks: `all_sites`, `AllSites`, `ALLSites`. */
const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g;
/** Of a slug, a version, or the file of a plugin, which often repeats its folder. More of them may be a sentence. */
const MOST_WORDS = 5;
const LONGEST_WORD = 20;
/** Single letters, as in versions that end in a digest. */
const MOST_LETTERS = 8;
/** A path of many folders. */
const DEEP = /(?:[^/]+\/){5}/;
/** A name of one of our operations or tools. */
const OPERATION = /[a-z]-[a-z]+-v\d/;

/** Whether it is short enough to say nothing: a version, a slug, the file of a plugin, the name of a table or a host. */
function isName(text: string): boolean {
  // Without `%`: what it encodes is a text of any kind.
  if (!/^[\w.+~@/?=&-]{1,100}$/.test(text) || DEEP.test(text) || OPERATION.test(text)) return false;
  const words = text.replace(/\.php$/i, '').match(WORD) ?? [];
  const whole = words.filter((word) => word.length > 1).map((word) => word.toLowerCase());
  return (
    new Set(whole).size <= MOST_WORDS &&
    whole.every((word) => word.length <= LONGEST_WORD) &&
    words.length - whole.length <= MOST_LETTERS
  );
}

/** A name, version, slug or path of a site for use within a sentence: unchanged if it is a short name, otherwise quoted. */
export function siteWord(text: string): string {
  return siteWords(text, 100);
}

/** The same for what is longer, such as a path that is looked for, or an error. At most `max` characters. */
export function siteWords(text: string, max: number): string {
  return isName(text) ? text : `"${harmless(text, max)}"`;
}
