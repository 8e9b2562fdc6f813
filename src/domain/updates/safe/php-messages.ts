/**
 * Messages that PHP has written into an answer: warnings, notices, deprecations. Pure.
 *
 * A visitor's comment may hold the same text: WordPress lets `<b>` pass, and makes `<br />` of line breaks. So only
 * messages at places that no visitor can write to are PHP's for certain: before the document, and in its head.
 */

import { createHash } from 'node:crypto';

export interface PhpMessages {
  /** Where no visitor can write: kind and a hash of the file. */
  own: string[];
  /** Anywhere else, also escaped. */
  text: string[];
}

const KINDS = ['Warning', 'Notice', 'Deprecated', 'Strict Standards', 'Recoverable fatal error'] as const;
/** Each way in which a page may hold `<b>Warning</b>:`. */
const FORMS: readonly (readonly [open: string, close: string])[] = [
  ['<b>', '</b>'],
  ['<b>', '<\\/b>'],
  ['&lt;b&gt;', '&lt;/b&gt;'],
];
const LINE =
  /^(?:PHP )?(Warning|Notice|Deprecated|Strict Standards|Recoverable fatal error): .* in (.{1,500}) on line \d{1,9}$/;
const DOCUMENT = /<!doctype\b|<html\b/i;
const HEAD_ENDS = /<\/head\b|<(?:body|div|main|header|p)\b/i;
/** The longest message that is recognized. */
const LONGEST = 3_000;
/** Maximum number of messages that are looked at. */
const MOST = 50;

export function phpMessages(body: string): PhpMessages {
  const start = body.search(DOCUMENT);
  const before = start < 0 ? leadingMessage(body) : body.slice(0, start);
  const rest = body.slice(before.length);
  const headStart = rest.search(/<head\b/i);
  const headLength = headStart < 0 ? -1 : rest.slice(headStart).search(HEAD_ENDS);
  const head = headLength < 0 ? '' : rest.slice(headStart, headStart + headLength);
  const after = headLength < 0 ? rest : rest.slice(headStart + headLength);
  return {
    own: unique([
      ...linesOf(before),
      ...marked(before, FORMS.slice(0, 1)),
      ...marked(withoutTexts(head), FORMS.slice(0, 1)),
    ]),
    text: unique(marked(after, FORMS)),
  };
}

/** Kinds of messages that these keys stand for. */
export function kindsOf(keys: readonly string[]): string {
  return [...new Set(keys.map((key) => key.slice(0, key.lastIndexOf(' '))))].join(', ');
}

/** What stands before an answer that is no document, if it begins with a message: JSON, or the 0 of admin-ajax.php. */
function leadingMessage(body: string): string {
  const begin = body.slice(0, LONGEST * 2);
  const first = begin.trimStart().replace(/^<br \/>\s{0,10}/, '');
  const ours = KINDS.some((kind) => first.startsWith(`<b>${kind}</b>:`) || /^(?:PHP )?\w[\w ]{1,30}: /.test(first));
  return ours ? begin : '';
}

/** The head without what may hold other people's words. */
function withoutTexts(head: string): string {
  return head
    .replace(/<(script|style|noscript|template|title)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ');
}

/** Messages as PHP writes them without HTML. */
function linesOf(text: string): string[] {
  const found: string[] = [];
  for (const line of text.split('\n')) {
    if (line.length > LONGEST || found.length >= MOST) continue;
    const match = / on line \d{1,9}\s*$/.test(line.slice(-40)) ? LINE.exec(line.trim()) : null;
    if (match !== null) found.push(keyFor(match[1] ?? '', match[2] ?? ''));
  }
  return found;
}

/** Messages as PHP writes them with HTML. */
function marked(text: string, forms: typeof FORMS): string[] {
  const found: string[] = [];
  for (const kind of KINDS)
    for (const [open, close] of forms) {
      const sign = `${open}${kind}${close}:`;
      for (let at = text.indexOf(sign), seen = 0; at >= 0 && seen < MOST; at = text.indexOf(sign, at + 1), seen++) {
        const message = text.slice(at, at + LONGEST);
        const end = message.indexOf(` on line ${open}`);
        const from = message.slice(0, Math.max(end, 0)).lastIndexOf(` in ${open}`);
        if (from >= 0) found.push(keyFor(kind, message.slice(from, end)));
      }
    }
  return found;
}

function keyFor(kind: string, file: string): string {
  return `${kind} ${createHash('sha256')
    .update(file.replace(/<[^<>]*>| in /g, ''))
    .digest('hex')
    .slice(0, 8)}`;
}

function unique(keys: string[]): string[] {
  return [...new Set(keys)].slice(0, MOST);
}
