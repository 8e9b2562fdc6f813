/**
 * JSON as callers send it, within bounds: `JSON.parse` takes any depth and number of members, but what walks over the value
 * afterwards (schemas, copies between threads, `JSON.stringify`) overflows the stack or takes seconds.
 */

/** Deepest nesting of lists and objects. No input of ours has more than ten levels. */
const MAX_DEPTH = 64;
/** Named members of all objects together. */
const MAX_MEMBERS = 10_000;

/** A value, or what is wrong with the text, to go on after its name: "is not valid JSON". */
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

/** Which of the bounds the text breaks, if any; one walk. Whether it is JSON at all is for `JSON.parse` to tell. */
export function jsonProblem(text: string): string | undefined {
  let depth = 0;
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(text, i);
    } else if (code === COLON) {
      members += 1;
      if (members > MAX_MEMBERS) return `holds more than ${MAX_MEMBERS.toLocaleString('en')} named members`;
    } else if (isOpening(code)) {
      depth += 1;
      if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
    } else if (isClosing(code)) {
      depth -= 1;
    }
  }
  return undefined;
}

/** `{` and `[`, which differ in one bit. */
function isOpening(code: number): boolean {
  return (code | 0x20) === 0x7b;
}

function isClosing(code: number): boolean {
  return (code | 0x20) === 0x7d;
}

/** The closing quote of the string that begins at `start`; the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
