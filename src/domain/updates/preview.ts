/**
 * Previews of updates on many sites (`dry_run`): what would be applied where, from stored rows. No site is contacted.
 */

import { levelName } from '../../../schemas/search.js';
import type { ErrorCode } from '../../runtime/errors.js';
import { tally } from '../../runtime/tally.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { chooseSites } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import { limitsOf, narrowingOf, narrowSites, type UpdateFilters, withinLimits } from '../extensions/offer-filters.js';
import { guidanceFor } from '../guidance/guidance.js';
import { writableOf } from '../sites/load.js';
import type { Selection, SiteRef } from '../sites/resolve.js';
import { allSites } from '../sites/sites.js';
import { backupErrors, backupsAhead, needsBackup, REQUIRED } from './backup-first.js';
import { releasedAmong, releasedWords } from './released.js';
import { coreBySite, isBeyond, MISSING, missingError } from './requirements.js';
import { type ApplyError, isGuardable, type TypeGroup, UPDATE_TYPES } from './results.js';
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

/** Maximum number of updates listed, and of those that are left alone; the counts cover all. */
const LISTED = 200;

/** Maximum number of items counted one by one, and of sites named. */
const ITEMS = 30;

/**
 * What `runUpdates` would do with the same arguments.
 * @param leftOut sites that it passes over in silence if none is named
 */
export async function previewUpdates(
  ctx: Ctx,
  refs: readonly SiteRef[],
  groups: readonly TypeGroup[],
  specificItems: readonly string[],
  whenEmpty: (ctx: Ctx) => Promise<SiteRow[]> = sitesWithUpdates,
  filters: UpdateFilters = {},
  leftOut: (ctx: Ctx) => Promise<SiteRow[]> = suspendedSites,
) {
  const narrowing = await narrowingOf(ctx, filters);
  const selection = await chooseSites(ctx, refs, { whenEmpty });
  const types = typeNumbers(groups);
  let silent = refs.length === 0 ? await leftOut(ctx) : [];
  if (narrowing !== undefined) {
    selection.sites = await narrowSites(ctx, selection.sites, narrowing, types, refs.length > 0);
    silent = await narrowSites(ctx, silent, narrowing, types, false);
  }
  const limits = narrowing === undefined ? {} : limitsOf(narrowing);
  const wanted = new Set(specificItems);
  const found = (await ctx.store.updates.ofSites(idsOf([...selection.sites, ...silent]), types)).filter(
    (offer) => (wanted.size === 0 || wanted.has(offer.slug)) && withinLimits(offer, limits),
  );
  const nowhere = await notOffered(ctx, selection.sites, types, [...wanted]);
  return previewOf(ctx, selection, found, nowhere);
}

/**
 * What would become of these updates of the selected sites.
 * @param found with those that are quarantined, need more than their site has, or a backup that it cannot have, and those of suspended sites that are not selected, which are counted
 * @param nowhere as for `applyOn`
 */
export async function previewOf(
  ctx: Ctx,
  selection: Selection,
  found: readonly FleetOffer[],
  nowhere: readonly ApplyError[],
) {
  const { usable, errors } = await usableSites(ctx, selection.sites);
  const may = new Set(usable);
  const reasons = new Map([...selection.errors, ...errors].map(({ site_id, code }) => [site_id, code]));
  const obstacleOf = (offer: FleetOffer) => {
    const { site_id, quarantined } = offer;
    if (!may.has(site_id)) return reasons.get(site_id) ?? ('svc_site_suspended' satisfies ErrorCode);
    if (quarantined === 1) return 'svc_version_quarantined' satisfies ErrorCode;
    return isBeyond(offer) ? MISSING : undefined;
  };
  const backups = await backupsAhead(
    ctx,
    found.filter((offer) => obstacleOf(offer) === undefined),
  );
  const codeFor = (offer: FleetOffer) =>
    obstacleOf(offer) ?? (needsBackup(offer) && backups.refused.has(offer.site_id) ? REQUIRED : undefined);
  const offers = found.filter((offer) => codeFor(offer) === undefined);
  const unsafe = backupErrors(
    backups,
    found.filter(({ site_id }) => may.has(site_id)),
    (offer) => codeFor(offer) === REQUIRED,
  );
  const held = found.filter((offer) => codeFor(offer) === 'svc_version_quarantined');
  const beyond = found.filter((offer) => codeFor(offer) === MISSING);
  const cores = coreBySite(offers);
  const left = [
    ...unsafe,
    ...(await quarantinedErrors(ctx, held)),
    ...beyond.map((offer) => missingError(offer, cores)),
  ];
  const all = [...selection.errors.map(unresolved), ...nowhere, ...errors];
  const guarded = ctx.config.safe_updates === 'off' ? new Set() : await ctx.store.updatePlans.guarded();
  const affected = idsOf(offers.map(({ site_id: id }) => ({ id })));
  const down = affected.length === 0 ? new Set<number>() : await ctx.store.rolloutPlans.down(affected);
  const lookedAt = affected.filter((id) => down.has(id) && guarded.has(id));
  const guidance = affected.length === 0 ? undefined : await guidanceFor(ctx, affected);
  const known_risks = releasedWords(await releasedAmong(ctx, offers));
  // Of plugins and themes: nothing else is rolled back by a guard.
  const bare = offers.filter(({ type, site_id }) => isGuardable(type) && !guarded.has(site_id));
  return {
    dry_run: true as const,
    queued: false,
    would_affect: {
      sites: affected.length,
      ...summaryOf(countsOf(offers)),
      cannot_be_rolled_back: bare.length + offers.filter(({ type }) => !isGuardable(type)).length,
      sites_down: down.size,
      ...(lookedAt.length > 0 && { left_alone_if_still_down: lookedAt.slice(0, ITEMS) }),
      unguarded_sites: new Set(bare.map(({ site_id }) => site_id)).size,
      ...(backups.made.size > 0 && { backups_first: backups.made.size }),
      ...(known_risks.length > 0 && { known_risks }),
      by_item: byItem(offers),
    },
    will_be_skipped: [...tally(found.flatMap((offer) => codeFor(offer) ?? []))].map(([code, count]) => ({
      code,
      count,
    })),
    would_update: inOrder(offers, usable).slice(0, LISTED).map(offerEntry),
    errors: [...all, ...left.slice(0, LISTED)],
    total_errors: all.length + left.length,
    ...(guidance !== undefined && { guidance: guidance.lines }),
  };
}

/** Sites that a call on all passes over in silence. */
export function suspendedSites(ctx: Ctx): Promise<SiteRow[]> {
  return allSites(ctx, { status: ['suspended'] });
}

function idsOf(sites: readonly { id: number }[]): number[] {
  return [...new Set(sites.map(({ id }) => id))];
}

/** How many updates there are of each item and level, in words: those on most sites, and one entry for all others. */
function byItem(offers: readonly FleetOffer[]): string[] {
  const levels = new Map<string, string[]>();
  for (const { type, slug, level } of offers) {
    const item = `${UPDATE_TYPES[type]} ${slug}`;
    const word = levelName(level ?? null) ?? 'of an unknown level';
    const known = levels.get(item);
    if (known === undefined) levels.set(item, [word]);
    else known.push(word);
  }
  const items = [...levels].sort(([, a], [, b]) => b.length - a.length);
  const rest = items.slice(ITEMS);
  const line = (item: string, words: readonly string[]) => {
    const each = [...tally(words)].map(([word, count]) => `${count} ${word}`);
    return `${item}: ${words.length} (${each.join(', ')})`;
  };
  return [
    ...items.slice(0, ITEMS).map(([item, words]) => line(item, words)),
    ...(rest.length === 0
      ? []
      : [
          line(
            `${rest.length} more items`,
            rest.flatMap(([, words]) => words),
          ),
        ]),
  ];
}

/** The ids of the sites that may be changed, and why the others may not. */
export async function usableSites(
  ctx: Ctx,
  sites: readonly Pick<SiteRow, 'id' | 'url' | 'name'>[],
): Promise<{ usable: number[]; errors: ApplyError[] }> {
  const { writable, refused } = await writableOf(ctx, sites);
  return { usable: writable.map(({ id }) => id), errors: refused.map(({ site, error }) => siteError(site, error)) };
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
