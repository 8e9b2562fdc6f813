/** Bounds of the JSON that sites send, whose parts take far more memory and time than its bytes. */

/**
 * Accepted nesting, number of lists and maps, and of their members but the first: 24 MB of `[[],[],…` or `"a":1,"b":1,…` would
 * otherwise become half a gigabyte of heap. A site with 1,000 plugins sends some 30,000 members.
 */
const MAX_DEPTH = 64;
const MAX_CONTAINERS = 500_000;
const MAX_MEMBERS = 300_000;

/** Counts what is outside strings before anything is parsed; null = within limits. Whether it is JSON is left to the parser. */
export function shapeProblem(json: Buffer): string | null {
  let depth = 0;
  let containers = 0;
  let members = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === 0x22) {
      at = stringEnd(json, at);
      if (at < 0) return 'is not readable JSON';
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > MAX_DEPTH) return 'is nested too deeply';
      if (++containers > MAX_CONTAINERS) return 'has too many parts';
    } else if (byte === 0x2c) {
      if (++members > MAX_MEMBERS) return 'has too many parts';
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return null;
}

/** Index of the quote that ends the string starting at `start`, -1 if it never ends. */
function stringEnd(json: Buffer, start: number): number {
  let quote = json.indexOf(0x22, start + 1);
  while (quote >= 0) {
    let before = quote - 1;
    while (before > start && json[before] === 0x5c) before--;
    if ((quote - before) % 2 === 1) return quote;
    quote = json.indexOf(0x22, quote + 1);
  }
  return -1;
}
