/** Which updates are ignored. */

import { type Statement, sql } from '../driver/db.js';

/** Whether an update is ignored (operations §5.6). The result is stored in the row, so that lists do not compute it. */
const IGNORED = `(
  EXISTS (SELECT 1 FROM site_detail d WHERE d.site_id = site_update.site_id AND
    ((type = 0 AND d.ignore_core = 1) OR (type = 1 AND d.ignore_plugins = 1) OR (type = 2 AND d.ignore_themes = 1)))
  OR EXISTS (SELECT 1 FROM ignored_update i WHERE i.site_id = site_update.site_id AND i.type = site_update.type
    AND i.slug = site_update.slug AND i.version IN ('*', site_update.new_version))
  OR EXISTS (SELECT 1 FROM ignored_everywhere g WHERE g.type = site_update.type
    AND g.slug = site_update.slug AND g.version IN ('*', site_update.new_version))
)`;

/** Updates the stored `ignored` of a site's updates by the ignore lists. Part of every write that changes either. */
export function refreshIgnored(siteId: number): Statement {
  return sql(`UPDATE site_update SET ignored = ${IGNORED} WHERE site_id = ? AND ignored <> ${IGNORED}`, siteId);
}

/** The same for every site, after a change of the global lists. */
export function refreshIgnoredEverywhere(type: number, slug: string): Statement {
  return sql(
    `UPDATE site_update SET ignored = ${IGNORED} WHERE type = ? AND slug = ? AND ignored <> ${IGNORED}`,
    type,
    slug,
  );
}
