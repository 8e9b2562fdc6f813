/**
 * Matches plugins and themes by what people call them: the slug, the folder or file at its start, or the name, ignoring
 * case.
 */

import { fold } from '../../../schemas/fold.js';

/** Whether an item is known by this name. */
export function isCalled({ slug, name }: { slug: string; name: string }, term: string): boolean {
  const wanted = fold(term.trim());
  return fold(name) === wanted || fold(slug) === wanted || stem(fold(slug)) === wanted;
}

/** `akismet` of `akismet/akismet.php`, `hello` of `hello.php`. */
function stem(slug: string): string {
  return slug.split('/', 1)[0]?.replace(/\.php$/, '') ?? slug;
}
