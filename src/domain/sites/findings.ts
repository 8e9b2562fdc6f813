/** Findings of the last sync about a site: abandoned extensions, security issues. */

import { siteWord } from '../../../schemas/site-text.js';
import type { ExtensionKind } from '../../outbound/child/port.js';
import { dateOf, isoTime } from '../../runtime/iso-time.js';
import { ownMember } from '../../runtime/own-member.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { ABANDONED_AFTER_DAYS, abandonedAfterDays } from '../settings/effects.js';
import { installedExtensions, KIND_NUMBER } from './inventory.js';
import { getSite, type SiteRef } from './resolve.js';

/**
 * Seconds since the epoch: a last release before this counts as abandoned. Two calendar years before now in UTC
 * (operations §5.7), unless the settings give another number of days.
 */
function abandonedBefore(now: number, days = ABANDONED_AFTER_DAYS): number {
  if (days !== ABANDONED_AFTER_DAYS) return Math.floor(now / 1000) - days * 86_400;
  const day = new Date(now);
  const month = day.getUTCMonth();
  day.setUTCFullYear(day.getUTCFullYear() - 2);
  // For 29 February, two years ago is the 28th: JavaScript would use the next day, which is less than two years back.
  if (day.getUTCMonth() !== month) day.setUTCDate(0);
  return Math.floor(day.getTime() / 1000);
}

/** What counts as abandoned now, of those that the caller may see. */
async function abandonedFilter(ctx: Ctx, kind: ExtensionKind) {
  const before = abandonedBefore(ctx.clock.now(), await abandonedAfterDays(ctx));
  return { kind: KIND_NUMBER[kind], before };
}

export async function listAbandoned(ctx: Ctx, kind: ExtensionKind, page: number, perPage: number) {
  const { items, total } = await ctx.store.findings.abandoned(await abandonedFilter(ctx, kind), page, perPage);
  const looks = await ctx.store.findings.abandonedLooks({});
  return {
    items: items.map((row) => ({ ...row, last_updated: dateOf(row.last_updated * 1000) })),
    total,
    checked_at: looks.unknown > 0 ? null : isoTime(looks.oldest),
    sites_not_checked: looks.unknown,
  };
}

/** Abandoned items of a site, with their inventory data. */
export async function abandonedItems(ctx: Ctx, site: SiteRow, kind: ExtensionKind) {
  const filter = { ...(await abandonedFilter(ctx, kind)), site_id: site.id };
  const [{ items }, rows] = await Promise.all([
    ctx.store.findings.abandoned(filter, 1, MAX_ABANDONED),
    installedExtensions(ctx, site.id, kind),
  ]);
  const bySlug = new Map(rows.map((row) => [row.slug, row]));
  return items.map(({ slug, name, version, last_updated }) => ({
    slug,
    name,
    version,
    last_updated,
    last_updated_at: dateOf(last_updated * 1000),
    installed: bySlug.has(slug),
    active: bySlug.get(slug)?.active ?? 0,
  }));
}

/** When the site was last checked for abandoned items; null if never. */
export async function abandonedCheckedAt(ctx: Ctx, siteId: number): Promise<string | null> {
  return isoTime((await ctx.store.findings.abandonedLooks({ site_id: siteId })).oldest);
}

/** More than any site has installed. */
const MAX_ABANDONED = 10_000;

interface Finding {
  severity: 'high' | 'medium';
  message: string;
}

/** Known checks of the child plugin (operations §5.11). Others it may add get a generic sentence. */
const FINDINGS: Readonly<Record<string, Finding>> = {
  wp_uptodate: { severity: 'high', message: 'WordPress itself is not up to date.' },
  sslprotocol: { severity: 'high', message: 'The site is not served over HTTPS.' },
  phpversion_matched: { severity: 'medium', message: 'PHP is older than the supported minimum.' },
  debug_disabled: { severity: 'medium', message: 'WordPress debug mode is on.' },
  db_reporting: { severity: 'medium', message: 'Database errors are shown to visitors.' },
  php_reporting: { severity: 'medium', message: 'PHP errors are shown to visitors.' },
  sec_inactive_plugins: { severity: 'medium', message: 'Inactive plugins are installed.' },
  sec_inactive_themes: { severity: 'medium', message: 'Inactive themes are installed.' },
  sec_outdated_plugins: { severity: 'medium', message: 'Plugins are outdated.' },
  sec_outdated_themes: { severity: 'medium', message: 'Themes are outdated.' },
};

const FAILED = new Set(['N', 'N_UNABLE', '0']);

export async function siteSecurity(ctx: Ctx, ref: SiteRef) {
  const site = await getSite(ctx, ref);
  const checks = await ctx.store.findings.security(site.id);
  return {
    site_id: site.id,
    site_url: site.url,
    security_issues: checks
      .filter((check) => FAILED.has(check.value))
      .map(({ check_id }) => ({
        type: check_id,
        severity: ownMember(FINDINGS, check_id)?.severity ?? 'medium',
        message: ownMember(FINDINGS, check_id)?.message ?? `The check ${siteWord(check_id)} failed.`,
      })),
    ssl_status: await certificateState(ctx, site.id, site.url),
  };
}

/**
 * `valid` = an https address, and the last check found a good certificate. Null: never checked, or no check has seen one.
 * A site whose address is not https has none, which is known without a look (operations §5.11).
 */
async function certificateState(ctx: Ctx, siteId: number, url: string) {
  const secure = url.startsWith('https:');
  const certificate = await ctx.store.findings.certificate(siteId);
  const checked_at = secure ? isoTime(certificate?.last_check ?? null) : null;
  if (certificate === undefined || certificate.valid_to === null)
    return { valid: secure ? null : false, expires: null, checked_at };
  const expires = isoTime(certificate.valid_to)?.slice(0, 10) ?? null;
  return { valid: secure && certificate.good === 1 && certificate.valid_to > ctx.clock.now(), expires, checked_at };
}
