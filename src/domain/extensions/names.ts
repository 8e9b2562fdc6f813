/**
 * Matches plugins and themes by what people call them: the slug, the folder or file at its start, or the name, ignoring
 * case.
 */

import { fold } from '../../../schemas/fold.js';

/**
 * An item by one of its names. `alone`: only one site calls it so, and others otherwise. One that lies, or whose plugin
 * does, must not decide what a name means for all.
 */
export interface Named {
  slug: string;
  name: string;
  alone?: number;
}

/** Whether an item is known by this name. */
export function isCalled({ slug, name, alone = 0 }: Named, term: string): boolean {
  const wanted = fold(term.trim());
  return (alone === 0 && fold(name) === wanted) || slugForms(slug).includes(wanted);
}

/** A slug, and its folder or file, without case: names that no item gives to itself. */
export function slugForms(slug: string): string[] {
  const whole = fold(slug);
  return [whole, stem(whole)];
}

/**
 * The items known by this name. One slug may have several items, as sites report different names for it; an exact slug
 * means its own items only, whatever others are named.
 */
export function itemsCalled<Item extends Named>(known: readonly Item[], term: string): Item[] {
  const own = known.filter(({ slug }) => slug === term.trim());
  return own.length > 0 ? own : known.filter((item) => isCalled(item, term));
}

/** The slug that this name means; the name itself if no item or several are known by it. */
export function slugMeant(known: readonly Named[], term: string): string {
  const [slug, ...others] = new Set(itemsCalled(known, term).map((item) => item.slug));
  return slug === undefined || others.length > 0 ? term : slug;
}

/** `akismet` of `akismet/akismet.php`, `hello` of `hello.php`. */
function stem(slug: string): string {
  return slug.split('/', 1)[0]?.replace(/\.php$/, '') ?? slug;
}
