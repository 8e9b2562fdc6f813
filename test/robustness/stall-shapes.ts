/**
 * Values of up to a megabyte that are slow to process for a careless parser, pattern or list. As JSON, and as a form.
 */

/** Numbers from 0 (inclusive) to 1, deterministic for a seed. */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Shape = (bytes: number) => string;

const list = (item: (index: number) => string, most = Number.POSITIVE_INFINITY): Shape => {
  return (bytes) => {
    const items: string[] = [];
    for (let size = 2; items.length < most; size += (items.at(-1) as string).length + 1) {
      const next = item(items.length);
      if (size + Buffer.byteLength(next) + 1 > bytes) break;
      items.push(next);
    }
    return `[${items.join()}]`;
  };
};
const text = (part: string, before = '', after = ''): Shape => {
  return (bytes) => `"${before}${part.repeat(Math.floor((bytes - 40) / Buffer.byteLength(part)))}${after}"`;
};
const nested = (open: string, close: string, levels = 100_000): Shape => {
  return (bytes) => {
    const depth = Math.min(levels, Math.floor(bytes / (open.length + close.length)) - 1);
    return `${open.repeat(depth)}1${close.repeat(depth)}`;
  };
};
const members: Shape = (bytes) => {
  const count = Math.floor(bytes / 14);
  return `{${Array.from({ length: count }, (_, index) => `"name${index}":1`).join()}}`;
};

/** The maximum number of members of a list: these pass the length check. */
const FULL = 5000;

export const LISTS: Readonly<Record<string, Shape>> = {
  'empty lists': list(() => '[]'),
  'empty lists, not too many': list(() => '[]', FULL),
  nulls: list(() => 'null'),
  words: list((i) => `"x${i}"`),
  'words, not too many': list((i) => `"x${i}"`, FULL),
  'numbers, not too many': list((i) => `${i + 1}`, FULL),
  'unknown domains': list((i) => `"${'a'.repeat(60)}.${'b'.repeat(60)}.x${i}.example"`, FULL),
  'international domains': list((i) => `"${'ßẞé漢'.repeat(9)}${i}.example"`, FULL),
  'addresses with slashes': list((i) => `"https://www.a${i}.example/${'/'.repeat(150)}x"`, FULL),
  'long digits': list((i) => `"${'9'.repeat(180)}${i}"`, FULL),
  'long blanks': list((i) => `"${' '.repeat(9000)}x${i}"`, 100),
  'long slashes': list((i) => `"${'/'.repeat(9000)}${i}"`, 100),
  objects: list((i) => `{"id":${i},"slug":"x"}`),
  'objects, not too many': list((i) => `{"id":${i}}`, FULL),
};

export const OTHERS: Readonly<Record<string, Shape>> = {
  members,
  'deep lists': nested('[', ']'),
  'deep objects': nested('{"a":', '}'),
  'one letter': text('a'),
  'dots after an at sign': text('.', 'a@', ' '),
  'at signs': text('a@a.'),
  slashes: text('/', '', 'x'),
  dashes: text('-', '', 'x'),
  blanks: text(' ', 'a', 'b'),
  tags: text('<a'),
  brackets: text('['),
  digits: text('9'),
  commas: text('1,'),
  'comma list of words': text('a, '),
  'percent signs': text('%41'),
  colons: text('1:'),
  'an international address': text('漢é', 'http://'),
  'a long number': (bytes) => '9'.repeat(Math.min(bytes, 300_000)),
};

/** Forms and queries. */
export const FORMS: Readonly<Record<string, Shape>> = {
  'members with and without an index': (bytes) => {
    const count = Math.floor(bytes / 16);
    return `${Array.from({ length: count }, (_, i) => `a[${i + count}]=&`).join('')}${'a[]&'.repeat(count)}`.slice(
      0,
      bytes,
    );
  },
  'members without an index': (bytes) => 'a[]&'.repeat(bytes / 4),
  names: (bytes) => Array.from({ length: Math.floor(bytes / 8) }, (_, i) => `k${i}&`).join(''),
  'one deep name': (bytes) => `a${'[a]'.repeat(bytes / 3 - 1)}=1`,
  'deep names': (bytes) => 'a[b][c][d][e]=1&'.repeat(bytes / 16),
  ampersands: (bytes) => '&'.repeat(bytes),
  'opening brackets': (bytes) => '['.repeat(bytes),
  'percent signs': (bytes) => `a=${'%zz'.repeat(bytes / 3 - 1)}`,
  'comma list': (bytes) => `include=${'7,'.repeat(bytes / 2 - 4)}`,
  'asked members': (bytes) => `_fields=${'id.a,'.repeat(bytes / 5 - 2)}`,
};
