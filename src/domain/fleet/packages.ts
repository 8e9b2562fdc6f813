/** Plugins and themes by what people call them. */

import { fold } from '../../../schemas/fold.js';
import type { Ctx } from '../context.js';

/**
 * Ids of the packages of a kind that are called so: by slug, by the folder or file that the slug begins with, or by name, in
 * any case. When none is, those whose slug or name holds the text.
 */
export async function packagesCalled(ctx: Ctx, kind: number, term: string): Promise<number[]> {
  const wanted = fold(term.trim());
  if (/^\p{ASCII}*$/u.test(wanted)) return ctx.store.fleetSearch.packagesCalled(kind, wanted);
  const known = (await ctx.store.fleetSearch.packages(kind)).map(({ id, slug, name }) => ({
    id,
    slug: fold(slug),
    name: fold(name),
  }));
  const exact = known.filter(({ slug, name }) => slug === wanted || name === wanted || stem(slug) === wanted);
  const found =
    exact.length > 0 ? exact : known.filter(({ slug, name }) => slug.includes(wanted) || name.includes(wanted));
  return found.map(({ id }) => id);
}

/** `akismet` of `akismet/akismet.php`, `hello` of `hello.php`. */
function stem(slug: string): string {
  return slug.split('/', 1)[0]?.replace(/\.php$/, '') ?? slug;
}
