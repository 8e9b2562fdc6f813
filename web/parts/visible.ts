/** Shows what a browser would not: characters that are not seen, or that change the direction of others. */

/** Control characters but line breaks, and invisible ones: bidi overrides, joiners, tags, fillers. */
const UNSEEN = /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** JSON with each of them as its escape: the same data, and what is read is what it says. */
export function visible(json: string): string {
  return json.replace(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
}
