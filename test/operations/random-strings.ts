/** Random strings of characters with unusual case folding, outside the basic plane, or with a meaning in a search. */
const LETTERS = [
  ...'aAbBzZ019 éÉßẞςσΣİIıiǅДдЖжÅå東京店あア한글🙂𝒜%_\\"\'*-()',
  '\u0301',
  '\u00DF',
  '\u01C5',
  '\u0345',
  '\u017F',
  '\u00B5',
  '\u212A',
  '\u1E9B',
  '\u03D0',
  '\u2126',
  '\u0149',
  '\u01F0',
];

/** A deterministic source of strings. */
export function generateRandomString(seed: number): (length: number) => string {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return (length) =>
    Array.from({ length }, () => LETTERS[Math.floor(next() * LETTERS.length)])
      .join('')
      .trim();
}
