/** Sites as the REST interface shows them: the list view and the full record (REST §4.1). */

import type { Ctx } from '../../../domain/context.js';
import { settingOf } from '../../../domain/settings/effects.js';
import { presentHealthScore } from '../../../domain/sites/health.js';
import { pageFrom, visible, withStandings } from '../../../domain/sites/sites.js';
import {
  lastVisit,
  type Standing,
  type StatusReason,
  standingIn,
  statusReasons,
} from '../../../domain/sites/status.js';
import { type Place, placeOf } from '../../../runtime/cursor.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type { OfferRow } from '../../../store/sites/inventory.js';
import type {
  IgnoredEntry,
  ShownSite,
  SiteListFilter,
  SiteOrder,
  SitePart,
  SiteParts,
} from '../../../store/sites/records.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import { JsonText, Sections } from '../json-text.js';
import { activeTheme, pluginEntry, themeEntries } from './extensions.js';
import { isListed, MEMBERS, type Part, partOf } from './record-parts.js';
import { statusText } from './status-text.js';

export interface RecordOptions {
  with_tags: boolean;
  /** Inventory, offers and recent content too. */
  full_data: boolean;
  /** Requested members; undefined = all. Data that none of them needs is not read. */
  fields: readonly string[] | undefined;
}

/** One page, by its number or by the cursor from the previous page, with the cursor of the next one. */
export async function listRecords(
  ctx: Ctx,
  filter: SiteListFilter,
  order: { by: SiteOrder; descending: boolean },
  asked: { page: number; per_page: number; cursor?: string | undefined },
): Promise<{ items: SiteRow[]; paging: { total: number; page: number; per_page: number; next_cursor?: string } }> {
  const { page, per_page, cursor } = asked;
  const question = [order, filter];
  const place: Place = cursor === undefined ? { page } : placeOf(question, cursor, page);
  const start = cursor === undefined ? { skip: offset(page, per_page) } : { after: place.after };
  const found = await ctx.store.siteRecords.list(visible(ctx, filter), order, start, per_page + 1);
  const { items, ...next } = pageFrom(question, place, found.items, per_page);
  return { items, paging: { total: found.total, page: place.page, per_page, ...next } };
}

/** Rows to skip, at most the largest safe integer: a page that far is simply past the end. */
function offset(page: number, perPage: number): number {
  return Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
}

export function countRecords(ctx: Ctx, filter: SiteListFilter): Promise<number> {
  return ctx.store.siteRecords.count(visible(ctx, filter));
}

/** Views of a page of sites, in the given order. Sites removed meanwhile are left out. */
export async function siteRecords(ctx: Ctx, rows: readonly SiteRow[], options: RecordOptions): Promise<object[]> {
  const ids = rows.map(({ id }) => id);
  const asked = (part: Part) => options.fields?.some((name) => partOf(name) === part) ?? true;
  const withTags = options.with_tags && asked('tags');
  const tags: SitePart[] = withTags ? ['tags'] : [];
  const whole = options.full_data && (options.fields?.some((name) => !isListed(name)) ?? true);
  if (!whole) {
    const parts = withTags ? await ctx.store.siteRecords.parts(ids, tags) : NO_PARTS;
    const shown = await withStandings(ctx, rows);
    return shown.map((row) => (withTags ? { ...listView(row), ...tagsView(parts.get(row.id)) } : listView(row)));
  }
  const [goodHealth, records, parts, texts, offers, reasons] = await Promise.all([
    settingOf(ctx, 'monitoring', 'svc_sitehealth_threshold'),
    ctx.store.siteRecords.shown(ids),
    ctx.store.siteRecords.parts(ids, [...tags, ...LISTED_PARTS.filter(asked)]),
    ctx.store.inventoryLists.texts(ids, {
      plugins: asked('plugins'),
      themes: asked('themes'),
      documents: asked('documents'),
    }),
    ctx.store.inventoryLists.offers(asked('offers') ? ids : []),
    statusReasons(ctx, asked('reason') ? rows : []),
  ]);
  return ids.flatMap((id) => {
    const site = records.get(id);
    const part = parts.get(id);
    const text = texts.get(id);
    if (site === undefined || part === undefined || text === undefined) return [];
    const { head, tail } = fullView(site, {
      parts: part,
      offers: offers.get(id) ?? [],
      reason: reasons.get(id),
      goodHealth,
      active_theme: text.active_theme,
    });
    const middle = new Map(TEXTS.map((name) => [name, new JsonText(text[name])]));
    return [new Sections([head, middle, tail, ...(withTags ? [tagsView(part)] : [])])];
  });
}

/** The full record of one site. */
export async function siteRecord(ctx: Ctx, row: SiteRow, withTags = true): Promise<object> {
  const ids = [row.id];
  const [goodHealth, records, parts, { extensions, offers }, reasons] = await Promise.all([
    settingOf(ctx, 'monitoring', 'svc_sitehealth_threshold'),
    ctx.store.siteRecords.shown(ids),
    ctx.store.siteRecords.parts(ids, [...(withTags ? (['tags'] as const) : []), ...LISTED_PARTS, 'documents']),
    ctx.store.inventory.read(row.id),
    statusReasons(ctx, [row]),
  ]);
  const site = records.get(row.id);
  const part = parts.get(row.id);
  // Removed meanwhile.
  if (site === undefined || part === undefined) return listView(row);
  const known = { parts: part, offers, reason: reasons.get(row.id), goodHealth, active_theme: activeTheme(extensions) };
  const { head, tail } = fullView(site, known);
  return {
    ...head,
    plugins: extensions.filter(({ kind }) => kind === 0).map(pluginEntry),
    themes: themeEntries(extensions),
    ...documentsView(part.documents),
    ...tail,
    ...(withTags ? tagsView(part) : {}),
  };
}

const NO_PARTS: ReadonlyMap<number, SiteParts> = new Map();
const LISTED_PARTS = ['client', 'ignored'] as const;
/** Members that come from storage as JSON text, in the order of the record. */
const TEXTS = ['plugins', 'themes', 'recent_posts', 'recent_pages', 'recent_comments', 'categories'] as const;

export function listView({ id, name, url, status, client_id, ...more }: SiteRow & Standing) {
  return { id, name, url, status, client_id, ...standingIn(more) };
}

/** `tags` as `{id: name}`, the form that clients know, and complete tags in `tag_list`. */
function tagsView(parts: SiteParts | undefined) {
  const tags = parts?.tags ?? [];
  return { tags: Object.fromEntries(tags.map(({ id, name }) => [id, name])), tag_list: tags };
}

interface RecordParts {
  parts: SiteParts;
  offers: readonly OfferRow[];
  reason: StatusReason | undefined;
  /** Score from which the health of a site without its own threshold is good. */
  goodHealth: number;
  active_theme: string | null;
}

/** The members of a record before and after plugins, themes and recent content. */
function fullView(site: ShownSite, known: RecordParts): { head: object; tail: object } {
  const { parts, reason } = known;
  const visit = lastVisit(site);
  const score = presentHealthScore(site);
  const head = {
    id: site.id,
    name: site.name,
    url: site.url,
    status: site.status,
    client_id: site.client_id,
    client_name: parts.client_name,
    admin_username: site.admin_username,
    note: site.notes,
    notes: site.notes,
    ip: orNull(site.ip),
    is_staging: site.is_staging === 1,
    suspended: site.suspended,
    wp_version: orNull(site.wp_version),
    php_version: orNull(site.php_version),
    child_version: orNull(site.child_version),
    mysql_version: orNull(site.mysql_version),
    memory_limit: orNull(site.memory_limit),
    database_size: orNull(site.database_size),
    language: orNull(site.language),
    timezone: orNull(site.timezone),
    active_theme: known.active_theme,
    http_status: statusText(visit.http_status),
    http_code: visit.http_status,
    last_check: { ...visit, checked_at: isoTime(visit.checked_at) },
    status_reason: reason?.status_reason ?? null,
    status_since: reason?.status_since ?? null,
    health_status: healthText(site, score, known.goodHealth),
    health_score: score,
    sync_errors: site.sync_error,
    icon: null,
    last_sync: isoTime(site.last_sync),
    last_post_time: site.last_post === null ? null : isoTime(site.last_post * 1000),
    is_ignoreCoreUpdates: site.ignore_core,
    is_ignorePluginUpdates: site.ignore_plugins,
    is_ignoreThemeUpdates: site.ignore_themes,
    verify_certificate: site.ssl_verify,
    force_use_ipv4: site.force_use_ipv4,
    ssl_version: site.ssl_version,
    automatic_update: site.automatic_update,
    backup_before_upgrade: site.backup_before_upgrade,
    disable_health_checking: site.disable_health_checking,
    health_threshold: site.health_threshold,
    monitoring_emails: site.monitoring_emails === '' ? [] : site.monitoring_emails.split(','),
  };
  return { head, tail: offersView(known, score) };
}

function offersView({ parts, offers: all }: RecordParts, score: number | null): object {
  const offers = all.filter((offer) => offer.ignored === 0);
  const ofType = (type: number) => offers.filter((offer) => offer.type === type);
  const [core] = ofType(0);
  return {
    wp_upgrades: core === undefined ? null : { current: core.current_version, new: core.new_version },
    plugin_upgrades: bySlug(ofType(1)),
    theme_upgrades: bySlug(ofType(2)),
    premium_upgrades: {},
    translation_upgrades: ofType(3).map(({ slug, name, current_version, new_version }) => ({
      slug,
      name,
      version: current_version,
      new_version,
    })),
    ignored_plugins: ignoredView(parts.ignored, 1),
    ignored_themes: ignoredView(parts.ignored, 2),
    stats: {
      plugin_updates: ofType(1).length,
      theme_updates: ofType(2).length,
      wp_update_available: core !== undefined,
      health_score: score,
    },
  };
}

function documentsView(documents: ReadonlyMap<string, string>) {
  return Object.fromEntries(
    MEMBERS.documents.map((kind) => [kind, JSON.parse(documents.get(kind) ?? '[]') as unknown[]]),
  );
}

function bySlug(offers: readonly OfferRow[]) {
  return Object.fromEntries(
    offers.map(({ slug, name, current_version, new_version }) => [
      slug,
      { Name: name, Version: current_version, current_version, new_version, update: { slug, new_version } },
    ]),
  );
}

/** `{slug: {Name, ignored_versions}}` (REST §6.13.1). */
export function ignoredView(entries: readonly IgnoredEntry[], type: number) {
  const view: Record<string, { Name: string; ignored_versions: string[] }> = {};
  for (const entry of entries) {
    if (entry.type !== type) continue;
    const known = view[entry.slug] ?? { Name: entry.name, ignored_versions: [] };
    known.ignored_versions.push(entry.version === '*' ? 'all_versions' : entry.version);
    view[entry.slug] = known;
  }
  return view;
}

/** `Good` without critical findings and with a score of at least the site's threshold, or else the global one. */
function healthText(site: ShownSite, score: number | null, goodHealth: number): string | null {
  if (score === null) return null;
  const threshold = site.health_threshold === 0 ? goodHealth : site.health_threshold;
  return score >= threshold && site.health_critical === 0 ? 'Good' : 'Should be improved';
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}
