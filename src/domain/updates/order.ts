/** The order in which items of one site are updated: dependencies first, WordPress itself late. Pure. */

import type { FleetOffer } from '../../store/updates/updates.js';

/** Numbers of the update types: plugins, themes, core, translations. */
const TURN: readonly number[] = [2, 0, 1, 3];

/** Sorts plugins by their dependencies, as far as names show them: `shop` before `shop-payments`. */
export function inOrder(offers: readonly FleetOffer[]): FleetOffer[] {
  const folders = offers.filter(({ type }) => type === 1).map(({ slug }) => folderOf(slug));
  const depth = (offer: FleetOffer) =>
    offer.type === 1 ? folders.filter((folder) => folderOf(offer.slug).startsWith(`${folder}-`)).length : 0;
  return offers
    .map((offer, at) => ({ offer, at, turn: TURN[offer.type] ?? 0, depth: depth(offer) }))
    .sort((a, b) => a.turn - b.turn || a.depth - b.depth || a.at - b.at)
    .map(({ offer }) => offer);
}

function folderOf(slug: string): string {
  return slug.split('/')[0] ?? slug;
}
