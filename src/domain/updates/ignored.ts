/** Ignored updates: the dashboard's own bookkeeping, nothing is sent to the child (operations §5.6). */

import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { slugMeant } from '../extensions/names.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import { loadRecord } from '../sites/sites.js';
import { UPDATE_TYPES } from './results.js';

export type IgnorableType = 'core' | 'plugin' | 'theme';

/** Slug of the core update (operations §5.5). */
export const CORE_SLUG = 'platform';

export interface IgnoreChange {
  site_id: number;
  slugs: string[];
  /** The site's list of that type afterwards. */
  list: string[];
}

/**
 * Adds slugs to a site's list, or removes them, as `setListed` does, and says what ignores them all the same. An entry for
 * WordPress and the site's switch for core updates mean the same, so whichever way in set one, this lifts both.
 */
export async function setIgnored(
  ctx: Ctx,
  ref: SiteRef,
  type: IgnorableType,
  slugs: readonly string[],
  ignore: boolean,
  field = 'slugs',
): Promise<IgnoreChange & StillIgnored> {
  const change = await setListed(ctx, ref, type, slugs, ignore, field);
  if (ignore) return change;
  if (type === 'core') {
    const site = await loadRecord(ctx, change.site_id);
    if (site.ignore_core === 1) await setTypeIgnored(ctx, site, 'wp', false);
  }
  return { ...change, ...(await stillIgnored(ctx, change.site_id, type, change.slugs)) };
}

/**
 * Offers everything of a type again on a site: lifts the switch and what is listed by name. Returns the latter, and what
 * ignores any of it all the same.
 */
export async function unignoreType(
  ctx: Ctx,
  site: SiteRow,
  type: 'plugin' | 'theme',
): Promise<{ slugs: string[] } & StillIgnored> {
  await setTypeIgnored(ctx, site, WORD_OF[type], false);
  const slugs = await ctx.store.updates.ownIgnored(site.id, UPDATE_TYPES.indexOf(type));
  if (slugs.length > 0) await setListed(ctx, site.id, type, slugs, false);
  return { slugs, ...(await stillIgnored(ctx, site.id, type)) };
}

/** What ignores items that are not on the list of their site. */
interface StillIgnored {
  /** One sentence; absent if nothing does. */
  notice?: string;
}

/** The words of the switches of a whole site. */
export const WORD_OF = { core: 'wp', plugin: 'plugins', theme: 'themes' } as const;
/** The members of a site that those words set. */
export const FLAGS = { wp: 'ignore_core', plugins: 'ignore_plugins', themes: 'ignore_themes' } as const;

/** @param slugs undefined: every one of the type */
async function stillIgnored(
  ctx: Ctx,
  siteId: number,
  type: IgnorableType,
  slugs?: readonly string[],
): Promise<StillIgnored> {
  const site = await loadRecord(ctx, siteId);
  const entries = await ctx.store.siteUpdates.ignoredEverywhere();
  const ofType = entries.filter((entry) => entry.type === UPDATE_TYPES.indexOf(type)).map(({ slug }) => slug);
  const everywhere = [...new Set(ofType)].filter((slug) => slugs === undefined || slugs.includes(slug));
  const reasons: string[] = [];
  if (site[FLAGS[WORD_OF[type]]] === 1)
    reasons.push(
      `This site ignores all ${type} updates, which DELETE /v2/updates/${siteId}/ignore/${WORD_OF[type]} lifts.`,
    );
  if (everywhere.length > 0)
    reasons.push(`${everywhere.join(', ')} is ignored on every site, which ignore-update-everywhere-v1 lifts.`);
  return reasons.length === 0 ? {} : { notice: `Not on offer yet: ${reasons.join(' ')}` };
}

/** Hides or shows all updates of a type on a site (operations §5.6 "whole-site switches"). */
export async function setTypeIgnored(
  ctx: Ctx,
  site: SiteRow,
  type: keyof typeof FLAGS,
  ignore: boolean,
): Promise<void> {
  const flag = FLAGS[type];
  const before = await loadRecord(ctx, site.id);
  await ctx.store.siteSettings.change(site, { [flag]: ignore ? 1 : 0 }, ctx.clock.now());
  ctx.events.emit({
    name: ignore ? 'update.ignored' : 'update.unignored',
    site_id: site.id,
    facts: { type },
    changed: { [flag]: [before[flag], ignore ? 1 : 0] },
  });
}

/**
 * Adds slugs to a site's list for every version, or removes them. An item that the fleet knows may be called by its folder
 * or name: an entry of that text would ignore nothing.
 */
export async function setListed(
  ctx: Ctx,
  ref: SiteRef,
  type: IgnorableType,
  slugs: readonly string[],
  ignore: boolean,
  field = 'slugs',
): Promise<IgnoreChange> {
  const said = cleanSlugs(type, slugs, field);
  const site = await getSite(ctx, ref);
  const unique = await meantSlugs(ctx, site.id, type, said, ignore);
  const { list, before } = await ctx.store.updates.setIgnored(site.id, UPDATE_TYPES.indexOf(type), unique, ignore);
  for (const slug of unique) {
    const versions = before.filter((entry) => entry.slug === slug).map(({ version }) => version);
    ctx.events.emit({
      name: ignore ? 'update.ignored' : 'update.unignored',
      site_id: site.id,
      facts: { type, slug },
      changed: { ignored: [versions, ignore ? ['*'] : []] },
    });
  }
  return { site_id: site.id, slugs: unique, list };
}

/** What is on the list already is removed as it is called there. */
async function meantSlugs(
  ctx: Ctx,
  siteId: number,
  type: IgnorableType,
  said: readonly string[],
  ignore: boolean,
): Promise<string[]> {
  if (type === 'core') return [...said];
  const known = await ctx.store.fleetSearch.packages(type === 'plugin' ? 0 : 1);
  const listed = ignore ? [] : await ctx.store.updates.ignoredVersions(siteId, UPDATE_TYPES.indexOf(type), said);
  const meant = said.map((slug) => (listed.some((entry) => entry.slug === slug) ? slug : slugMeant(known, slug)));
  return [...new Set(meant)];
}

function cleanSlugs(type: IgnorableType, slugs: readonly string[], field: string): string[] {
  const unique = [...new Set(slugs.map((slug) => slug.trim()))];
  if (unique.length === 0 || unique.includes('')) {
    throw new ServiceError('svc_invalid_input', `${field} needs at least one slug, and none may be blank.`, {
      field,
      advice: 'Read the slugs with get-site-updates-v1.',
    });
  }
  if (type === 'core' && unique.some((slug) => slug !== CORE_SLUG)) {
    throw new ServiceError('svc_invalid_input', `For core the ${field} is always "${CORE_SLUG}".`, {
      field,
      advice: `Send "${CORE_SLUG}".`,
    });
  }
  return unique;
}

/** What is ignored on one site, by its own list or on every site; null = on every site. */
export function ignoredEntries({ store }: Ctx, site: { id: number } | null) {
  return site === null ? store.siteUpdates.ignoredEverywhere() : store.siteUpdates.ignoredOn(site.id);
}

/** @param perSite an entry for all sites once per site; otherwise once, with the site id 0 and the number of its sites */
export async function listIgnored(ctx: Ctx, perSite: boolean, page: number, perPage: number) {
  const { items, total } = await ctx.store.updates.ignored(perSite, page, perPage);
  return {
    ignored: items.map(({ type, versions, sites, until, ...row }) => ({
      ...row,
      ...(sites === null ? {} : { sites }),
      type: (UPDATE_TYPES[type] ?? 'plugin') as IgnorableType,
      ignored_version: versions,
      ...(until === null ? {} : { until: isoTime(until) ?? '' }),
    })),
    total,
  };
}
