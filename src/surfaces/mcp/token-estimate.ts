/**
 * Estimates how many tokens a text costs a model, without a tokenizer: tokenizers are megabytes large and differ
 * between models. Words count by length, digits by threes, other characters one by one, so that identifiers and JSON,
 * which cost twice as much as prose of the same length, are not underestimated. `test/mcp/token-estimate.test.ts`
 * compares it with a real tokenizer.
 */

/** A word up to this length is one token; a longer one is probably an identifier or random text. */
const WORD = 7;
const PER_FURTHER_LETTER = 0.5;
/** Capitals are seldom merged: `WP` is one token, `QXZJ` are three. */
const PER_CAPITAL = 0.6;
/** A change from capital to lower case costs nothing in `Press`, but a token in most random text. */
const CASE_CHANGE = 0.5;
const PER_MARK = 0.65;
const PER_BLANK = 0.25;
/** Random letters and digits cost this much more than their parts. */
const MARGIN = 1.07;
/** Half of a surrogate pair, and one unit of a rare script. */
const RAREST = 2;
/** The most that one UTF-16 code unit is estimated at. */
export const MOST_PER_CODE_UNIT = RAREST * MARGIN;

enum Kind {
  Mark,
  Blank,
  Digit,
  Lower,
  Upper,
}

/** Tokens of a text, rounded up. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(tokenWeight(text));
}

/** Tokens of a value as JSON, rounded up. */
export function estimateTokens(value: unknown): number {
  return estimateTextTokens(JSON.stringify(value) ?? '');
}

/** Tokens of a text as a fraction. When texts are joined between words, their weights add up. */
export function tokenWeight(text: string): number {
  let weight = 0;
  let run = 0;
  let before = Kind.Mark;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) {
      weight += wideWeight(code);
      before = Kind.Mark;
      continue;
    }
    const kind = kindOf(code);
    // `Press` is one word: the capital starts it.
    const changesCase = kind === Kind.Lower && before === Kind.Upper;
    run = kind === before || changesCase ? run + 1 : 1;
    before = kind;
    if (kind === Kind.Mark) weight += PER_MARK;
    else if (kind === Kind.Blank) weight += PER_BLANK;
    else if (kind === Kind.Digit) weight += run % 3 === 1 ? 1 : 0;
    else if (kind === Kind.Upper) weight += run === 1 ? 1 : PER_CAPITAL;
    else if (run === 1) weight += 1;
    else if (changesCase) weight += CASE_CHANGE;
    else if (run > WORD) weight += PER_FURTHER_LETTER;
  }
  return weight * MARGIN;
}

function kindOf(code: number): Kind {
  if (code >= 0x61 && code <= 0x7a) return Kind.Lower;
  if (code >= 0x41 && code <= 0x5a) return Kind.Upper;
  if (code >= 0x30 && code <= 0x39) return Kind.Digit;
  return code <= 0x20 ? Kind.Blank : Kind.Mark;
}

/** Weight beyond ASCII: alphabets are cheap, rare scripts cost up to a token per byte: 2 for half a surrogate pair. */
function wideWeight(code: number): number {
  if (code < 0x800) return 1;
  if (code >= 0xd800 && code <= 0xdfff) return RAREST;
  return (code >= 0xf00 && code < 0x2e80) || code >= 0xa000 ? RAREST : 1.5;
}
