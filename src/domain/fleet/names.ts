/** What plugins and themes are called: by slug, by the folder or file that begins the slug, or by name, in any case. */

import { fold } from '../../../schemas/fold.js';

/** Whether an item is called so. */
export function isCalled({ slug, name }: { slug: string; name: string }, term: string): boolean {
  const wanted = fold(term.trim());
  return fold(name) === wanted || fold(slug) === wanted || stem(fold(slug)) === wanted;
}

/** `akismet` of `akismet/akismet.php`, `hello` of `hello.php`. */
function stem(slug: string): string {
  return slug.split('/', 1)[0]?.replace(/\.php$/, '') ?? slug;
}
