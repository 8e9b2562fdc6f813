/** Changes made on a site itself, as REST shows them (REST §4.4). */

import type { Ctx } from '../../domain/context.js';
import { requireModule } from '../../domain/settings/modules.js';
import { changeSentence } from '../../domain/sites/findings.js';
import { isoTime } from '../../domain/sites/sites.js';
import type { ChangeFilter } from '../../store/sites/records.js';
import type { SiteRow } from '../../store/sites/sites.js';

/** Changes made on the site itself. Throws `svc_module_not_available`. */
export async function changesOf(ctx: Ctx, site: SiteRow, filter: ChangeFilter, page: number, perPage: number) {
  requireModule(ctx, 'logs');
  const { items, total } = await ctx.store.siteRecords.changes(site.id, filter, page, perPage);
  return { items: items.map((row) => changeView(site, row)), total };
}

type Row = Awaited<ReturnType<Ctx['store']['siteRecords']['changes']>>['items'][number];

/** The record of the user's interface and, beside it, the plain fields of the operations (REST §4.4). */
function changeView(site: SiteRow, row: Row) {
  return {
    id: row.id,
    type: row.context,
    description: changeSentence(row),
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
