/** Full records of sites: pages of a list, and everything that is known of each site on it. */

import { type Place, placeOf } from '../../runtime/cursor.js';
import type { OfferRow } from '../../store/sites/inventory.js';
import type { SiteTexts } from '../../store/sites/inventory-lists.js';
import type { ShownSite, SiteListFilter, SiteOrder, SitePart, SiteParts } from '../../store/sites/records.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { settingOf } from '../settings/effects.js';
import { pageFrom } from './sites.js';
import { type StatusReason, statusReasons } from './status.js';

/** Data of a site that is read in addition to its own columns. */
export type RecordPart = SitePart | 'plugins' | 'themes' | 'documents' | 'offers' | 'reason';

/** What is known of a site. Parts that were not asked for are empty. */
export interface SiteKnowledge {
  site: ShownSite;
  parts: SiteParts;
  /** JSON as stored. */
  texts: SiteTexts;
  /** Available updates, including ignored ones. */
  offers: readonly OfferRow[];
  reason: StatusReason | undefined;
  /** Score from which the health of a site without its own threshold is good. */
  goodHealth: number;
}

/** One page, by its number or by the cursor from the previous page, with the cursor of the next one. */
export async function pageOfSites(
  ctx: Ctx,
  filter: SiteListFilter,
  order: { by: SiteOrder; descending: boolean },
  asked: { page: number; per_page: number; cursor?: string | undefined },
): Promise<{ items: SiteRow[]; paging: { total: number; page: number; per_page: number; next_cursor?: string } }> {
  const { page, per_page, cursor } = asked;
  const question = [order, filter];
  const place: Place = cursor === undefined ? { page } : placeOf(question, cursor, page);
  const start = cursor === undefined ? { skip: offset(page, per_page) } : { after: place.after };
  const found = await ctx.store.siteRecords.list(filter, order, start, per_page + 1);
  const { items, ...next } = pageFrom(question, place, found.items, per_page);
  return { items, paging: { total: found.total, page: place.page, per_page, ...next } };
}

/** Rows to skip, at most the largest safe integer: a page that far is simply past the end. */
function offset(page: number, perPage: number): number {
  return Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
}

export function countRecords(ctx: Ctx, filter: SiteListFilter): Promise<number> {
  return ctx.store.siteRecords.count(filter);
}

const STORED_PARTS = ['tags', 'client', 'ignored'] as const;

/** Everything asked for, in the order of the rows. Sites removed meanwhile are left out. */
export async function readRecords(
  ctx: Ctx,
  rows: readonly SiteRow[],
  asked: (part: RecordPart) => boolean,
): Promise<SiteKnowledge[]> {
  const ids = rows.map(({ id }) => id);
  const wanted = { plugins: asked('plugins'), themes: asked('themes'), documents: asked('documents') };
  const [goodHealth, records, parts, texts, offers, reasons] = await Promise.all([
    settingOf(ctx, 'monitoring', 'svc_sitehealth_threshold'),
    ctx.store.siteRecords.shown(ids),
    ctx.store.siteRecords.parts(ids, STORED_PARTS.filter(asked)),
    ctx.store.inventoryLists.texts(ids, wanted),
    ctx.store.inventoryLists.offers(asked('offers') ? ids : []),
    statusReasons(ctx, asked('reason') ? rows : []),
  ]);
  return ids.flatMap((id) => {
    const [site, part, text] = [records.get(id), parts.get(id), texts.get(id)];
    if (site === undefined || part === undefined || text === undefined) return [];
    return [{ site, parts: part, texts: text, offers: offers.get(id) ?? [], reason: reasons.get(id), goodHealth }];
  });
}

/** The tags of each of these sites, by its id. */
export async function tagsOfSites(ctx: Ctx, rows: readonly SiteRow[]): Promise<ReadonlyMap<number, SiteParts['tags']>> {
  const ids = rows.map(({ id }) => id);
  const parts = await ctx.store.siteRecords.parts(ids, ['tags']);
  return new Map([...parts].map(([id, { tags }]) => [id, tags]));
}
