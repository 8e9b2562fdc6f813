/** Reads and changes site records. */

import type { site as siteSchema } from '../../../schemas/site.js';
import type { z } from '../../../schemas/zod.js';
import { cursorAfter, type Place, placeOf, type SortKey } from '../../runtime/cursor.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { SiteFilter, SiteRow, TaggedSite } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { isStorageError } from '../storage-errors.js';
import { withStorageError } from '../storage-messages.js';
import { presentHealthScore } from './health.js';
import { getSite, removedMeanwhile, type SiteRef } from './resolve.js';
import { lastVisit, type Standing, standings, statusReasons } from './status.js';

/** A site as returned by get-site, add-site and update-site. */
export type SiteView = z.output<ReturnType<typeof siteSchema>>;

/** A site as the operations return it, with why it is not connected. */
export async function siteView(ctx: Ctx, site: TaggedSite): Promise<SiteView> {
  const reason = (await statusReasons(ctx, [site])).get(site.id);
  const visit = lastVisit(site);
  return {
    id: site.id,
    url: site.url,
    name: site.name,
    status: site.status,
    client_id: site.client_id,
    wp_version: site.wp_version,
    php_version: site.php_version,
    last_sync: isoTime(site.last_sync),
    admin_username: site.admin_username,
    child_version: site.child_version,
    notes: site.notes,
    status_reason: null,
    status_since: null,
    ...reason,
    last_check: { ...visit, checked_at: isoTime(visit.checked_at) },
    tags: JSON.parse(site.tags_json) as SiteView['tags'],
  };
}

/** These sites as they are now. */
export function sitesNow(ctx: Ctx, sites: readonly { id: number }[]) {
  return ctx.store.sites.candidates(sites.map(({ id }) => id));
}

/** One page of sites, with what is to be said of each beside its status. */
export async function listStandingSites(ctx: Ctx, filter: SiteFilter, page: number, perPage: number) {
  const { items, total } = await ctx.store.sites.list(filter, page, perPage);
  return { items: await withStandings(ctx, items), total };
}

/** The same rows, with what is to be said of each site beside its status. */
export async function withStandings<S extends SiteRow>(ctx: Ctx, sites: readonly S[]): Promise<(S & Standing)[]> {
  const known = await standings(ctx, sites);
  return sites.map((site) => ({ ...site, ...known.get(site.id) }));
}

/**
 * One page in URL order, found by its cursor; '' is the beginning. `next_cursor` is present while more follows, and
 * `page` counts the pages read in sequence. Throws `svc_invalid_input`.
 */
export async function listSitesFrom(ctx: Ctx, filter: SiteFilter, cursor: string, page: number, perPage: number) {
  const place = placeOf(filter, cursor, page);
  const found = await ctx.store.sites.listAfter(filter, place.after, perPage + 1);
  const { items, next_cursor } = pageFrom(filter, place, found.items, perPage);
  return {
    items: await withStandings(ctx, items),
    total: found.total,
    page: place.page,
    ...(next_cursor === undefined ? {} : { next_cursor }),
  };
}

/** A page of the items read, which include one more if there are more; and the cursor after it. */
export function pageFrom<T extends { place: string }>(
  question: unknown,
  place: Place,
  found: readonly T[],
  perPage: number,
): { items: T[]; next_cursor?: string } {
  const items = found.slice(0, perPage);
  const last = items.at(-1);
  if (found.length <= perPage || last === undefined) return { items };
  return { items, next_cursor: cursorAfter(question, JSON.parse(last.place) as SortKey, place.page) };
}

export function countSites(ctx: Ctx, filter: SiteFilter): Promise<number> {
  return ctx.store.sites.count(filter);
}

export function allSites(ctx: Ctx, filter: SiteFilter = {}): Promise<SiteRow[]> {
  return ctx.store.sites.all(filter);
}

/** The stored record of one site, by reference. */
export async function getRecord(ctx: Ctx, ref: SiteRef): Promise<TaggedSite> {
  const { id } = await getSite(ctx, ref);
  return loadRecord(ctx, id);
}

export async function loadRecord(ctx: Ctx, id: number): Promise<TaggedSite> {
  const record = await ctx.store.sites.record(id);
  if (record === undefined) throw removedMeanwhile(id);
  return record;
}

/** Counts exclude ignored updates, as list-updates does (operations §5.3). */
export async function siteWithStats(ctx: Ctx, site: TaggedSite) {
  const { offers } = await ctx.store.inventory.read(site.id);
  const open = offers.filter((offer) => offer.ignored === 0);
  return {
    ...(await siteView(ctx, site)),
    stats: {
      plugin_updates: open.filter((offer) => offer.type === 1).length,
      theme_updates: open.filter((offer) => offer.type === 2).length,
      wp_update_available: open.some((offer) => offer.type === 0),
      health_score: presentHealthScore(site),
    },
  };
}

/**
 * Refuses an unknown client or tag by name, in one round trip. @param tagLists lists of tag ids by the field that
 * contained them
 */
export async function requireLinks(
  ctx: Ctx,
  clientId: number | undefined,
  tagLists: Readonly<Record<string, readonly number[]>>,
): Promise<void> {
  const tags = [...new Set(Object.values(tagLists).flat())];
  if (clientId === undefined && tags.length === 0) return;
  const unknown = await ctx.store.sites.unknownLinks(clientId, tags);
  if (unknown.client !== null) {
    throw new ServiceError('svc_client_not_found', `client_id: no client has the id ${unknown.client}.`, {
      field: 'client_id',
      advice: 'Find the right id with list-clients-v1.',
    });
  }
  for (const [field, ids] of Object.entries(tagLists)) {
    const tag = ids.find((id) => unknown.tags.includes(id));
    if (tag === undefined) continue;
    throw new ServiceError('svc_tag_not_found', `${field}: no tag has the id ${tag}.`, {
      field,
      advice: 'Find the right ids with list-tags-v1.',
      data: { tag_ids: unknown.tags },
    });
  }
}

/** The error for a client or tag that was deleted between the check and the write. */
export function linkError(error: unknown): unknown {
  if (!isStorageError(error, 'foreign_key')) return error;
  return new ServiceError(
    'svc_invalid_input',
    'The client or a tag has been deleted in the meantime. Nothing changed.',
    {
      advice: 'Repeat the call with existing ids.',
      cause: error,
    },
  );
}

/** Deletes the record and everything that belongs to it. The child is not contacted and keeps its plugin. */
export async function deleteSite(ctx: Ctx, site: { id: number; url: string }): Promise<void> {
  const removed = await withStorageError('svc_deletion_failed', 'The site was not removed. Nothing changed.', () =>
    ctx.store.sites.remove(site.id),
  );
  if (!removed) throw removedMeanwhile(site.id);
  ctx.events.emit({ name: 'site.deleted', site_id: site.id, facts: { url: site.url } });
}

export const DELETE_WARNINGS: readonly string[] = [
  'This cannot be undone: the record, its keys and its history are permanently deleted.',
  'Links to tags, costs, ignore lists and monitors are removed.',
  'The child plugin stays on the site and is not notified.',
];
