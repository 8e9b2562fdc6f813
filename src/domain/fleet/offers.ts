/** Updates on offer by item: how many sites each would reach, and what protects them. */

import { LEVELS, type Level } from '../../../schemas/search.js';
import type { Ctx } from '../context.js';
import { UPDATE_TYPES, type UpdateType } from '../updates/results.js';
import { compareVersions } from '../updates/versions.js';
import { levelNumbers } from './levels.js';

interface ItemQuery {
  types: readonly UpdateType[];
  levels: readonly Level[];
  search: string;
}

const numberOf = (type: UpdateType) => UPDATE_TYPES.indexOf(type);
const levelOf = (level: number | null) => (level === null ? null : (LEVELS[level] ?? null));

/** Newest first; versions that are not known are left out. */
function versionsOf(json: string): string[] {
  const versions = (JSON.parse(json) as string[]).filter((version) => version !== '');
  return versions.sort((a, b) => compareVersions(b, a));
}

/** One page of items, each with all versions that its sites have and are offered, newest first. */
export async function offeredItems(ctx: Ctx, query: ItemQuery, page: number, perPage: number) {
  const filter = {
    types: query.types.map(numberOf),
    levels: levelNumbers(query.levels),
    search: query.search,
    denied: ctx.actor.denied_sites,
  };
  const found = await ctx.store.fleetOffers.items(filter, page, perPage);
  const held = await ctx.store.fleetOffers.held(found.items);
  const items = found.items.map(({ type, slug, name, sites, guarded, current_versions, new_versions, level }) => {
    const offered = versionsOf(new_versions);
    return {
      type: UPDATE_TYPES[type] as UpdateType,
      slug,
      name,
      sites,
      guarded,
      level: levelOf(level),
      current_versions: versionsOf(current_versions),
      new_versions: offered,
      held_back: offered.filter((version) =>
        held.some((row) => row.type === type && row.slug === slug && row.version === version),
      ),
    };
  });
  return { items, total: found.total };
}

/** One page of the sites on which an item has an update. `guarded` null: its guard was never looked for, or was silent. */
export async function offeredSites(ctx: Ctx, type: UpdateType, slug: string, page: number, perPage: number) {
  const found = await ctx.store.fleetOffers.sites(numberOf(type), slug, ctx.actor.denied_sites, page, perPage);
  const items = found.items.map(({ guard, held, level, current_version, ...row }) => ({
    ...row,
    current_version: current_version === '' ? null : current_version,
    level: levelOf(level),
    guarded: guard === null || guard === 2 ? null : guard === 1,
    held_back: held === 1,
  }));
  return { items, total: found.total };
}
