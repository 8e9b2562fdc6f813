/** Updates on offer by site, and the jobs that are still to apply some. */

import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { narrowingOf, type UpdateFilters } from '../extensions/offer-filters.js';
import { settingOf } from '../settings/effects.js';
import { fixesOf } from '../vulnerabilities/fixes.js';

const TRANSLATIONS = 3;
const ALL_TYPES = [0, 1, 2, TRANSLATIONS];

/** The types to show of those asked for, empty = all: translations only while the dashboard shows them. */
async function shownTypes(ctx: Ctx, asked: readonly number[]): Promise<readonly number[]> {
  if ((await settingOf(ctx, 'general', 'show_language_updates')) === 1) return asked;
  return (asked.length === 0 ? ALL_TYPES : asked).filter((type) => type !== TRANSLATIONS);
}

/** The revision of the list of updates by site, which depends on what the dashboard shows, too. */
export async function updatesRevision(ctx: Ctx): Promise<string> {
  const types = await shownTypes(ctx, []);
  return revisionWith(await ctx.store.siteUpdates.revision(), types);
}

function revisionWith(revision: string, types: readonly number[]): string {
  return types.length === 0 ? revision : `${revision}.${types.join('')}`;
}

export interface AskedOffers {
  types: readonly number[];
  search?: string | undefined;
  include?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
  filters?: UpdateFilters | undefined;
}

/** The offers of one page of sites, how many sites have any, and what each fixes, by its place in the list. */
export async function offersBySite(
  ctx: Ctx,
  { types: asked, search = '', include, exclude, filters = {} }: AskedOffers,
  page: number,
  perPage: number,
) {
  const ids = include === undefined || include.length === 0 ? undefined : include;
  const [narrowing, types, all] = await Promise.all([
    narrowingOf(ctx, filters),
    shownTypes(ctx, asked),
    shownTypes(ctx, []),
  ]);
  if (types.length === 0 && asked.length > 0)
    return { offers: [], total: 0, revision: await updatesRevision(ctx), fixes: new Map<number, string[]>() };
  const filter = { types, search, ids, exclude, narrowing };
  const { offers, total, revision } = await ctx.store.siteUpdates.page(filter, page, perPage);
  return { offers, total, revision: revisionWith(revision, all), fixes: await fixesOf(ctx, offers) };
}

/** A running update job that still has to update one of these sites; undefined sites = any update job. */
export async function runningUpdates(ctx: Ctx, sites: readonly SiteRow[] | undefined) {
  const { siteUpdates } = ctx.store;
  const any = await siteUpdates.runningJob('update');
  if (any === undefined || sites === undefined) return any;
  for (const { id } of sites) {
    const running = await siteUpdates.runningJob('update', id);
    if (running !== undefined) return running;
  }
  return undefined;
}
