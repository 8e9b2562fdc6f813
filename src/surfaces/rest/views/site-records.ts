/** Sites as the REST interface shows them: the list view and the full record (REST §4.1). */

import type { Ctx } from '../../../domain/context.js';
import { presentHealthScore } from '../../../domain/sites/health.js';
import { type RecordPart, readRecords, type SiteKnowledge, tagsOfSites } from '../../../domain/sites/records.js';
import { withStandings } from '../../../domain/sites/sites.js';
import { lastVisit, type Standing, standingIn } from '../../../domain/sites/status.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type { OfferRow } from '../../../store/sites/inventory.js';
import type { IgnoredEntry, ShownSite, SiteTag } from '../../../store/sites/records.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import { JsonText, Sections } from '../json-text.js';
import { withRoutes } from '../route-names.js';
import { isListed, partOf } from './record-parts.js';
import { statusText } from './status-text.js';

export interface RecordOptions {
  with_tags: boolean;
  /** Inventory, offers and recent content too. */
  full_data: boolean;
  /** Requested members; undefined = all. Data that none of them needs is not read. */
  fields: readonly string[] | undefined;
}

/** Views of a page of sites, in the given order. Sites removed meanwhile are left out. */
export async function siteRecords(ctx: Ctx, rows: readonly SiteRow[], options: RecordOptions): Promise<object[]> {
  const asked = (part: RecordPart) =>
    (part !== 'tags' || options.with_tags) && (options.fields?.some((name) => partOf(name) === part) ?? true);
  const whole = options.full_data && (options.fields?.some((name) => !isListed(name)) ?? true);
  if (whole) return (await readRecords(ctx, rows, asked)).map((known) => fullView(known, asked('tags')));
  const tags = asked('tags') ? await tagsOfSites(ctx, rows) : null;
  const shown = await withStandings(ctx, rows);
  return shown.map((row) => (tags === null ? listView(row) : { ...listView(row), ...tagsView(tags.get(row.id)) }));
}

/** The full record of one site. */
export async function siteRecord(ctx: Ctx, row: SiteRow, withTags = true): Promise<object> {
  const [known] = await readRecords(ctx, [row], (part) => part !== 'tags' || withTags);
  // Undefined: removed meanwhile.
  return known === undefined ? listView(row) : fullView(known, withTags).plain();
}

/** Members that come from storage as JSON text, in the order of the record. */
const TEXTS = ['plugins', 'themes', 'recent_posts', 'recent_pages', 'recent_comments', 'categories'] as const;

export function listView({ id, name, url, status, client_id, ...more }: SiteRow & Standing) {
  return { id, name, url, status, client_id, ...standingView(more) };
}

/** What is to be said of a site beside its status, with routes in place of operations. */
export function standingView(row: Standing): Standing {
  const standing = standingIn(row);
  const { status_reason: reason } = standing;
  return reason === undefined ? standing : { ...standing, status_reason: withRoutes(reason) };
}

/** `tags` as `{id: name}`, the form that clients know, and complete tags in `tag_list`. */
function tagsView(tags: readonly SiteTag[] = []) {
  return { tags: Object.fromEntries(tags.map(({ id, name }) => [id, name])), tag_list: tags };
}

function fullView(known: SiteKnowledge, withTags: boolean): Sections {
  const { site, parts, reason, texts } = known;
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
    active_theme: texts.active_theme,
    http_status: statusText(visit.http_status),
    http_code: visit.http_status,
    last_check: { ...visit, checked_at: isoTime(visit.checked_at) },
    status_reason: reason === undefined ? null : withRoutes(reason.status_reason),
    status_since: reason?.status_since ?? null,
    health_status: healthText(site, score, known.goodHealth),
    health_score: score,
    sync_errors: site.sync_error,
    icon: null,
    last_sync: isoTime(site.last_sync),
    last_backup: backupView(site),
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
  const middle = new Map(TEXTS.map((name) => [name, new JsonText(texts[name])]));
  return new Sections([head, middle, offersView(known, score), ...(withTags ? [tagsView(parts.tags)] : [])]);
}

function backupView({ backup_plugin, last_backup, backup_looked_at }: ShownSite) {
  return {
    plugin: orNull(backup_plugin),
    made_at: last_backup === null ? null : isoTime(last_backup * 1000),
    looked_at: isoTime(backup_looked_at),
  };
}

function offersView({ parts, offers: all }: SiteKnowledge, score: number | null): object {
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
