/** Updates on offer and ignored updates as REST shows them: by site, by type, by slug (REST §6.13). */

import { fold, needle } from '../../../../schemas/fold.js';
import type { SnapshotTranslation } from '../../../../schemas/snapshot.js';
import type { Ctx } from '../../../domain/context.js';
import { loadRecord } from '../../../domain/sites/sites.js';
import { type AskedOffers, offersBySite } from '../../../domain/updates/by-site.js';
import { REST_TYPES, type RestType } from '../../../domain/updates/by-type.js';
import { CORE_SLUG, ignoredEntries } from '../../../domain/updates/ignored.js';
import type { IgnoredEntry } from '../../../store/sites/records.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import type { SiteOffer } from '../../../store/updates/by-site.js';
import { ignoredView } from './site-records.js';

export function typesOf(words: readonly ('all' | RestType)[]): number[] {
  if (words.length === 0 || words.includes('all')) return [];
  return words.map((word) => REST_TYPES.indexOf(word as RestType));
}

/** One page of sites with their offers as `{site id: {type: {slug: entry}}}`. */
export async function updatesBySite(ctx: Ctx, asked: AskedOffers, page: number, perPage: number) {
  const { offers, fixes, ...found } = await offersBySite(ctx, asked, page, perPage);
  // Numeric object keys are always sorted, so the list is in the order of the ids.
  const data: Record<number, Record<string, Record<string, object>>> = {};
  for (const [at, offer] of offers.entries()) {
    const site = data[offer.site_id] ?? {};
    data[offer.site_id] = site;
    put(site, offer, fixes.get(at));
  }
  return { ...found, data };
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
  const { slug, name, current_version, new_version, active, site_status, needs } = offer;
  const versions = { current_version, new_version, site_status };
  if (type === 'wp') return { Name: name, current: current_version, new: new_version, ...versions };
  if (type === 'translations')
    return { Name: name, slug, Version: current_version, ...versions, ...translationOf(offer.translation) };
  return {
    Name: name,
    Version: current_version,
    active,
    ...versions,
    ...(needs !== '' && { needs }),
    update: { slug, new_version },
  };
}

function translationOf(known: string | null): SnapshotTranslation | { type: null; languages: [] } {
  return known === null ? { type: null, languages: [] } : (JSON.parse(known) as SnapshotTranslation);
}

const CORE = REST_TYPES.indexOf('wp');

/** The entries with that of a site which ignores every version of WordPress: such a site has it as a flag only. */
function withCore(entries: readonly IgnoredEntry[]): IgnoredEntry[] {
  const others = entries.filter(({ type }) => type !== CORE);
  return [...others, { type: CORE, slug: CORE_SLUG, name: 'WordPress', version: '*' }];
}

/**
 * `{wp, plugins, themes}`, each `{slug: {Name, ignored_versions}}`; for the whole fleet, or as applied to one site.
 * @param whole types of which the site ignores all updates
 */
export async function ignoredByType(
  ctx: Ctx,
  site: SiteRow | null,
  types: readonly ('all' | 'wp' | 'plugins' | 'themes')[],
  search = '',
  whole: readonly string[] = [],
) {
  const listed = await ignoredEntries(ctx, site);
  const all = whole.includes('wp') ? withCore(listed) : listed;
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
