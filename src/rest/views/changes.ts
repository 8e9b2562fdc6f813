/** What is known of one site beside its record, as REST shows it: abandoned items, security, changes, costs. */

import type { Ctx } from '../../domain/context.js';
import { dateOf } from '../../domain/costs/periods.js';
import { installedExtensions } from '../../domain/extensions/extensions.js';
import { abandonedAfterDays } from '../../domain/settings/effects.js';
import { requireModule } from '../../domain/settings/modules.js';
import { scanSecurity } from '../../domain/sites/actions.js';
import { abandonedBefore, siteSecurity } from '../../domain/sites/findings.js';
import { loadSite } from '../../domain/sites/load.js';
import { isoTime } from '../../domain/sites/sites.js';
import { storeSnapshot } from '../../domain/sites/sync.js';
import type { ChangeFilter } from '../../store/sites/records.js';
import type { SiteRow } from '../../store/sites/sites.js';

/** Items of a site without a release for long, with what the inventory knows of them. */
export async function abandonedItems(ctx: Ctx, site: SiteRow, kind: 'plugin' | 'theme') {
  const filter = {
    kind: kind === 'plugin' ? 0 : 1,
    before: abandonedBefore(ctx.clock.now(), await abandonedAfterDays(ctx)),
    site_id: site.id,
    denied: ctx.actor.denied_sites,
  };
  const [{ items }, rows] = await Promise.all([
    ctx.store.reports.abandoned(filter, 1, MAX_ABANDONED),
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

/** More than any site has installed. */
const MAX_ABANDONED = 10_000;

/** A live look at the checks of the child plugin, kept as the latest ones, with the findings in words. */
export async function liveSecurity(ctx: Ctx, site: SiteRow) {
  const checks = await scanSecurity(ctx, site);
  await storeSnapshot(ctx, await loadSite(ctx, site.id), { security: checks });
  const { security_issues, ssl_status } = await siteSecurity(ctx, site.id);
  return { ...checks, security_issues, ssl_status };
}

/** Changes made on the site itself. Throws `svc_module_not_available`. */
export async function changesOf(ctx: Ctx, site: SiteRow, filter: ChangeFilter, page: number, perPage: number) {
  requireModule(ctx, 'logs');
  const { items, total } = await ctx.store.siteRecords.changes(site.id, filter, page, perPage);
  return { items: items.map((row) => changeView(site, row)), total };
}

type Row = Awaited<ReturnType<Ctx['store']['siteRecords']['changes']>>['items'][number];

/** The record of the user's interface and, beside it, the plain fields of the operations (REST §4.4). */
function changeView(site: SiteRow, row: Row) {
  const action = row.action.replace(/[-_]+/g, ' ').trim();
  const sentence = action === '' ? 'Changed' : action.charAt(0).toUpperCase() + action.slice(1);
  return {
    id: row.id,
    type: row.context,
    description: row.item === '' ? sentence : `${sentence}: ${row.item}`,
    user: row.user_login,
    timestamp: isoTime(Math.round(row.created * 1000)),
    log_id: row.id,
    site_id: site.id,
    item: row.item,
    user_id: row.user_id,
    user_login: row.user_login,
    action: row.action,
    context: row.context,
    created: Math.floor(row.created),
    duration: row.duration,
    log_site_name: site.name,
    url: site.url,
  };
}
