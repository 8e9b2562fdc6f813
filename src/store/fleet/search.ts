/** The fleet search: one page of rows with chosen columns, or counts by a value. */

import type { Db, Reads, Row } from '../driver/db.js';
import { type Statement, sql } from '../driver/db.js';
import { jsonRows } from '../driver/json-rows.js';
import { type Fragment, fragment, join, offset } from '../driver/sql-fragments.js';
import { CALLED_ALONE } from '../sites/called-alone.js';
import { UNCLASSIFIED_SITES } from '../vulnerabilities/list.js';
import {
  type FleetFilter,
  type ItemFilter,
  itemRows,
  type OfferFilter,
  offerCondition,
  siteCondition,
  unknownCondition,
  unknownEnds,
  where,
} from './search-filter.js';
import { type GroupColumn, groupQuery } from './search-groups.js';

/** A value with its number of sites; null = the value is unknown, or there is none. */
interface GroupRow extends Row {
  value: string | null;
  id: number | null;
  count: number;
}

const groupRows = jsonRows<GroupRow>(['value', 'id', 'count']);

const FEED_READ = 'SELECT 1 FROM vulnerability_feed WHERE read_at IS NOT NULL';

/** Columns by name. `s` is the site, `d` its details, `e`, `p` and `u` the searched item and its update. */
const COLUMNS: Readonly<Record<string, string>> = {
  id: 's.id',
  url: 's.url',
  name: 's.name',
  status: 's.status',
  suspended: 's.suspended',
  disconnected: 's.disconnected',
  sync_error: 's.sync_error',
  unreached: 's.unreached',
  suspended_with: 's.suspended_with',
  suspended_client: '(SELECT c.name FROM client c WHERE c.id = s.suspended_with)',
  since: 'nullif(d.status_since, 0)',
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
  unanswered: `d.reachable = 0 AND NOT (coalesce((SELECT m.last_check_at FROM monitor m WHERE m.site_id = s.id), 0) > d.checked_at)`,
  certificate: '(SELECT c.valid_to FROM site_certificate c WHERE c.site_id = s.id)',
  domain: '(SELECT o.expiry_date FROM site_domain l JOIN domain o ON o.name = l.domain WHERE l.site_id = s.id)',
  backup: 'd.last_backup * 1000',
  vulnerabilities: `CASE WHEN EXISTS (${FEED_READ}) AND s.id NOT IN (${UNCLASSIFIED_SITES}) THEN
    (SELECT count(*) FROM site_extension i JOIN vulnerable_version w ON w.package_id = i.package_id AND w.version = i.version WHERE i.site_id = s.id)
    + (SELECT count(*) FROM vulnerable_version w WHERE w.package_id = 0 AND w.version = d.wp_version) END`,
  slug: 'p.slug',
  item: 'p.name',
  version: "nullif(e.version, '')",
  active: 'e.active',
  update: 'u.new_version',
  level: 'u.level',
};
/** Columns that describe the item, if one is searched for. */
const ITEM_COLUMNS: Readonly<Record<string, string>> = {
  vulnerabilities: `CASE WHEN EXISTS (${FEED_READ})
    AND NOT EXISTS (SELECT 1 FROM unclassified_version j WHERE j.package_id = e.package_id AND j.version = e.version)
    THEN (SELECT count(*) FROM vulnerable_version w WHERE w.package_id = e.package_id AND w.version = e.version) END`,
};
export type SearchColumn = keyof typeof COLUMNS;

/** A value of the details of the site `s`. */
const ofDetails = (value = '') => `(SELECT ${value} FROM site_detail d WHERE d.site_id = s.id)`;

/** The first three numbers of a version as one, so that 8.10 comes after 8.9. */
function versionKey(column: string): string {
  const after = (text: string) => `substr(${text} || '.0', instr(${text} || '.0', '.') + 1)`;
  const number = (text: string) => `CAST(${text} AS INTEGER)`;
  const [first, second, third] = [column, after(column), after(after(column))];
  return ofDetails(
    `CASE WHEN ${column} <> '' THEN ${number(first)} * 1000000000 + ${number(second)} * 100000 + ${number(third)} END`,
  );
}

/** In the order of the score of site health. */
const HEALTH = `CASE WHEN d.health_good + d.health_recommended + d.health_critical = 0 THEN 1.0
  ELSE 1 - (0.5 * d.health_recommended + 1.5 * d.health_critical) / (d.health_good + d.health_recommended + 1.5 * d.health_critical) END`;

/** Sort orders of sites; unknown values come last. */
const ORDERS = {
  url: 's.url_key',
  // Folded, and begins with the name.
  name: 's.search',
  status: 's.status',
  client: `(SELECT c.name_key FROM client c WHERE c.id = s.client_id)`,
  last_sync: '(SELECT d.last_sync FROM site_detail d WHERE d.site_id = s.id)',
  updates: '(SELECT count(*) FROM site_update o WHERE o.site_id = s.id AND o.ignored = 0)',
  vulnerabilities: ofDetails(COLUMNS.vulnerabilities),
  tags: COLUMNS.tags as string,
  wp: versionKey('d.wp_version'),
  php: versionKey('d.php_version'),
  child: versionKey('d.child_version'),
  health: ofDetails(HEALTH),
  certificate: COLUMNS.certificate as string,
  domain: COLUMNS.domain as string,
  backup: ofDetails('d.last_backup'),
  // Whichever is sooner; unknown is no date.
  ends: `nullif(min(coalesce(${COLUMNS.certificate}, 9e15), coalesce(${COLUMNS.domain}, 9e15)), 9e15)`,
  since: ofDetails(COLUMNS.since),
  // Down, unconfirmed, up; what is not monitored comes last.
  monitor: `(SELECT CASE m.status WHEN 0 THEN 0 WHEN 2 THEN 1 WHEN 1 THEN 2 END FROM monitor m WHERE m.site_id = s.id AND m.active IS NOT 0)`,
  // Worst first, as `SITE_STATES`.
  state: `CASE s.status WHEN 'suspended' THEN 4 WHEN 'disconnected' THEN 1 ELSE
    min(coalesce((SELECT CASE m.status WHEN 0 THEN 0 WHEN 2 THEN 2 END FROM monitor m WHERE m.site_id = s.id AND m.active IS NOT 0), 3),
      CASE WHEN ${ofDetails(COLUMNS.unanswered)} THEN 0 ELSE 3 END) END`,
  reason: "CASE WHEN s.status <> 'connected' THEN s.status || ' ' || s.sync_error END",
};
export type SiteOrderName = keyof typeof ORDERS;
export interface SiteOrder {
  by: SiteOrderName;
  descending: boolean;
}

function orderOf(order: SiteOrder | undefined): string {
  if (order === undefined) return '';
  return `${ORDERS[order.by]}${order.descending ? ' DESC' : ' ASC'} NULLS LAST, `;
}

/** Filters by which few sites are found; others may have to look at each of a large fleet. */
const QUICK: ReadonlySet<string> = new Set(['search', 'status', 'tags', 'clients'] satisfies (keyof FleetFilter)[]);

/** Groups of the whole fleet that one small index has in order. */
const QUICK_GROUPS: ReadonlySet<GroupColumn> = new Set(['php', 'wp', 'status']);

function isQuick(filter: FleetFilter, order: SiteOrder | undefined): boolean {
  if (typesAlone(filter, order) !== undefined) return true;
  return asked(filter).every((name) => QUICK.has(name)) && (order === undefined || order.by === 'url');
}

/** Names of the filters that filter something. */
function asked(filter: Partial<FleetFilter>): string[] {
  const filtering = (value: unknown) => (Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '');
  return Object.keys(filter).filter((name) => filtering(filter[name as keyof FleetFilter]));
}

/** Numbers of sites by why the end of a certificate or a domain is unknown. */
export type UnknownEnds = Record<
  `certificate_${'none' | 'never' | 'failed'}` | `domain_${'none' | 'never' | 'failed' | 'untold'}`,
  number
>;

export function createFleetSearch(db: Db, aside: Reads) {
  return {
    /** All plugins or themes that any site has or had. `alone` = 1: one site calls it so, and others otherwise. */
    async packages(kind: number): Promise<{ id: number; slug: string; name: string; alone: number }[]> {
      return db.all(`SELECT id, slug, name, ${CALLED_ALONE} AS alone FROM package p WHERE kind = ?`, [kind]);
    },

    /**
     * Ids of packages known by this name: the slug, the folder or file at its start, or the name. If there are none, of
     * those whose slug or name contains the text. `term` is lower-case ASCII, the only letters that SQLite folds.
     */
    async packagesCalled(kind: number, term: string): Promise<number[]> {
      const exact = await db.all(
        `SELECT id FROM package p WHERE kind = ? AND (lower(slug) IN (?, ? || '.php') OR (lower(name) = ? AND NOT ${CALLED_ALONE})
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

    /** One page with the totals, in URL order unless another is requested. */
    async rows(
      filter: FleetFilter,
      columns: readonly SearchColumn[],
      page: number,
      perPage: number,
      order?: SiteOrder,
    ): Promise<{ rows: Row[]; total: number; sites: number; unknown: number | null }> {
      const [item] = filter.items;
      const { page: keys, count } = keysOf(filter, order);
      const reads = isQuick(filter, order) ? db : aside;
      const [chosen = [], [counts] = [], unknown] = await reads.read([
        sql(`${keys.text} LIMIT ? OFFSET ?`, ...keys.args, perPage, offset(page, perPage)),
        sql(count.text, ...count.args),
        ...countUnknown(filter),
      ]);
      const places = chosen.map(({ id, package_id }) => (item === undefined ? [id] : [id, package_id]));
      const rows = chosen.length === 0 ? [] : await columnsOf(db, places, item, columns);
      return {
        rows,
        total: Number(counts?.n ?? 0),
        sites: Number(counts?.sites ?? 0),
        unknown: unknown === undefined ? null : Number(unknown[0]?.n ?? 0),
      };
    },

    /** Of how many of these sites the end of the certificate or domain is unknown, whichever a search finds. */
    async unknownEnds(of: FleetFilter | readonly number[]): Promise<UnknownEnds> {
      const { text, args } = unknownEnds(of);
      const [[counts] = []] = await aside.read([sql(text, ...args)]);
      return counts as unknown as UnknownEnds;
    },

    /** Chosen columns of these sites, in their order. */
    columns(ids: readonly number[], columns: readonly SearchColumn[]): Promise<Row[]> {
      return columnsOf(
        db,
        ids.map((id) => [id]),
        undefined,
        columns,
      );
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
      const paged = groupRows.statement(
        sql('SELECT * FROM g ORDER BY count DESC, value, id LIMIT ? OFFSET ?', perPage, offset(page, perPage)),
      );
      const reads = asked(filter).length === 0 && QUICK_GROUPS.has(by) ? db : aside;
      // Counted once, for the page and for their number.
      const [[found] = [], unknown] = await reads.read([
        sql(
          `WITH g AS MATERIALIZED (${counted.text}) SELECT items, (SELECT count(*) FROM g) AS total_groups,
             (SELECT count(*) FROM site s${where(condition).text}) AS sites FROM (${paged.sql})`,
          ...counted.args,
          ...condition.args,
          ...paged.args,
        ),
        ...countUnknown(filter),
      ]);
      return {
        groups: groupRows.parse(found === undefined ? undefined : [found]),
        total_groups: Number(found?.total_groups ?? 0),
        sites: Number(found?.sites ?? 0),
        unknown: unknown === undefined ? null : Number(unknown[0]?.n ?? 0),
      };
    },
  };
}

interface Keys {
  page: Fragment;
  count: Fragment;
}

/** All matches in order: sites, or with an item pairs of site and package; and how many there are. */
function keysOf(filter: FleetFilter, order?: SiteOrder): Keys {
  const [item, ...others] = filter.items;
  const types = typesAlone(filter, order);
  if (types !== undefined) return offeringSites(types);
  const from =
    item === undefined
      ? join([fragment('FROM site s'), where(siteCondition(filter))])
      : join([
          fragment('FROM ('),
          itemRows(item),
          fragment(') m CROSS JOIN site s ON s.id = m.site_id'),
          where(siteCondition({ ...filter, items: others })),
        ]);
  const [columns, counts, last] =
    item === undefined
      ? ['s.id', 'count(*) AS n, count(*) AS sites', '']
      : ['s.id, m.package_id', 'count(*) AS n, count(DISTINCT s.id) AS sites', ', m.package_id'];
  const ordered = `ORDER BY ${item === undefined ? orderOf(order) : ''}s.url_key, s.id${last}`;
  return {
    page: join([fragment(`SELECT ${columns}`), from, fragment(ordered)], ' '),
    count: join([fragment(`SELECT ${counts}`), from], ' '),
  };
}

/** The types of updates, if nothing else is asked for and sites are sorted by address. */
function typesAlone({ offers = [], ...others }: FleetFilter, order: SiteOrder | undefined): OfferFilter | undefined {
  const [offer, ...more] = offers;
  if (offer === undefined || offer.levels.length > 0 || more.length > 0 || asked(others).length > 0) return undefined;
  return order === undefined || (order.by === 'url' && !order.descending) ? offer : undefined;
}

/**
 * Sites in the order of their addresses as the updates themselves have them: an index that need not look at each site. Those of
 * one type are counted already.
 */
function offeringSites(offer: OfferFilter): Keys {
  const [type, ...others] = offer.types;
  const keys = join([
    fragment('SELECT DISTINCT u.url_key, u.site_id AS id FROM site_update u WHERE '),
    offerCondition(offer),
  ]);
  return {
    page: join([keys, fragment(' ORDER BY u.url_key, u.site_id')]),
    count:
      type !== undefined && others.length === 0
        ? fragment('SELECT sites AS n, sites FROM update_count WHERE type = ?', type)
        : join([fragment('SELECT count(*) AS n, count(*) AS sites FROM ('), keys, fragment(')')]),
  };
}

async function columnsOf(
  db: Db,
  keys: readonly (readonly unknown[])[],
  item: ItemFilter | undefined,
  columns: readonly SearchColumn[],
): Promise<Row[]> {
  const of = item === undefined ? COLUMNS : { ...COLUMNS, ...ITEM_COLUMNS };
  const chosen = columns.map((name) => `${of[name]} AS "${name}"`).join(', ');
  const installed = `JOIN site_extension e ON e.site_id = s.id AND e.kind = ? AND e.package_id = k.value ->> 1
    JOIN package p ON p.id = e.package_id
    LEFT JOIN site_update u ON u.site_id = s.id AND u.type = p.kind + 1 AND u.slug = p.slug AND u.ignored = 0`;
  return db.all(
    `SELECT ${chosen} FROM json_each(?) k CROSS JOIN site s ON s.id = k.value ->> 0
     JOIN site_detail d ON d.site_id = s.id ${item === undefined ? '' : installed} ORDER BY k.key`,
    [JSON.stringify(keys), ...(item === undefined ? [] : [item.kind])],
  );
}

function countUnknown(filter: FleetFilter): Statement[] {
  const condition = unknownCondition(filter);
  if (condition === undefined) return [];
  return [sql(`SELECT count(*) AS n FROM site s WHERE ${condition.text}`, ...condition.args)];
}
