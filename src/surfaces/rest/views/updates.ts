/** Updates on offer and ignored updates as REST shows them: by site, by type, by slug (REST §6.13). */

import { fold, needle } from '../../../../schemas/fold.js';
import type { SnapshotTranslation } from '../../../../schemas/snapshot.js';
import type { Ctx } from '../../../domain/context.js';
import { narrowingOf, type UpdateFilters } from '../../../domain/extensions/offer-filters.js';
import { settingOf } from '../../../domain/settings/effects.js';
import { loadRecord } from '../../../domain/sites/sites.js';
import { REST_TYPES, type RestType } from '../../../domain/updates/by-type.js';
import { fixesOf } from '../../../domain/vulnerabilities/fixes.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import type { SiteOffer } from '../../../store/updates/by-site.js';
import { ignoredView } from './site-records.js';

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

export function typesOf(words: readonly ('all' | RestType)[]): number[] {
  if (words.length === 0 || words.includes('all')) return [];
  return words.map((word) => REST_TYPES.indexOf(word as RestType));
}

interface Asked {
  types: readonly number[];
  search?: string | undefined;
  include?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
  filters?: UpdateFilters | undefined;
}

/** One page of sites with their offers as `{site id: {type: {slug: entry}}}`. */
export async function updatesBySite(
  ctx: Ctx,
  { types: asked, search = '', include, exclude, filters = {} }: Asked,
  page: number,
  perPage: number,
) {
  const ids = include === undefined || include.length === 0 ? undefined : include;
  const [narrowing, types, all] = await Promise.all([
    narrowingOf(ctx, filters),
    shownTypes(ctx, asked),
    shownTypes(ctx, []),
  ]);
  if (types.length === 0 && asked.length > 0) return { total: 0, revision: await updatesRevision(ctx), data: {} };
  const filter = { types, search, ids, exclude, narrowing };
  const { offers, total, revision } = await ctx.store.siteUpdates.page(filter, page, perPage);
  // Numeric object keys are always sorted, so the list is in the order of the ids.
  const data: Record<number, Record<string, Record<string, object>>> = {};
  const fixes = await fixesOf(ctx, offers);
  for (const [at, offer] of offers.entries()) {
    const site = data[offer.site_id] ?? {};
    data[offer.site_id] = site;
    put(site, offer, fixes.get(at));
  }
  return { total, revision: revisionWith(revision, all), data };
}

function put(site: Record<string, Record<string, object>>, offer: SiteOffer, fixes: string[] | undefined): void {
  const type = REST_TYPES[offer.type];
  if (type === undefined) return;
  const ofType = site[type] ?? {};
  site[type] = ofType;
  const view = offerView(offer, type);
  ofType[offer.slug] = fixes === undefined ? view : { ...view, fixes };
}

function offerView(offer: SiteOffer, type: RestType): object {
  const { slug, name, current_version, new_version, active, site_status } = offer;
  const versions = { current_version, new_version, site_status };
  if (type === 'wp') return { Name: name, current: current_version, new: new_version, ...versions };
  if (type === 'translations')
    return { Name: name, slug, Version: current_version, ...versions, ...translationOf(offer.translation) };
  return { Name: name, Version: current_version, active, ...versions, update: { slug, new_version } };
}

function translationOf(known: string | null): SnapshotTranslation | { type: null; languages: [] } {
  return known === null ? { type: null, languages: [] } : (JSON.parse(known) as SnapshotTranslation);
}

/** `{wp, plugins, themes}`, each `{slug: {Name, ignored_versions}}`; for the whole fleet, or as applied to one site. */
export async function ignoredByType(
  ctx: Ctx,
  site: SiteRow | null,
  types: readonly ('all' | 'wp' | 'plugins' | 'themes')[],
  search = '',
) {
  const { siteUpdates } = ctx.store;
  const all = site === null ? await siteUpdates.ignoredEverywhere() : await siteUpdates.ignoredOn(site.id);
  const part = needle(search);
  const entries = all.filter(({ slug, name }) => fold(`${slug}\u001f${name}`).includes(part));
  const wanted = types.length === 0 || types.includes('all') ? (['plugins', 'themes', 'wp'] as const) : types;
  return Object.fromEntries(
    wanted.flatMap((word) => (word === 'all' ? [] : [[word, ignoredView(entries, REST_TYPES.indexOf(word))]])),
  );
}

/** Types of which a site ignores all updates. */
export async function ignoredTypes(ctx: Ctx, site: SiteRow): Promise<string[]> {
  const { ignore_core, ignore_plugins, ignore_themes } = await loadRecord(ctx, site.id);
  const flags = { wp: ignore_core, plugins: ignore_plugins, themes: ignore_themes };
  return Object.entries(flags).flatMap(([type, on]) => (on === 1 ? [type] : []));
}
