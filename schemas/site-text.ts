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
/** The beginning of a role tag, also of one that is never closed. */
const ROLE =
  /<(?=[\s/<]{0,40}(?:system|user|assistant|human|developer|tool|function|model|bos|eos|start_of_\w+|end_of_\w+)\b)/gi;
const QUOTES = /["“”„‟«»″]/g;

/** One pass over markup that may be nested or encoded: removing one tag can join the parts of another. */
function pass(text: string): string {
  return decodeEntities(text)
    .normalize('NFKC')
    .replace(BREAK, '\n')
    .replace(INVISIBLE, '')
    .replace(TAG, '\n')
    .replace(BRACKETED, '\n')
    .replace(MARKDOWN_LINK, '$1')
    .replace(TURN_OF_LINE, '')
    .replace(TURN, '');
}

/** One line of at most `max` characters in which nothing is markup, a link, a quote or a conversation marker. */
function harmless(value: unknown, max: number): string {
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
    .replace(/\s+/g, ' ')
    .trim()
    .replace(TURN_LEFT, '$1$2');
  return cut(plain, max);
}

/**
 * What a model could take for a part of the conversation, or fetch: marks of chat templates, the beginning of a turn,
 * links and images of Markdown.
 */
const MARKS = new RegExp(
  [
    /<\||\|>|<<\s{0,20}\/?\s{0,20}sys|<\s{0,20}\/?\s{0,20}s>/,
    ROLE,
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
  return MARKS.test(bare);
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

/** A sentence that is spelled like a slug, or as a path of many folders. */
const SENTENCE = /(?:[a-z]+[-_.+]){6}[a-z]|(?:[^/]+\/){5}/i;

/** A name, version, slug or path of a site for use within a sentence: unchanged if it is a plain word or a few, otherwise quoted. */
export function siteWord(text: string): string {
  return /^[\w.+~@/?=&%-]{1,100}$/.test(text) && !SENTENCE.test(text) ? text : `"${harmless(text, 100)}"`;
}
