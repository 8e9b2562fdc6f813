/** Filters of site lists: one predicate for items and totals alike, and the strategies for searching. */

import { domainToUnicode } from 'node:url';
import { fold, needle } from '../../../schemas/fold.js';
import { type Db, type Statement, sql, type Value } from '../driver/db.js';
import { jsonRows } from '../driver/json-rows.js';
import { ON_OFFER, WANTED } from './ignored-updates.js';
import type { SiteRow, SiteStatus } from './rows.js';

export interface SiteFilter {
  status?: SiteStatus | readonly SiteStatus[] | undefined;
  /** Only sites that are not suspended, whatever status they show: one disconnected meanwhile shows that instead. */
  not_suspended?: true | undefined;
  /** Case-insensitive substring of name or URL; blank = no filter. */
  search?: string | undefined;
  /** A search also matches digits of ids (REST §3.2). */
  search_ids?: boolean | undefined;
  client_id?: number | undefined;
  tag_id?: number | undefined;
  ids?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
  /** Only sites with at least one visible update; or one that is quarantined. */
  with_updates?: boolean | 'or_quarantined' | undefined;
}

const LISTED = ['id', 'url', 'name', 'status', 'client_id', 'unreached'];
export const LIST_COLUMNS = LISTED.map((name) => `s.${name}`).join(', ');
/** Rows of `LIST_COLUMNS`. */
export const siteRows = jsonRows<SiteRow>(LISTED);

/** Up to this offset it is cheaper to fetch the rows that are skipped than to find the page's keys first. */
const NEAR = 100;

/** What a list of sites is sorted by: columns of `s` that no two sites share and that are never null. */
export interface Sorting {
  columns: readonly string[];
  descending?: boolean;
}

/**
 * Where a page begins: after some number of rows, or after the row with this sort key, which costs the same anywhere.
 */
export interface PageStart {
  skip?: number;
  after?: readonly Value[] | undefined;
}

/** A site with its sort key, as the JSON of a list. */
export interface PlacedSite extends SiteRow {
  place: string;
}

/** Rows of `pageStatement`. */
export const placedRows = jsonRows<PlacedSite>([...LISTED, 'place']);

/** Statement of one page of sites. */
export function pageStatement(
  { where, args }: ReturnType<typeof sitePredicate>,
  { columns, descending = false }: Sorting,
  { skip = 0, after }: PageStart,
  perPage: number,
): Statement {
  const order = columns.map((column) => `${column} ${descending ? 'DESC' : 'ASC'}`).join(', ');
  const key = columns.join(', ');
  // SQLite seeks in an index by the first column alone: not by several, if one has a collation.
  const beyond = descending ? '<' : '>';
  const begin =
    after === undefined
      ? ''
      : ` AND ${columns[0]} ${beyond}= ? AND (${key}) ${beyond} (${columns.map(() => '?').join(', ')})`;
  const keys = `FROM site s WHERE ${where}${begin} ORDER BY ${order} LIMIT ? OFFSET ?`;
  // Keys first: the rows before the page are read in the index only. CROSS keeps the page in front: otherwise SQLite
  // tends to read all sites in order and look each up in the page.
  const rows = `FROM (SELECT s.id ${keys}) k CROSS JOIN site s ON s.id = k.id ORDER BY ${order}`;
  // As text: a list within a list would be parsed as two.
  const place = `'' || json_array(${key}) AS place`;
  return sql(
    `SELECT ${LIST_COLUMNS}, ${place} ${skip <= NEAR ? keys : rows}`,
    ...args,
    // Completes a sort key that is too short, which only a caller can have made up.
    ...(after === undefined ? [] : [0, ...columns.keys()].map((index) => after[index] ?? null)),
    perPage,
    skip,
  );
}

/** Ids as one JSON argument: any number of them is one bound value. */
export function idList(ids: readonly number[]): string {
  return JSON.stringify(ids);
}

/** The text that a search covers: the name, and the URL with its domain both encoded and in its own script. */
export function searchText(name: string, url: string): string {
  return fold([name, url, ...(isInternational(url) ? [realAddress(url)] : [])].join('\u001f'));
}

/** Whether the encoded domain contains letters beyond ASCII. */
function isInternational(url: string): boolean {
  return url.includes('xn--');
}

/** The URL with its domain in its own script. */
function realAddress(url: string): string {
  const { hostname } = new URL(url);
  return url.replace(hostname, domainToUnicode(hostname) || hostname);
}

export function needleOf({ search }: SiteFilter): string {
  return needle(search);
}

/** The index contains triples of characters; shorter searches read the rows. */
export function isIndexed(needle: string): boolean {
  return [...needle].length >= 3;
}

function phrase(needle: string): string {
  return `"${needle.replaceAll('"', '""')}"`;
}

function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, (char) => `\\${char}`)}%`;
}

/** The shared predicate of site lists, with `s` as the site. */
export function sitePredicate(filter: SiteFilter): { where: string; args: Value[] } {
  const parts: string[] = [];
  const args: Value[] = [];
  const add = (text: string, ...values: Value[]) => {
    parts.push(text);
    args.push(...values);
  };
  if (typeof filter.status === 'string') add('s.status = ?', filter.status);
  else if (filter.status !== undefined)
    add('s.status IN (SELECT value FROM json_each(?))', JSON.stringify(filter.status));
  if (filter.not_suspended === true) add('s.suspended = 0');
  if (filter.client_id !== undefined) add('s.client_id = ?', filter.client_id);
  if (filter.tag_id !== undefined)
    add('EXISTS (SELECT 1 FROM site_tag t WHERE t.tag_id = ? AND t.site_id = s.id)', filter.tag_id);
  if (filter.ids !== undefined) add('s.id IN (SELECT value FROM json_each(?))', idList(filter.ids));
  if (filter.exclude !== undefined && filter.exclude.length > 0)
    add('s.id NOT IN (SELECT value FROM json_each(?))', idList(filter.exclude));
  if (filter.with_updates !== undefined && filter.with_updates !== false)
    add(
      `EXISTS (SELECT 1 FROM site_update u WHERE u.site_id = s.id AND ${filter.with_updates === true ? ON_OFFER : WANTED})`,
    );
  const needle = needleOf(filter);
  if (needle !== '') {
    const indexed = isIndexed(needle);
    const found = indexed
      ? 's.id IN (SELECT rowid FROM site_search WHERE site_search MATCH ?)'
      : "s.search LIKE ? ESCAPE '\\'";
    const values = [indexed ? phrase(needle) : likePattern(needle)];
    // Only digits can match an id: other searches stay with the index.
    if (filter.search_ids === true && /^\d+$/.test(needle))
      add(`(${found} OR instr(CAST(s.id AS TEXT), ?) > 0)`, ...values, needle);
    else add(found, ...values);
  }
  return { where: parts.length === 0 ? '1' : parts.join(' AND '), args };
}

/** How the lists of monitors, certificates and domains choose sites. */
export interface ListedSites<Status extends string> {
  /** OR-ed; empty = all. */
  status: readonly Status[];
  search?: string | undefined;
  include?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
}

/** The predicate of such a list, besides the status. A blank `include` filters nothing (operations §8.0a). */
export function listedSites({ search, include = [], exclude }: ListedSites<string>) {
  return sitePredicate({ search, ids: include.length === 0 ? undefined : include, exclude });
}

export function isUnfiltered(filter: SiteFilter): boolean {
  const { status, ...rest } = filter;
  return (
    (status === undefined || typeof status === 'string') &&
    Object.values(rest).every(
      (value) =>
        value === undefined ||
        value === '' ||
        value === false ||
        (Array.isArray(value) && value.length === 0 && value !== rest.ids),
    )
  );
}

/** Statement that counts a list: from the stored counters if only the status filters, otherwise by the predicate. */
export function countStatement(filter: SiteFilter): Statement {
  if (isUnfiltered(filter) && filter.ids === undefined) {
    return filter.status === undefined
      ? sql('SELECT sum(n) AS n FROM site_count')
      : sql('SELECT sum(n) AS n FROM site_count WHERE status = ?', filter.status as string);
  }
  const { where, args } = sitePredicate(filter);
  return sql(`SELECT count(*) AS n FROM site s WHERE ${where}`, ...args);
}

/** A longer needle is assumed to be rare: its few matches are fetched at once, instead of being counted first. */
const RARE_FROM = 8;
const RARE_MATCHES = 200;

interface Found {
  items: SiteRow[];
  total: number;
}

/**
 * A page of a search without other filters. Many matches: the list is read in order until the page is full, which is
 * soon. Few: the matches come from the index and are sorted. Null = the two strategies disagree on what matches (they
 * fold rare letters differently, or a site changed in between), and the shared predicate decides.
 */
export async function searchPage(db: Db, needle: string, offset: number, perPage: number): Promise<Found | null> {
  if ([...needle].length >= RARE_FROM) {
    const found = await rarePage(db, needle, offset, perPage);
    if (found !== 'many') return found;
  }
  const count = await db.one(
    'SELECT count(*) AS n, (SELECT sum(n) FROM site_count) AS sites FROM site_search WHERE site_search MATCH ?',
    [phrase(needle)],
  );
  const total = Number(count?.n ?? 0);
  if (offset >= total) return { items: [], total };
  const rowsWalked = ((offset + perPage) * Number(count?.sites ?? 0)) / total;
  // A match costs about three times as much as a row that is only skipped.
  const walks = rowsWalked < 3 * total;
  const matching = walks
    ? "site s WHERE s.search LIKE ? ESCAPE '\\'"
    : 'site_search f CROSS JOIN site s ON s.id = f.rowid WHERE f.site_search MATCH ?';
  return pageOf(db, matching, walks ? likePattern(needle) : phrase(needle), total, offset, perPage);
}

async function rarePage(db: Db, needle: string, offset: number, perPage: number): Promise<Found | null | 'many'> {
  const matches = await db.one(
    `SELECT count(*) AS n, json_group_array(id) AS ids
     FROM (SELECT rowid AS id FROM site_search WHERE site_search MATCH ? LIMIT ${RARE_MATCHES + 1})`,
    [phrase(needle)],
  );
  const total = Number(matches?.n ?? 0);
  if (total > RARE_MATCHES) return 'many';
  if (offset >= total) return { items: [], total };
  const matching = 'json_each(?) f CROSS JOIN site s ON s.id = f.value';
  return pageOf(db, matching, matches?.ids ?? '[]', total, offset, perPage);
}

/** A page of these sites in URL order; null if some were deleted between the count and the page. */
async function pageOf(
  db: Db,
  matching: string,
  arg: Value,
  total: number,
  offset: number,
  perPage: number,
): Promise<Found | null> {
  const page = `SELECT ${LIST_COLUMNS} FROM ${matching} ORDER BY s.url_key, s.id LIMIT ? OFFSET ?`;
  const items = await siteRows.all(db, sql(page, arg, perPage, offset));
  return items.length === Math.min(perPage, total - offset) ? { items, total } : null;
}
