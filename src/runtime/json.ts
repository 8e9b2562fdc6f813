/**
 * Parses JSON from callers, within bounds: `JSON.parse` accepts any depth and number of members, but what walks the
 * value afterwards (schemas, copies between threads, `JSON.stringify`) overflows the stack or takes seconds.
 */

/** Deepest nesting of lists and objects. No input of the service has more than ten levels. */
const MAX_DEPTH = 64;
/** Maximum number of named members in all objects together. */
const MAX_MEMBERS = 10_000;

/** A value, or the problem with the text, phrased to follow its name: "is not valid JSON". */
export type Json = { value: unknown; problem?: undefined } | { problem: string };

export function readJson(text: string): Json {
  const problem = jsonProblem(text);
  if (problem !== undefined) return { problem };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { problem: 'is not valid JSON' };
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const BRACE = 0x7b;
/** How many characters of a name an error repeats. */
const SHOWN = 64;
const BLANK = /[ \t\r\n]*/y;

/**
 * Which bound the text breaks, if any, or which member an object names twice: `JSON.parse` silently keeps the last one,
 * so a call would do something other than it appears to. A single pass; whether the text is valid JSON is left to
 * `JSON.parse`.
 */
export function jsonProblem(text: string): string | undefined {
  /** Names seen in each open object; null for a list. */
  const open: (Set<string> | null)[] = [];
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = endOfString(text, i);
      const names = open.at(-1);
      if (names && isName(text, end)) {
        const name = unescaped(text.slice(i + 1, end));
        if (names.has(name)) return `names the member ${JSON.stringify(name.slice(0, SHOWN))} twice`;
        names.add(name);
      }
      i = end;
    } else if (code === COLON) {
      members += 1;
      if (members > MAX_MEMBERS) return `has more than ${MAX_MEMBERS.toLocaleString('en')} named members`;
    } else if (isOpening(code)) {
      open.push(code === BRACE ? new Set() : null);
      if (open.length > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
    } else if (isClosing(code)) {
      open.pop();
    }
  }
  return undefined;
}

/** Whether the string that ends at `end` is the name of a member. */
function isName(text: string, end: number): boolean {
  BLANK.lastIndex = end + 1;
  BLANK.test(text);
  return text.charCodeAt(BLANK.lastIndex) === COLON;
}

/** A name as `JSON.parse` reads it; as written if it cannot be parsed. */
function unescaped(written: string): string {
  if (!written.includes('\\')) return written;
  try {
    return String(JSON.parse(`"${written}"`));
  } catch {
    return written;
  }
}

/** `{` and `[`, which differ in one bit. */
function isOpening(code: number): boolean {
  return (code | 0x20) === 0x7b;
}

function isClosing(code: number): boolean {
  return (code | 0x20) === 0x7d;
}

/** The closing quote of the string that begins at `start`; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
