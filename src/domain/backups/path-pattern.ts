/** Patterns of paths: `*` stands for any part of a name, `**` for any part of a path. */

const NAME = -1;
const PATH = -2;
const SLASH = '/'.charCodeAt(0);

/**
 * A test of paths. All places of the pattern that a path may have reached are followed at once, so that it takes time by the
 * length of both, where a regular expression may try for hours.
 */
export function pathPattern(text: string): (path: string) => boolean {
  const star = text.indexOf('*');
  if (star < 0) return (path) => path === text;
  const start = text.slice(0, star);
  const kinds = kindsOf(text.slice(star));
  const reached = new Uint8Array(kinds.length + 1);
  return (path) => path.startsWith(start) && matches(kinds, path, star, reached);
}

function kindsOf(text: string): Int32Array {
  const signs = text.match(/\*+|[^*]/g) ?? [];
  return Int32Array.from(signs, (sign) => (sign === '*' ? NAME : sign.startsWith('*') ? PATH : sign.charCodeAt(0)));
}

/**
 * @param from where the part of the path begins that is compared
 * @param reached of each place of the pattern whether the signs before it may stand for what was read; one more than signs
 */
function matches(kinds: Int32Array, path: string, from: number, reached: Uint8Array): boolean {
  const end = kinds.length;
  reached.fill(0);
  reached[0] = 1;
  for (let at = from; ; at++) {
    // Stars may stand for nothing.
    for (let place = 0; place < end; place++)
      if (reached[place] === 1 && (kinds[place] as number) < 0) reached[place + 1] = 1;
    if (at === path.length) return reached[end] === 1;
    const sign = path.charCodeAt(at);
    reached[end] = 0;
    for (let place = end - 1; place >= 0; place--) {
      if (reached[place] === 0) continue;
      const kind = kinds[place];
      if (kind === sign) reached[place + 1] = 1;
      if (kind !== PATH && (kind !== NAME || sign === SLASH)) reached[place] = 0;
    }
  }
}
