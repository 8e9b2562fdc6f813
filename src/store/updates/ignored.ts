/** What ignoring an update means, in one place. */

import { type Statement, sql } from '../driver/db.js';

/** One expression decides what ignoring means (operations §5.6); it is kept in the row, so that lists never compute it. */
const IGNORED = `(
  EXISTS (SELECT 1 FROM site_detail d WHERE d.site_id = site_update.site_id AND
    ((type = 0 AND d.ignore_core = 1) OR (type = 1 AND d.ignore_plugins = 1) OR (type = 2 AND d.ignore_themes = 1)))
  OR EXISTS (SELECT 1 FROM ignored_update i WHERE i.site_id = site_update.site_id AND i.type = site_update.type
    AND i.slug = site_update.slug AND i.version IN ('*', site_update.new_version))
  OR EXISTS (SELECT 1 FROM ignored_everywhere g WHERE g.type = site_update.type
    AND g.slug = site_update.slug AND g.version IN ('*', site_update.new_version))
)`;

/** Brings the stored `ignored` of a site's offers in line with the ignore lists. Part of every write that touches either. */
export function refreshIgnored(siteId: number): Statement {
  return sql(`UPDATE site_update SET ignored = ${IGNORED} WHERE site_id = ? AND ignored <> ${IGNORED}`, siteId);
}
