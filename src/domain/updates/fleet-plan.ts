/** The plan of updating the fleet: sites by items with their risks, and what all of it would come to. */

import { levelName } from '../../../schemas/search.js';
import type { PlanWindow } from '../../store/updates/plan.js';
import type { Ctx } from '../context.js';
import { NO_NARROWING, narrowingOf, type UpdateFilters } from '../extensions/offer-filters.js';
import { isOutdated } from '../sites/load.js';
import { needsBackup, sitesWithoutBackup } from './backup-first.js';
import { usableSites } from './preview.js';
import { UPDATE_TYPES } from './results.js';

/** A window of the matrix. What it counts is what an update with the same filters applies. */
export async function updatePlan(ctx: Ctx, types: readonly number[], filters: UpdateFilters, window: PlanWindow) {
  const { updatePlans, fleetOffers } = ctx.store;
  const narrowing = (await narrowingOf(ctx, filters)) ?? NO_NARROWING;
  const [versions, refused] = await Promise.all([updatePlans.childVersions(), sitesWithoutBackup(ctx)]);
  const found = await updatePlans.window({ types, narrowing, outdated: versions.filter(isOutdated), refused }, window);
  const unsafe = new Set(refused);
  const [names, { errors }] = await Promise.all([
    fleetOffers.names(found.items, { types: [], levels: [], search: '' }),
    usableSites(
      ctx,
      found.sites.map(({ site_id: id, site_url: url, site_name: name }) => ({ id, url, name })),
    ),
  ]);
  const obstacles = new Map(errors.map(({ site_id, message }) => [site_id, message]));
  const places = new Map(found.items.map(({ type, slug }, at) => [`${type} ${slug}`, at]));
  return {
    total: found.total,
    total_items: found.total_items,
    totals: found.totals,
    items: found.items.map(({ type, slug, name, level, sites, quarantined }) => ({
      type: UPDATE_TYPES[type] ?? ('plugin' as const),
      slug,
      // Not any name: one site could name an item for all others.
      name: names.find((one) => one.type === type && one.slug === slug)?.name ?? name ?? slug,
      level: levelName(level),
      sites,
      quarantined,
    })),
    sites: found.sites.map(({ guard, down, namesake, ...site }) => ({
      ...site,
      namesake: namesake === 1,
      guarded: guard === null || guard === 2 ? null : guard === 1,
      down: down === 1,
      obstacle: obstacles.get(site.site_id) ?? null,
      cells: found.cells
        .filter(({ site_id }) => site_id === site.site_id)
        .map(({ type, slug, level, quarantined, elsewhere, needs, current_version, new_version }) => ({
          item: places.get(`${type} ${slug}`) ?? 0,
          current_version,
          new_version,
          level: levelName(level),
          quarantined: quarantined === 1,
          quarantined_elsewhere: elsewhere === 1,
          needs: needs || (needsBackup({ type }) && unsafe.has(site.site_id) ? 'a recent backup' : null),
        })),
    })),
  };
}
