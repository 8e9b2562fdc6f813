/** Which updates are on offer: neither ignored nor quarantined. */

import { type Statement, sql } from '../driver/db.js';
import { quarantinedOn } from './quarantined-on.js';

/** Whether the settings of its site ignore all updates of its type. */
export function ignoredBySite(update: string): string {
  return `EXISTS (SELECT 1 FROM site_detail d WHERE d.site_id = ${update}.site_id AND
    ((type = 0 AND d.ignore_core = 1) OR (type = 1 AND d.ignore_plugins = 1) OR (type = 2 AND d.ignore_themes = 1)))`;
}

/**
 * Whether an update is ignored (operations §5.6), otherwise whether its version is quarantined on the site. The result is
 * stored in the row, so that lists do not compute it.
 */
const IGNORED = `CASE WHEN ${ignoredBySite('site_update')}
  OR EXISTS (SELECT 1 FROM ignored_update i WHERE i.site_id = site_update.site_id AND i.type = site_update.type
    AND i.slug = site_update.slug AND i.version IN ('*', site_update.new_version))
  OR EXISTS (SELECT 1 FROM ignored_everywhere g WHERE g.type = site_update.type
    AND g.slug = site_update.slug AND g.version IN ('*', site_update.new_version))
  THEN 1 WHEN EXISTS (SELECT 1 FROM quarantined_version q WHERE q.type = site_update.type AND q.slug = site_update.slug
    AND q.version = site_update.new_version AND ${quarantinedOn('q', 'site_update.site_id')})
  THEN 2 ELSE 0 END`;

/** Conditions on an update `u`: on offer; ignored; quarantined; or on offer or quarantined, as a run refuses what is quarantined with the reason. */
export const ON_OFFER = 'u.ignored = 0';
export const IGNORED_ONES = 'u.ignored = 1';
export const QUARANTINED = 'u.ignored = 2';
export const WANTED = 'u.ignored <> 1';

/** Updates the stored `ignored` of a site's updates. Part of every write that changes them, or its ignore lists. */
export function refreshIgnored(siteId: number): Statement {
  return sql(`UPDATE site_update SET ignored = ${IGNORED} WHERE site_id = ? AND ignored <> ${IGNORED}`, siteId);
}

/** The same for every site, after a change of the global lists, or of a quarantine of this item. */
export function refreshIgnoredEverywhere(type: number, slug: string): Statement {
  return sql(
    `UPDATE site_update SET ignored = ${IGNORED} WHERE type = ? AND slug = ? AND ignored <> ${IGNORED}`,
    type,
    slug,
  );
}
