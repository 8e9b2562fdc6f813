/** Entries of the change log of a site, as REST shows them (REST §4.4). */

import { changeSentence } from '../../domain/sites/changes.js';
import { isoTime } from '../../domain/sites/sites.js';
import type { ChangeRow } from '../../store/sites/change-list.js';
import type { SiteRow } from '../../store/sites/sites.js';

/** The record of the user's interface, together with the plain fields of the operations (REST §4.4). */
export function changeView(site: SiteRow, row: ChangeRow) {
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
    source: row.source,
    ...(row.source === 'dashboard'
      ? { via: row.via, operation: row.operation, result: row.code === '' ? 'done' : 'failed', error_code: row.code }
      : {}),
  };
}
