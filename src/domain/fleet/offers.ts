/** Available updates by item: how many sites each would reach, and how they are protected. */

import { type Level, levelName } from '../../../schemas/search.js';
import type { Ctx } from '../context.js';
import { levelNumbers } from '../extensions/levels.js';
import { compareVersions } from '../sites/versions.js';
import { UPDATE_TYPES, type UpdateType } from '../updates/results.js';
import { fixesOf } from '../vulnerabilities/fixes.js';
import { feedState } from '../vulnerabilities/state.js';

interface ItemQuery {
  types: readonly UpdateType[];
  levels: readonly Level[];
  search: string;
}

const numberOf = (type: UpdateType) => UPDATE_TYPES.indexOf(type);
const TRANSLATION = numberOf('translation');

/** Newest first; unknown versions are left out. */
function versionsOf(json: string): string[] {
  const versions = (JSON.parse(json) as string[]).filter((version) => version !== '');
  return versions.sort((a, b) => compareVersions(b, a));
}

/** One page of items, each with all installed and offered versions of its sites, newest first. */
export async function offeredItems(ctx: Ctx, query: ItemQuery, page: number, perPage: number) {
  const filter = {
    types: query.types.map(numberOf),
    levels: levelNumbers(query.levels),
    search: query.search,
  };
  const found = await ctx.store.fleetOffers.items(filter, page, perPage);
  const [names, heldBack, fixing] = await Promise.all([
    ctx.store.fleetOffers.names(found.items, filter),
    ctx.store.fleetOffers.heldBack(found.items),
    fixedBy(ctx, found.items),
  ]);
  const items = found.items.map(({ type, slug, name, sites, guarded, current_versions, new_versions, level }) => {
    return {
      type: UPDATE_TYPES[type] as UpdateType,
      slug,
      // Not any name: one site could name an item for all others.
      name: names.find((row) => row.type === type && row.slug === slug)?.name ?? name,
      sites,
      guarded,
      level: levelName(level),
      current_versions: versionsOf(current_versions),
      new_versions: versionsOf(new_versions),
      ...fixing(type, slug),
      held_back: heldBack
        .filter((row) => row.type === type && row.slug === slug)
        .map(({ version }) => version)
        .sort((a, b) => compareVersions(b, a)),
    };
  });
  return { items, total: found.total };
}

const FIXES = 5;

/**
 * Which known vulnerabilities the update of an item fixes, and on how many sites. Null without a feed, because that is
 * unknown.
 */
async function fixedBy(ctx: Ctx, items: readonly { type: number; slug: string }[]) {
  const { known } = await feedState(ctx);
  const steps = known ? await ctx.store.fleetOffers.steps(items) : [];
  const fixes = await fixesOf(ctx, steps);
  return (type: number, slug: string): { fixing_sites: number | null; fixes: string[] } => {
    if (!known || type === TRANSLATION) return { fixing_sites: null, fixes: [] };
    const own = steps.flatMap((step, at) =>
      step.type === type && step.slug === slug && fixes.has(at)
        ? [{ sites: step.sites, fixed: fixes.get(at) ?? [] }]
        : [],
    );
    return {
      fixing_sites: own.reduce((sum, { sites }) => sum + sites, 0),
      fixes: [...new Set(own.flatMap(({ fixed }) => fixed))].slice(0, FIXES),
    };
  };
}

/**
 * One page of the sites on which an item has an update. `guarded` null: its guard was never checked, or did not
 * respond.
 */
export async function offeredSites(ctx: Ctx, type: UpdateType, slug: string, page: number, perPage: number) {
  const found = await ctx.store.fleetOffers.sites(numberOf(type), slug, page, perPage);
  const items = found.items.map(({ guard, level, current_version, ...row }) => ({
    ...row,
    current_version: current_version === '' ? null : current_version,
    level: levelName(level),
    guarded: guard === null || guard === 2 ? null : guard === 1,
  }));
  return { items, total: found.total };
}
