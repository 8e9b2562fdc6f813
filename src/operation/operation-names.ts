/**
 * Finds operation names in our own texts (`list-sites-v1`, `svc/list-sites-v1`): each way in says what it calls the
 * same thing.
 */

const NAME = /(?<![\w/-])(?:svc\/)?[a-z]+(?:-[a-z]+)+-v\d+(?![\w-])/g;

/** Replaces names of operations in a text. */
export type Renaming = (text: string) => string;

/** @param wordsFor by id, `svc/list-sites-v1`; names without words stay as they are */
export function renaming(wordsFor: ReadonlyMap<string, string>): Renaming {
  return (text) => text.replace(NAME, (name) => wordsFor.get(name.startsWith('svc/') ? name : `svc/${name}`) ?? name);
}
