/**
 * Available updates, one row per item across the fleet, and the sites of one item. Ignored and quarantined updates, and
 * suspended sites, are left out.
 */

import type { Reads, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { type Fragment, fragment, join } from '../driver/sql-fragments.js';
import { type OfferFilter, offerCondition } from './search-filter.js';

export interface OfferedItem extends Row {
  type: number;
  slug: string;
  name: string;
  sites: number;
  /** Sites whose guard answered the last check. */
  guarded: number;
  /** JSON lists of distinct versions. */
  current_versions: string;
  new_versions: string;
  /** 0 patch, 1 minor, 2 major, of the largest step; null if no version is known. */
  level: number | null;
}

export interface OfferedSite extends Row {
  site_id: number;
  site_name: string;
  site_url: string;
  site_status: string;
  current_version: string;
  new_version: string;
  level: number | null;
  /** State of `site_guard`; null = never checked. */
  guard: number | null;
}

interface OfferedFilter extends OfferFilter {
  /** Part of the slug or name; '' = all. */
  search: string;
}

function offered({ types, levels, search }: OfferedFilter): Fragment {
  const word = search.toLowerCase();
  return join([
    offerCondition({ types, levels }),
    fragment(' AND s.suspended = 0'),
    word === ''
      ? fragment('')
      : fragment(' AND (instr(lower(u.name), ?) > 0 OR instr(lower(u.slug), ?) > 0)', word, word),
  ]);
}

export function createFleetOffers(db: Reads) {
  return {
    /** One page of items: WordPress itself first, then those on most sites. */
    items(filter: OfferedFilter, page: number, perPage: number): Promise<{ items: OfferedItem[]; total: number }> {
      const condition = offered(filter);
      const from = `FROM site_update u CROSS JOIN site s ON s.id = u.site_id WHERE ${condition.text}`;
      const rows = sql(
        `SELECT u.type, u.slug, max(u.name) AS name, count(*) AS sites, max(u.level) AS level,
           count((SELECT 1 FROM site_guard g WHERE g.site_id = u.site_id AND g.present = 1)) AS guarded,
           json_group_array(DISTINCT u.current_version) AS current_versions,
           json_group_array(DISTINCT u.new_version) AS new_versions
         ${from} GROUP BY u.type, u.slug ORDER BY u.type <> 0, u.type = 3, count(*) DESC, name, u.slug`,
        ...condition.args,
      );
      const count = sql(`SELECT count(*) AS n FROM (SELECT DISTINCT u.type, u.slug ${from})`, ...condition.args);
      return readPage<OfferedItem>(db, rows, count, page, perPage);
    },

    /** Updates by level; null for unknown versions. */
    async levels(): Promise<{ level: number | null; n: number }[]> {
      const condition = offered({ types: [], levels: [], search: '' });
      return db.all(
        `SELECT u.level, count(*) AS n FROM site_update u CROSS JOIN site s ON s.id = u.site_id WHERE ${condition.text} GROUP BY 1`,
        condition.args,
      );
    },

    /** The steps from version to version of these items, and on how many sites. */
    async steps(
      items: readonly Pick<OfferedItem, 'type' | 'slug'>[],
    ): Promise<{ type: number; slug: string; current_version: string; new_version: string; sites: number }[]> {
      const condition = offered({ types: [], levels: [], search: '' });
      return db.all(
        `SELECT u.type, u.slug, u.current_version, u.new_version, count(*) AS sites FROM json_each(?) j
         CROSS JOIN site_update u ON u.type = j.value ->> 0 AND u.slug = j.value ->> 1
         CROSS JOIN site s ON s.id = u.site_id WHERE ${condition.text} GROUP BY 1, 2, 3, 4`,
        [JSON.stringify(items.map(({ type, slug }) => [type, slug])), ...condition.args],
      );
    },

    /** What sites call these items, with the number of sites, the most frequent name first. */
    async names(
      items: readonly Pick<OfferedItem, 'type' | 'slug'>[],
      filter: OfferedFilter,
    ): Promise<{ type: number; slug: string; name: string; sites: number }[]> {
      const condition = offered(filter);
      return db.all(
        `SELECT u.type, u.slug, u.name, count(*) AS sites FROM json_each(?) j
         CROSS JOIN site_update u ON u.type = j.value ->> 0 AND u.slug = j.value ->> 1
         CROSS JOIN site s ON s.id = u.site_id WHERE ${condition.text} GROUP BY 1, 2, 3 ORDER BY sites DESC, u.name`,
        [JSON.stringify(items.map(({ type, slug }) => [type, slug])), ...condition.args],
      );
    },

    /** Versions of these items that would be available, but are quarantined. */
    async heldBack(
      items: readonly Pick<OfferedItem, 'type' | 'slug'>[],
    ): Promise<{ type: number; slug: string; version: string }[]> {
      return db.all(
        `SELECT DISTINCT u.type, u.slug, u.new_version AS version FROM json_each(?) j
         CROSS JOIN site_update u ON u.type = j.value ->> 0 AND u.slug = j.value ->> 1 WHERE u.ignored = 2`,
        [JSON.stringify(items.map(({ type, slug }) => [type, slug]))],
      );
    },

    /** One page of the sites on which an item has an update, by name. */
    sites(type: number, slug: string, page: number, perPage: number): Promise<{ items: OfferedSite[]; total: number }> {
      const condition = offered({ types: [type], levels: [], search: '' });
      const from = `FROM site_update u CROSS JOIN site s ON s.id = u.site_id WHERE u.slug = ? AND ${condition.text}`;
      const args = [slug, ...condition.args];
      const rows = sql(
        `SELECT u.site_id, s.name AS site_name, s.url AS site_url, s.status AS site_status, u.current_version, u.new_version, u.level,
           (SELECT g.present FROM site_guard g WHERE g.site_id = u.site_id) AS guard
         ${from} ORDER BY s.name, s.id`,
        ...args,
      );
      return readPage<OfferedSite>(db, rows, sql(`SELECT count(*) AS n ${from}`, ...args), page, perPage);
    },
  };
}
