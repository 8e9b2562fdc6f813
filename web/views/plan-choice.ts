/** What a person left out of the plan of updates: kept while other views are open, until the plan is applied. */

import { createStore } from '../api/store.js';

/** An item on every site; with a site, only there. */
export interface LeftItem {
  type: 'core' | 'plugin' | 'theme' | 'translation';
  slug: string;
  name: string;
  site_id?: number;
}

export interface Choice {
  /** By key. */
  items: ReadonlyMap<string, LeftItem>;
  /** Names by id. */
  sites: ReadonlyMap<number, string>;
}

export const EVERYTHING: Choice = { items: new Map(), sites: new Map() };
export const choice = createStore<Choice>(EVERYTHING);

export function keyOf({ type, slug, site_id }: Pick<LeftItem, 'type' | 'slug' | 'site_id'>): string {
  return `${type} ${slug} ${site_id ?? ''}`;
}

/** Takes an item in, or leaves it out. */
export function setItem(item: LeftItem, on: boolean): void {
  const { items, sites } = choice.get();
  const next = new Map(items);
  if (on) next.delete(keyOf(item));
  else next.set(keyOf(item), item);
  choice.set({ items: next, sites });
}

/** Takes a site in, or leaves it out. */
export function setSite(id: number, name: string, on: boolean): void {
  const { items, sites } = choice.get();
  const next = new Map(sites);
  if (on) next.delete(id);
  else next.set(id, name);
  choice.set({ items, sites: next });
}
