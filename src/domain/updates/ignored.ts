/** Ignored updates: the dashboard's own bookkeeping, nothing is sent to the child (operations §5.6). */

import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { Ctx } from '../context.js';
import { slugMeant } from '../extensions/names.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import { UPDATE_TYPES } from './results.js';

export type IgnorableType = 'core' | 'plugin' | 'theme';

/** Slug of the core update (operations §5.5). */
export const CORE_SLUG = 'platform';

/**
 * Adds slugs to a site's list for every version, or removes them; returns them, and the list of that type afterwards. An
 * item that the fleet knows may be called by its folder or name: an entry of that text would ignore nothing.
 */
export async function setIgnored(
  ctx: Ctx,
  ref: SiteRef,
  type: IgnorableType,
  slugs: readonly string[],
  ignore: boolean,
  field = 'slugs',
): Promise<{ site_id: number; slugs: string[]; list: string[] }> {
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
