/** The search over the fleet: one page of rows with chosen columns, or counts by a value. */

import type { Db, Row, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { type Fragment, join, offset } from '../driver/sql-fragments.js';
import {
  type FleetFilter,
  type ItemFilter,
  itemRows,
  offerCondition,
  siteCondition,
  unknownCondition,
} from './search-filter.js';

export type GroupColumn = 'php' | 'wp' | 'slug' | 'client' | 'tag' | 'status' | 'level';

/** A value with its number of sites; null = the value is not known, or there is none. */
export interface GroupRow extends Row {
  value: string | null;
  id: number | null;
  count: number;
}

interface Found {
  /** Site ids; with an item, pairs of site and package. */
  keys: (number | [number, number])[];
}

const fragment = (text: string, ...args: Value[]): Fragment => ({ text, args });
const where = (condition: Fragment): Fragment =>
  condition.text === '' ? condition : join([fragment(' WHERE '), condition]);

/** Columns by name. `s` is the site, `d` its details, `e`, `p` and `u` the item that is searched for and its offer. */
const COLUMNS: Readonly<Record<string, string>> = {
  id: 's.id',
  url: 's.url',
  name: 's.name',
  status: 's.status',
  suspended: 's.suspended',
  disconnected: 's.disconnected',
  check_state: 's.check_state',
  sync_error: 's.sync_error',
  sync_error_quoted: 'd.sync_error_quoted',
  http_status: 'd.http_status',
  wp: "nullif(d.wp_version, '')",
  php: "nullif(d.php_version, '')",
  child: "nullif(d.child_version, '')",
  last_sync: 'd.last_sync',
  client: '(SELECT c.name FROM client c WHERE c.id = s.client_id)',
  tags: `(SELECT group_concat(name, ', ') FROM (SELECT t.name FROM site_tag l JOIN tag t ON t.id = l.tag_id WHERE l.site_id = s.id ORDER BY t.name_key, t.id))`,
  updates:
    'CASE WHEN d.last_sync IS NOT NULL THEN (SELECT count(*) FROM site_update o WHERE o.site_id = s.id AND o.ignored = 0) END',
  health_good: 'd.health_good',
  health_recommended: 'd.health_recommended',
  health_critical: 'd.health_critical',
  monitor_status: '(SELECT m.status FROM monitor m WHERE m.site_id = s.id)',
  monitor_active: '(SELECT m.active FROM monitor m WHERE m.site_id = s.id)',
  certificate: '(SELECT c.valid_to FROM site_certificate c WHERE c.site_id = s.id)',
  domain: '(SELECT o.expiry_date FROM site_domain l JOIN domain o ON o.name = l.domain WHERE l.site_id = s.id)',
  slug: 'p.slug',
  item: 'p.name',
  version: "nullif(e.version, '')",
  active: 'e.active',
  update: 'u.new_version',
  level: 'u.level',
};
export type SearchColumn = keyof typeof COLUMNS;

export function createFleetSearch(db: Db) {
  return {
    /** All plugins or themes that any site has or had. */
    async packages(kind: number): Promise<{ id: number; slug: string; name: string }[]> {
      return db.all('SELECT id, slug, name FROM package WHERE kind = ?', [kind]);
    },

    /**
     * Ids of packages that are called so: by slug, by the folder or file name that begins the slug, or by name. When none is,
     * of those whose slug or name holds the text. `term` is lower-case ASCII, the only letters that SQLite folds.
     */
    async packagesCalled(kind: number, term: string): Promise<number[]> {
      const exact = await db.all(
        `SELECT id FROM package WHERE kind = ? AND (lower(slug) IN (?, ? || '.php') OR lower(name) = ?
           OR substr(lower(slug), 1, length(?) + 1) = ? || '/')`,
        [kind, term, term, term, term, term],
      );
      if (exact.length > 0) return exact.map((row) => Number(row.id));
      const holding = await db.all(
        'SELECT id FROM package WHERE kind = ? AND (instr(lower(slug), ?) > 0 OR instr(lower(name), ?) > 0)',
        [kind, term, term],
      );
      return holding.map((row) => Number(row.id));
    },

    /** The versions of these packages that any site has. */
    async packageVersions(packages: readonly number[]): Promise<string[]> {
      const rows = await db.all(
        "SELECT DISTINCT version FROM site_extension WHERE package_id IN (SELECT value FROM json_each(?)) AND version <> ''",
        [JSON.stringify(packages)],
      );
      return rows.map((row) => String(row.version));
    },

    /** The versions that any site has in a column. */
    async siteVersions(column: 'wp_version' | 'php_version' | 'child_version'): Promise<string[]> {
      const rows = await db.all(`SELECT DISTINCT ${column} AS version FROM site_detail WHERE ${column} <> ''`);
      return rows.map((row) => String(row.version));
    },

    /** One page in URL order, with the totals. */
    async rows(
      filter: FleetFilter,
      columns: readonly SearchColumn[],
      page: number,
      perPage: number,
    ): Promise<{ rows: Row[]; total: number; sites: number; unknown: number | null }> {
      const [item] = filter.items;
      const keys = await keysOf(db, filter);
      const skip = offset(page, perPage);
      const chosen = keys.slice(skip, skip + perPage);
      const unknown = await countUnknown(db, filter);
      const sites = item === undefined ? keys.length : new Set(keys.map((key) => (key as [number, number])[0])).size;
      const rows = chosen.length === 0 ? [] : await columnsOf(db, chosen, item, columns);
      return { rows, total: keys.length, sites, unknown };
    },

    /** Chosen columns of these sites, in their order. */
    columns(ids: readonly number[], columns: readonly SearchColumn[]): Promise<Row[]> {
      return columnsOf(db, [...ids], undefined, columns);
    },

    /** Values with their numbers of sites, the most frequent first. */
    async groups(
      filter: FleetFilter,
      by: GroupColumn,
      page: number,
      perPage: number,
    ): Promise<{ groups: GroupRow[]; total_groups: number; sites: number; unknown: number | null }> {
      const counted = groupQuery(filter, by);
      const condition = siteCondition(filter);
      const [groups = [], totals = []] = await db.read([
        sql(
          `SELECT * FROM (${counted.text}) ORDER BY count DESC, value, id LIMIT ? OFFSET ?`,
          ...counted.args,
          perPage,
          offset(page, perPage),
        ),
        sql(
          `SELECT (SELECT count(*) FROM (${counted.text})) AS total_groups, (SELECT count(*) FROM site s${where(condition).text}) AS sites`,
          ...counted.args,
          ...condition.args,
        ),
      ]);
      return {
        groups: groups as GroupRow[],
        total_groups: Number(totals[0]?.total_groups ?? 0),
        sites: Number(totals[0]?.sites ?? 0),
        unknown: await countUnknown(db, filter),
      };
    },
  };
}

/** All matches in URL order, as one JSON text: a fleet's ids are read faster so than a page and a count apart. */
async function keysOf(db: Db, filter: FleetFilter): Promise<Found['keys']> {
  const [item, ...others] = filter.items;
  const query =
    item === undefined
      ? join([
          fragment('SELECT s.id AS k FROM site s'),
          where(siteCondition(filter)),
          fragment(' ORDER BY s.url_key, s.id'),
        ])
      : join([
          fragment('SELECT json_array(s.id, m.package_id) AS k FROM ('),
          itemRows(item),
          fragment(') m CROSS JOIN site s ON s.id = m.site_id'),
          where(siteCondition({ ...filter, items: others })),
          fragment(' ORDER BY s.url_key, s.id, m.package_id'),
        ]);
  const value = item === undefined ? 'k' : 'json(k)';
  const found = await db.one(`SELECT json_group_array(${value}) AS keys FROM (${query.text})`, query.args);
  return JSON.parse(String(found?.keys ?? '[]'));
}

async function columnsOf(
  db: Db,
  keys: Found['keys'],
  item: ItemFilter | undefined,
  columns: readonly SearchColumn[],
): Promise<Row[]> {
  const chosen = columns.map((name) => `${COLUMNS[name]} AS "${name}"`).join(', ');
  const installed = `JOIN site_extension e ON e.site_id = s.id AND e.kind = ? AND e.package_id = k.value ->> 1
    JOIN package p ON p.id = e.package_id
    LEFT JOIN site_update u ON u.site_id = s.id AND u.type = p.kind + 1 AND u.slug = p.slug AND u.ignored = 0`;
  return db.all(
    `SELECT ${chosen} FROM json_each(?) k CROSS JOIN site s ON s.id = ${item === undefined ? 'k.value' : 'k.value ->> 0'}
     JOIN site_detail d ON d.site_id = s.id ${item === undefined ? '' : installed} ORDER BY k.key`,
    [JSON.stringify(keys), ...(item === undefined ? [] : [item.kind])],
  );
}

async function countUnknown(db: Db, filter: FleetFilter): Promise<number | null> {
  const condition = unknownCondition(filter);
  if (condition === undefined) return null;
  const row = await db.one(`SELECT count(*) AS n FROM site s WHERE ${condition.text}`, condition.args);
  return Number(row?.n ?? 0);
}

/** `SELECT value, id, count` of a grouping. */
function groupQuery(filter: FleetFilter, by: GroupColumn): Fragment {
  if (by === 'slug' || by === 'level') return byOffer(filter, by);
  const condition = siteCondition(filter);
  const ofDetail = (column: string) =>
    join([
      fragment(`SELECT nullif(${column}, '') AS value, NULL AS id, count(*) AS count FROM site_detail d WHERE 1`),
      within('d.site_id', condition),
      fragment(' GROUP BY 1'),
    ]);
  switch (by) {
    case 'php':
      return ofDetail('d.php_version');
    case 'wp':
      return ofDetail('d.wp_version');
    case 'status':
      return join([
        fragment('SELECT s.status AS value, NULL AS id, count(*) AS count FROM site s'),
        where(condition),
        fragment(' GROUP BY 1'),
      ]);
    case 'client':
      return owners(
        condition,
        'SELECT s.client_id AS id, count(*) AS n FROM site s WHERE s.client_id IS NOT NULL',
        's.id',
        'SELECT sum(n) FROM g',
        'client',
      );
    case 'tag':
      return owners(
        condition,
        'SELECT l.tag_id AS id, count(*) AS n FROM site_tag l WHERE 1',
        'l.site_id',
        'SELECT count(DISTINCT l.site_id) FROM site_tag l WHERE 1',
        'tag',
      );
  }
}

/** `AND column IN (the sites)`; nothing when every site fits. */
function within(column: string, condition: Fragment): Fragment {
  return condition.text === ''
    ? condition
    : join([fragment(` AND ${column} IN (SELECT s.id FROM site s WHERE `), condition, fragment(')')]);
}

/** Clients or tags with their sites, and as null the sites that have none: what is left of all. */
function owners(
  condition: Fragment,
  counted: string,
  column: string,
  owned: string,
  table: 'client' | 'tag',
): Fragment {
  return join([
    fragment(`WITH g AS (${counted}`),
    within(column, condition),
    fragment(` GROUP BY 1)
      SELECT o.name AS value, g.id AS id, g.n AS count FROM g JOIN ${table} o ON o.id = g.id
      UNION ALL SELECT NULL, NULL, n FROM (SELECT (SELECT count(*) FROM site s`),
    where(condition),
    fragment(`) - ifnull((${owned}`),
    ...(table === 'tag' ? [within(column, condition)] : []),
    fragment('), 0) AS n) WHERE n > 0'),
  ]);
}

const LEVEL = "CASE u.level WHEN 0 THEN 'patch' WHEN 1 THEN 'minor' WHEN 2 THEN 'major' END";

/** By slug or level: of the updates that were asked about, else, for slugs, of what is installed. */
function byOffer(filter: FleetFilter, by: 'slug' | 'level'): Fragment {
  const [item, ...others] = filter.items;
  const asked = item?.offer === undefined ? filter.offers : [{ types: [], levels: item.offer }];
  if (by === 'slug' && asked === undefined) return installed({ ...filter, items: others }, item);
  const offers = asked ?? [{ types: [], levels: [] }];
  const ofItem = fragment(
    ' AND (u.type, u.slug) IN (SELECT kind + 1, slug FROM package WHERE id IN (SELECT value FROM json_each(?)))',
    JSON.stringify(item?.packages ?? []),
  );
  return join([
    fragment(
      `SELECT ${by === 'level' ? LEVEL : 'u.slug'} AS value, NULL AS id, count(DISTINCT u.site_id) AS count FROM site_update u WHERE (`,
    ),
    ...offers.flatMap((one, index) => [fragment(index === 0 ? '(' : ' OR ('), offerCondition(one), fragment(')')]),
    fragment(')'),
    ...(item === undefined ? [] : [ofItem]),
    // Without an item, what was asked of the offers stands above already.
    within('u.site_id', siteCondition(item === undefined ? { ...filter, offers: undefined } : filter)),
    fragment(' GROUP BY 1'),
  ]);
}

/** Slugs of what is installed. A site has a slug once, so rows are sites. */
function installed(filter: FleetFilter, item: ItemFilter | undefined): Fragment {
  const rows =
    item === undefined
      ? fragment('SELECT e.site_id, e.package_id FROM site_extension e WHERE e.kind = 0')
      : itemRows(item);
  return join([
    fragment('SELECT p.slug AS value, NULL AS id, sum(n) AS count FROM (SELECT m.package_id, count(*) AS n FROM ('),
    rows,
    fragment(') m WHERE 1'),
    within('m.site_id', siteCondition(filter)),
    fragment(' GROUP BY 1) g JOIN package p ON p.id = g.package_id GROUP BY 1'),
  ]);
}
