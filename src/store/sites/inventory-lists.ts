/** Inventories of a page of sites. What is long comes as JSON text that leaves as it is; the rest as rows, see `json-rows.ts`. */

import { type Db, sql } from '../driver/db.js';
import { jsonRows } from '../driver/json-rows.js';
import { idList } from './filter.js';
import { EXTENSION_COLUMNS } from './inventory.js';
import { type ExtensionRow, FLAG, KIND, type OfferRow } from './inventory-rows.js';

const EXTENSION = ['site_id', 'kind', 'package_id', 'slug', 'name', 'description', 'position', 'version'];
const extensionRows = jsonRows<ExtensionRow>([...EXTENSION, 'active', 'flags', 'update_version']);
const OFFER = ['site_id', 'type', 'slug', 'position', 'name', 'current_version', 'new_version', 'ignored'];
const offerRows = jsonRows<OfferRow>(OFFER);
const OF_SITES = 'site_id IN (SELECT value FROM json_each(?))';

/** A plugin as REST shows it (REST §4.3): the members of `pluginEntry` in their order. */
const PLUGIN = `json_object('slug', p.slug, 'name', p.name, 'version', e.version, 'description', p.description, 'active', e.active,
  'mu', (e.flags & ${FLAG.mu}) <> 0, 'is_child_agent', json(iif(e.flags & ${FLAG.child_agent}, 'true', 'false')),
  'update_version', e.update_version)`;

export function createInventoryLists(db: Db) {
  return {
    /** Plugins of each site in the child's order, as the JSON text of a list. A page has thousands of them. */
    async pluginTexts(siteIds: readonly number[]): Promise<Map<number, string>> {
      // Sorted by site: one sort of all plugins of the page takes longer.
      const rows = await db.all(
        `SELECT j.value AS site_id, (SELECT json_group_array(${PLUGIN}) FROM (
           SELECT package_id, version, active, flags, update_version FROM site_extension
           WHERE site_id = j.value AND kind = ${KIND.plugin} ORDER BY position
         ) e CROSS JOIN package p ON p.id = e.package_id) AS plugins FROM json_each(?) j`,
        [idList(siteIds)],
      );
      return new Map(rows.map((row) => [Number(row.site_id), String(row.plugins)]));
    },

    /** Themes of each site in the child's order. */
    async themes(siteIds: readonly number[]): Promise<Map<number, ExtensionRow[]>> {
      const themes = sql(
        `SELECT ${EXTENSION_COLUMNS} FROM site_extension e JOIN package p ON p.id = e.package_id
         WHERE e.${OF_SITES} AND e.kind = ${KIND.theme} ORDER BY e.site_id, e.position`,
        idList(siteIds),
      );
      return bySite(siteIds, await extensionRows.all(db, themes));
    },

    /** Updates on offer for each site, those that are ignored too. */
    async offers(siteIds: readonly number[]): Promise<Map<number, OfferRow[]>> {
      const offers = sql(
        `SELECT ${OFFER.join(', ')} FROM site_update WHERE ${OF_SITES} ORDER BY site_id, type, position`,
        idList(siteIds),
      );
      return bySite(siteIds, await offerRows.all(db, offers));
    },
  };
}

function bySite<T extends { site_id: number }>(siteIds: readonly number[], rows: readonly T[]): Map<number, T[]> {
  const found = new Map<number, T[]>(siteIds.map((id) => [id, []]));
  for (const row of rows) found.get(row.site_id)?.push(row);
  return found;
}
