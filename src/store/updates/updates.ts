/** Available updates, and which are ignored. Lists read stored rows and counters; nothing is computed per site. */

import type { Db, Reads, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { jsonRows } from '../driver/json-rows.js';
import { readPage } from '../driver/lists.js';
import { among, equal, fragment, IN, join, offset } from '../driver/sql-fragments.js';
import { idList } from '../sites/filter.js';
import { ON_OFFER, refreshIgnored, WANTED } from '../sites/ignored-updates.js';
import { CORE_NAME, KIND, type OfferRow, TYPE } from '../sites/inventory-rows.js';

export interface FleetOffer
  extends Row,
    Pick<OfferRow, 'site_id' | 'type' | 'slug' | 'name' | 'current_version' | 'new_version'> {
  site_url: string;
  site_name: string;
  /** Of a list. */
  site_status?: string;
  /** 0 patch, 1 minor, 2 major; null when a version is not known. */
  level?: number | null;
  /** 1 = its version is quarantined on this site. */
  quarantined?: number;
  /** What it needs that the site does not have, and if so, the versions of the site. */
  needs?: string;
  php_version?: string | null;
  wp_version?: string | null;
}

export interface OfferFilter {
  /** Numbers of the update types; empty = all. */
  types: readonly number[];
  /** Sites in the order wanted; undefined = the whole fleet in URL order. */
  site_ids?: readonly number[] | undefined;
}

interface IgnoredRow extends Row, Pick<FleetOffer, 'site_id' | 'site_url' | 'site_name' | 'type' | 'slug' | 'name'> {
  versions: string;
  /** On how many sites an entry for all of them holds; null = it is that of one site. */
  sites: number | null;
  /** When the first of the versions shows again, in milliseconds; null = never on its own. */
  until: number | null;
}

/** A version that a site ignores; `*` = every one. */
export interface IgnoredVersion extends Row {
  slug: string;
  version: string;
}

const ignoredVersions = (siteId: number, type: number, slugs: string) =>
  sql(
    'SELECT slug, version FROM ignored_update WHERE site_id = ? AND type = ? AND slug IN (SELECT value FROM json_each(?)) ORDER BY slug, version',
    siteId,
    type,
    slugs,
  );

/** Up to this offset it is cheaper to fetch the rows that are skipped than to find the page's keys first. */
const NEAR = 100;

function ofNeedy(version: string): string {
  return `iif(u.needs = '', NULL, (SELECT d.${version} FROM site_detail d WHERE d.site_id = u.site_id))`;
}

const OFFER = {
  site_id: 'u.site_id',
  site_url: 's.url',
  site_name: 's.name',
  site_status: 's.status',
  type: 'u.type',
  slug: 'u.slug',
  name: 'u.name',
  current_version: 'u.current_version',
  new_version: 'u.new_version',
  level: 'u.level',
  quarantined: 'u.ignored = 2',
  needs: 'u.needs',
  php_version: ofNeedy('php_version'),
  wp_version: ofNeedy('wp_version'),
};
/** With `u` as the update and `s` as its site. */
export const OFFER_COLUMNS = Object.entries(OFFER)
  .map(([name, column]) => `${column} AS ${name}`)
  .join(', ');
const offers = jsonRows<FleetOffer>(Object.keys(OFFER));

export function createUpdates(db: Db, aside: Reads = db) {
  return {
    /**
     * Visible updates of one page, and the counts of all matches by type. The counts are read first: they decide from
     * which end to read.
     */
    async page(
      filter: OfferFilter,
      page: number,
      perPage: number,
    ): Promise<{ items: FleetOffer[]; counts: Map<number, number> }> {
      const skip = offset(page, perPage);
      const chosen = filter.site_ids !== undefined;
      const counts = await countByType(db, filter);
      const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
      if (skip >= total) return { items: [], counts };
      const items = chosen
        ? await chosenPage(db, filter, perPage, skip)
        : await fleetPage(db, filter, perPage, skip, total);
      return { items, counts };
    },

    /** Visible updates of one site. */
    visible(siteId: number, types: readonly number[]): Promise<FleetOffer[]> {
      return ofSites(db, [siteId], types, ON_OFFER);
    },

    /** Updates of some sites, for applying them; with those that are quarantined, which are refused then. */
    ofSites(siteIds: readonly number[], types: readonly number[]): Promise<FleetOffer[]> {
      return ofSites(db, siteIds, types, WANTED);
    },

    /** Those that are ignored. */
    ignoredOf(siteIds: readonly number[], types: readonly number[]): Promise<FleetOffer[]> {
      return ofSites(db, siteIds, types, 'u.ignored = 1');
    },

    /** Updates of one site, for applying them; ignored ones only on request. */
    ofSite(siteId: number, types: readonly number[], evenIgnored: boolean): Promise<FleetOffer[]> {
      return ofSites(db, [siteId], types, evenIgnored ? 'TRUE' : WANTED);
    },

    /**
     * Those of the slugs of which no update of these types exists on any of the sites, not even one that is quarantined;
     * `meant` is the slug of an update whose folder or file is called so, if there is one.
     */
    async offeredNowhere(
      siteIds: readonly number[],
      types: readonly number[],
      slugs: readonly string[],
    ): Promise<{ slug: string; meant: string | null }[]> {
      const typed = among('u.type', types);
      const there = `FROM site_update u WHERE u.site_id ${IN} AND ${WANTED}${typed.text}`;
      const args = [idList(siteIds), ...typed.args];
      return db.all(
        `SELECT value AS slug, (SELECT min(u.slug) ${there}
             AND (u.slug = value || '.php' OR substr(u.slug, 1, length(value) + 1) = value || '/')) AS meant
           FROM json_each(?) WHERE NOT EXISTS (SELECT 1 ${there} AND u.slug = value) ORDER BY key`,
        [...args, JSON.stringify(slugs), ...args],
      );
    },

    /**
     * Stores applied updates at once: their rows are deleted, and the inventory gets the new versions, even if the site
     * can no longer be read. The digest is cleared: the next snapshot must be compared with what is stored now,
     * otherwise an update that is offered again would be treated as known.
     * @param run the run, in which these items are checked now, and the type that is sent next
     */
    async applied(
      siteId: number,
      type: number,
      items: readonly { slug: string; version: string }[],
      run: { id: string; next?: number | undefined },
    ): Promise<void> {
      const list = JSON.stringify(items.map(({ slug, version }) => [slug, version]));
      await db.batch([
        sql(
          'DELETE FROM site_update WHERE site_id = ? AND type = ? AND slug IN (SELECT value ->> 0 FROM json_each(?))',
          siteId,
          type,
          list,
        ),
        ...installed(siteId, type, list),
        sql("UPDATE site_detail SET content_hash = '' WHERE site_id = ?", siteId),
        sql(
          `UPDATE update_run_item SET state = CASE type WHEN ?3 THEN 'checking' ELSE 'updating' END WHERE run_id = ?1 AND site_id = ?2
           AND (type = ?3 AND state = 'updating' AND slug IN (SELECT value ->> 0 FROM json_each(?4)) OR type = ?5 AND state = 'queued')`,
          run.id,
          siteId,
          type,
          list,
          run.next ?? null,
        ),
      ]);
    },

    /** Adds or removes entries for every version of the slugs; returns the site's list of that type afterwards. */
    async setIgnored(
      siteId: number,
      type: number,
      slugs: readonly string[],
      ignore: boolean,
    ): Promise<{ list: string[]; before: IgnoredVersion[] }> {
      const list = JSON.stringify(slugs);
      const write: Statement[] = [
        ignoredVersions(siteId, type, list),
        // "Every version" replaces a list of single versions (operations §5.6).
        sql(
          'DELETE FROM ignored_update WHERE site_id = ? AND type = ? AND slug IN (SELECT value FROM json_each(?))',
          siteId,
          type,
          list,
        ),
      ];
      if (ignore) {
        write.push(
          sql(
            `INSERT INTO ignored_update (site_id, type, slug, version, name)
             SELECT ?1, ?2, j.value, '*', CASE ?2 WHEN ${TYPE.core} THEN '${CORE_NAME}' ELSE ifnull((
               SELECT p.name FROM site_extension e JOIN package p ON p.id = e.package_id
               WHERE e.site_id = ?1 AND e.kind = ?2 - 1 AND p.slug = j.value), j.value) END FROM json_each(?3) j`,
            siteId,
            type,
            list,
          ),
        );
      }
      const results = await db.batch([
        ...write,
        refreshIgnored(siteId),
        sql('SELECT DISTINCT slug FROM ignored_update WHERE site_id = ? AND type = ? ORDER BY slug', siteId, type),
      ]);
      const after = (results.at(-1)?.rows ?? []).map((row) => String(row.slug));
      return { list: after, before: (results[0]?.rows ?? []) as IgnoredVersion[] };
    },

    /** Slugs on a site's own list. */
    async ownIgnored(siteId: number, type: number): Promise<string[]> {
      const rows = await db.all<{ slug: string }>(
        'SELECT DISTINCT slug FROM ignored_update WHERE site_id = ? AND type = ? ORDER BY slug',
        [siteId, type],
      );
      return rows.map(({ slug }) => slug);
    },

    /** What a site's own list has of these slugs. */
    ignoredVersions(siteId: number, type: number, slugs: readonly string[]): Promise<IgnoredVersion[]> {
      const query = ignoredVersions(siteId, type, JSON.stringify(slugs));
      return db.all<IgnoredVersion>(query.sql, query.args);
    },

    /**
     * Ignored entries: per site its own and the global ones that its own do not override (operations §5.6).
     * @param perSite otherwise a global one is one row, first, with the number of sites on which it holds
     */
    ignored(perSite: boolean, page: number, perPage: number): Promise<{ items: IgnoredRow[]; total: number }> {
      const global = perSite
        ? `SELECT s.id, s.url, s.name, s.url_key, g.type, g.slug, max(g.name), ${VERSIONS('g')}, NULL, min(g.until)
           FROM ignored_everywhere g JOIN site s
           WHERE NOT EXISTS (SELECT 1 FROM ignored_update i WHERE i.site_id = s.id AND i.type = g.type AND i.slug = g.slug)
           GROUP BY s.id, g.type, g.slug`
        : `SELECT 0, '', '', '', g.type, g.slug, max(g.name), ${VERSIONS('g')}, (SELECT count(*) FROM site)
             - (SELECT count(DISTINCT i.site_id) FROM ignored_update i WHERE i.type = g.type AND i.slug = g.slug), min(g.until)
           FROM ignored_everywhere g GROUP BY g.type, g.slug`;
      const entries = `
        SELECT s.id AS site_id, s.url AS site_url, s.name AS site_name, s.url_key, i.type, i.slug, max(i.name) AS name,
          ${VERSIONS('i')} AS versions, NULL AS sites, NULL AS until
        FROM ignored_update i JOIN site s ON s.id = i.site_id GROUP BY s.id, i.type, i.slug
        UNION ALL ${global}`;
      const rows = sql(
        `SELECT site_id, site_url, site_name, type, slug, name, versions, sites, until FROM (${entries})
         ORDER BY url_key, site_id, type, slug`,
      );
      return readPage<IgnoredRow>(aside, rows, sql(`SELECT count(*) AS n FROM (${entries})`), page, perPage);
    },
  };
}

/** The ignored versions of a group of rows, as the interface has them. */
const VERSIONS = (table: string) =>
  `group_concat(CASE ${table}.version WHEN '*' THEN 'all_versions' ELSE ${table}.version END, ', ')`;

function ofSites(db: Db, siteIds: readonly number[], types: readonly number[], which: string): Promise<FleetOffer[]> {
  const typed = among('u.type', types);
  const rows = sql(
    `SELECT ${OFFER_COLUMNS} FROM site_update u JOIN site s ON s.id = u.site_id
     WHERE u.site_id ${IN} AND ${which}${typed.text} ORDER BY u.site_id, u.type, u.position`,
    idList(siteIds),
    ...typed.args,
  );
  return offers.all(db, rows);
}

/** The versions of `[[slug, version], …]` as the inventory shows them. Translations are in no inventory. */
function installed(siteId: number, type: number, list: string): Statement[] {
  if (type === TYPE.core)
    return [
      sql('UPDATE site_detail SET wp_version = j.value ->> 1 FROM json_each(?) j WHERE site_id = ?', list, siteId),
      // The next sync compares with the new version.
      sql("UPDATE site_update SET needs = '' WHERE site_id = ? AND needs LIKE '%WordPress%'", siteId),
    ];
  if (type === TYPE.translation) return [];
  const kind = type === TYPE.plugin ? KIND.plugin : KIND.theme;
  return [
    sql(
      `UPDATE site_extension SET version = j.value ->> 1, update_version = NULL
       FROM json_each(?) j JOIN package p ON p.slug = j.value ->> 0 AND p.kind = ?
       WHERE site_extension.site_id = ? AND site_extension.kind = ? AND site_extension.package_id = p.id`,
      list,
      kind,
      siteId,
      kind,
    ),
  ];
}

async function countByType(db: Db, filter: OfferFilter): Promise<Map<number, number>> {
  const wanted = filter.types.length === 0 ? null : new Set(filter.types);
  const { site_ids } = filter;
  const rows =
    site_ids === undefined
      ? await db.all('SELECT type, n FROM update_count')
      : await db.all(`SELECT type, count(*) AS n FROM site_update WHERE ignored = 0 AND site_id ${IN} GROUP BY type`, [
          idList(site_ids),
        ]);
  return new Map(
    rows.map((row) => [Number(row.type), wanted === null || wanted.has(Number(row.type)) ? Number(row.n) : 0]),
  );
}

/** A page of the whole fleet: keys from a covering index, then the rows. The second half is read from its end. */
function fleetPage(db: Db, filter: OfferFilter, perPage: number, offset: number, total: number): Promise<FleetOffer[]> {
  const [single] = filter.types;
  const oneType = filter.types.length === 1 && single !== undefined;
  const { text: where, args } = join([
    fragment('u.ignored = 0'),
    oneType ? equal('u.type', single) : among('u.type', filter.types),
  ]);
  const size = Math.min(perPage, total - offset);
  const backwards = offset > total / 2;
  const skip = backwards ? total - offset - size : offset;
  const direction = backwards ? 'DESC' : 'ASC';
  const order = (alias: string, way: string) =>
    ['url_key', 'site_id', 'type', 'position'].map((column) => `${alias}${column} ${way}`).join(', ');
  const index = oneType ? 'site_update_page_by_type' : 'site_update_page';
  if (offset <= NEAR) {
    // Nothing to skip: the rows come in order, and the keys need no separate sorting.
    const near = sql(
      `SELECT ${OFFER_COLUMNS} FROM site_update u INDEXED BY ${index} CROSS JOIN site s ON s.id = u.site_id
       WHERE ${where} ORDER BY ${order('u.', 'ASC')} LIMIT ? OFFSET ?`,
      ...args,
      perPage,
      offset,
    );
    return offers.all(db, near);
  }
  const far = sql(
    `SELECT ${OFFER_COLUMNS} FROM (
       SELECT url_key, site_id, type, position, slug FROM site_update u INDEXED BY ${index}
       WHERE ${where} ORDER BY ${order('', direction)} LIMIT ? OFFSET ?
     ) k CROSS JOIN site_update u ON u.site_id = k.site_id AND u.type = k.type AND u.slug = k.slug
     JOIN site s ON s.id = u.site_id ORDER BY ${order('k.', 'ASC')}`,
    ...args,
    size,
    skip,
  );
  return offers.all(db, far);
}

/** A page of chosen sites, in the given order. */
function chosenPage(db: Db, filter: OfferFilter, perPage: number, offset: number): Promise<FleetOffer[]> {
  const typed = among('u.type', filter.types);
  const rows = sql(
    `SELECT ${OFFER_COLUMNS} FROM json_each(?) j CROSS JOIN site_update u ON u.site_id = j.value
     JOIN site s ON s.id = u.site_id WHERE u.ignored = 0${typed.text} ORDER BY j.key, u.type, u.position LIMIT ? OFFSET ?`,
    idList(filter.site_ids ?? []),
    ...typed.args,
    perPage,
    offset,
  );
  return offers.all(db, rows);
}
