/** Selects the sites for a live read of content, by tags and clients. */

import { fold } from '../../../schemas/fold.js';
import type { Db } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { idList } from './filter.js';
import type { SiteRow } from './sites.js';

interface ContentChoice {
  /** Tags by name or by id in digits. */
  groups: readonly string[];
  clients: readonly number[];
}

export function createContent(db: Db) {
  return {
    /** Sites of the tags and clients in URL order, with the tags and clients that do not exist. */
    async sitesOf(
      choice: ContentChoice,
    ): Promise<{ sites: SiteRow[]; unknown_groups: string[]; unknown_clients: number[] }> {
      const names = JSON.stringify(choice.groups.map(fold));
      const ids = idList(choice.groups.filter((group) => /^\d{1,15}$/.test(group)).map(Number));
      const clients = idList(choice.clients);
      const tags =
        'SELECT id FROM tag WHERE name_key IN (SELECT value FROM json_each(?)) OR id IN (SELECT value FROM json_each(?))';
      const [sites = [], found = [], known = []] = await db.read([
        sql(
          `SELECT s.id, s.url, s.name, s.status, s.client_id FROM site s
           WHERE (s.client_id IN (SELECT value FROM json_each(?))
             OR s.id IN (SELECT site_id FROM site_tag WHERE tag_id IN (${tags})))
           ORDER BY s.url_key, s.id`,
          clients,
          names,
          ids,
        ),
        sql(`SELECT id, name_key FROM tag WHERE id IN (${tags})`, names, ids),
        sql('SELECT id FROM client WHERE id IN (SELECT value FROM json_each(?))', clients),
      ]);
      const present = new Set(found.flatMap((tag) => [String(tag.id), String(tag.name_key)]));
      const clientIds = new Set(known.map((client) => Number(client.id)));
      return {
        sites: sites as SiteRow[],
        unknown_groups: choice.groups.filter((group) => !present.has(group) && !present.has(fold(group))),
        unknown_clients: choice.clients.filter((id) => !clientIds.has(id)),
      };
    },
  };
}
