/**
 * Previews of updates on many sites (`dry_run`): what would be applied where, from stored rows. No site is contacted.
 */

import { ServiceError } from '../../runtime/errors.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { chooseSites } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import { limitsOf, narrowingOf, narrowSites, type UpdateFilters, withinLimits } from '../extensions/offer-filters.js';
import { requireWritable } from '../sites/load.js';
import type { SiteRef } from '../sites/resolve.js';
import { type ApplyError, type TypeGroup, UPDATE_TYPES } from './results.js';
import { quarantinedErrors } from './safe/quarantine.js';
import {
  countsOf,
  notOffered,
  offerEntry,
  siteError,
  sitesWithUpdates,
  summaryOf,
  typeNumbers,
  unresolved,
} from './updates.js';

/** Maximum number of updates listed, and of those that are quarantined; the counts cover all. */
const LISTED = 200;

/** What `runUpdates` would do with the same arguments. */
export async function previewUpdates(
  ctx: Ctx,
  refs: readonly SiteRef[],
  groups: readonly TypeGroup[],
  specificItems: readonly string[],
  whenEmpty: (ctx: Ctx) => Promise<SiteRow[]> = sitesWithUpdates,
  filters: UpdateFilters = {},
) {
  const narrowing = await narrowingOf(ctx, filters);
  const selection = await chooseSites(ctx, refs, { whenEmpty });
  const types = typeNumbers(groups);
  if (narrowing !== undefined)
    selection.sites = await narrowSites(ctx, selection.sites, narrowing, types, refs.length > 0);
  const limits = narrowing === undefined ? {} : limitsOf(narrowing);
  const { usable, errors } = await usableSites(ctx, selection.sites);
  const wanted = new Set(specificItems);
  const found = (await ctx.store.updates.ofSites(usable, types)).filter(
    (offer) => (wanted.size === 0 || wanted.has(offer.slug)) && withinLimits(offer, limits),
  );
  const offers = found.filter(({ quarantined }) => quarantined !== 1);
  const refusing = new Set(found.map(({ site_id }) => site_id));
  for (const { site_id } of offers) refusing.delete(site_id);
  const nowhere = await notOffered(ctx, selection.sites, types, [...wanted]);
  const quarantined = await quarantinedErrors(
    ctx,
    found.filter(({ quarantined }) => quarantined === 1),
  );
  const all = [...selection.errors.map(unresolved), ...errors, ...nowhere];
  const guarded = await ctx.store.updatePlans.guarded();
  return {
    dry_run: true as const,
    queued: false,
    // `sites` counts those that the call covers, with or without updates, but none that only has quarantined ones.
    would_affect: {
      sites: usable.length - refusing.size,
      ...summaryOf(countsOf(offers)),
      // Of plugins and themes: nothing else is rolled back by a guard.
      unguarded_sites: new Set(
        offers.filter(({ type, site_id }) => isGuardable(type) && !guarded.has(site_id)).map(({ site_id }) => site_id),
      ).size,
    },
    would_update: inOrder(offers, usable).slice(0, LISTED).map(offerEntry),
    errors: [...all, ...quarantined.slice(0, LISTED)],
    total_errors: all.length + quarantined.length,
  };
}

/** The ids of the sites that may be changed, and why the others may not. */
export async function usableSites(
  ctx: Ctx,
  sites: readonly Pick<SiteRow, 'id' | 'url' | 'name'>[],
): Promise<{ usable: number[]; errors: ApplyError[] }> {
  const records = new Map((await ctx.store.sites.records(sites.map(({ id }) => id))).map((site) => [site.id, site]));
  const usable: number[] = [];
  const errors: ApplyError[] = [];
  for (const row of sites) {
    const site = records.get(row.id);
    if (site === undefined) continue;
    try {
      requireWritable({ site, connection: null });
      usable.push(row.id);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      errors.push(siteError(row, error));
    }
  }
  return { usable, errors };
}

/** Updates in the order of the sites that the caller chose. */
function inOrder(offers: readonly FleetOffer[], siteIds: readonly number[]): FleetOffer[] {
  const bySite = new Map<number, FleetOffer[]>();
  for (const offer of offers) {
    const known = bySite.get(offer.site_id);
    if (known === undefined) bySite.set(offer.site_id, [offer]);
    else known.push(offer);
  }
  return siteIds.flatMap((id) => bySite.get(id) ?? []);
}

/** Whether a guard rolls back updates of this type. */
function isGuardable(type: number): boolean {
  return UPDATE_TYPES[type] === 'plugin' || UPDATE_TYPES[type] === 'theme';
}
