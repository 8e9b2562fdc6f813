/** Finds plugins and themes by what people call them. */

import { fold } from '../../../schemas/fold.js';
import type { Ctx } from '../context.js';
import { isCalled } from './names.js';

/**
 * Ids of the packages of a kind that are known by this name. If there are none, of those whose slug or name contains
 * the text.
 */
export async function packagesCalled(ctx: Ctx, kind: number, term: string): Promise<number[]> {
  const wanted = fold(term.trim());
  if (/^\p{ASCII}*$/u.test(wanted)) return ctx.store.fleetSearch.packagesCalled(kind, wanted);
  const known = await ctx.store.fleetSearch.packages(kind);
  const exact = known.filter((item) => isCalled(item, term));
  const holding = ({ slug, name }: { slug: string; name: string }) =>
    fold(slug).includes(wanted) || fold(name).includes(wanted);
  return (exact.length > 0 ? exact : known.filter(holding)).map(({ id }) => id);
}
