/** Filters that narrow lists and runs of updates: by slug, level, and the tags and clients of the sites. */

import { fold, needle } from '../../../schemas/fold.js';
import type { Reads, Row, Statement } from '../driver/db.js';
import { countOf } from '../driver/lists.js';
import { among, type Fragment, fragment, IN, join, offset } from '../driver/sql-fragments.js';
import { CALLED_ALONE } from '../sites/called-alone.js';
import { idList } from '../sites/filter.js';
import { IGNORED_ONES, ignoredBySite, ON_OFFER, QUARANTINED, WANTED } from '../sites/ignored-updates.js';
import { type FleetOffer, OFFER_COLUMNS, type OfferFilter } from './updates.js';

export interface Narrowing {
  /** Part of the slug or name, ignoring case; blank = no filter. */
  search: string;
  /** Only these; undefined = all. */
  slugs?: readonly string[] | undefined;
  exclude_slugs: readonly string[];
  /** 0 patch, 1 minor, 2 major; empty = all. */
  levels: readonly number[];
  /** Any of them; empty = all. */
  tags: readonly number[];
  clients: readonly number[];
  /** None of them. */
  exclude_tags: readonly number[];
  exclude_clients: readonly number[];
  except: readonly ExceptedItem[];
}

/** An item that is left out, on one site or on all. */
export interface ExceptedItem {
  /** Number of the update type. */
  type: number;
  slug: string;
  /** Null: on every site. */
  site_id: number | null;
}

export interface NarrowedQuery extends OfferFilter {
  narrowing: Narrowing;
}

/** A quarantined version, and where. */
export interface HeldBackRow extends Row, Pick<FleetOffer, 'type' | 'slug' | 'new_version'> {
  sites: number;
  /** JSON: the first of them. */
  site_ids: string;
}

/** The text of an update that a search covers. */
export const TEXT = 'u.slug || char(31) || u.name';

/** ` AND …` conditions on an update `u`. */
export function narrowingCondition(narrowing: Narrowing): Fragment {
  const { search, slugs, exclude_slugs, levels, tags, clients, exclude_tags, exclude_clients, except } = narrowing;
  const part = needle(search);
  const parts: Fragment[] = [];
  // SQLite folds ASCII only: other letters are compared by the code that reads the rows.
  if (part !== '' && /^\p{ASCII}*$/u.test(part)) parts.push(fragment(` AND instr(lower(${TEXT}), ?) > 0`, part));
  if (slugs !== undefined) parts.push(fragment(` AND u.slug ${IN}`, JSON.stringify(slugs)));
  if (exclude_slugs.length > 0) parts.push(fragment(` AND u.slug NOT ${IN}`, JSON.stringify(exclude_slugs)));
  parts.push(among('u.level', levels));
  if (tags.length > 0)
    parts.push(fragment(` AND u.site_id IN (SELECT site_id FROM site_tag WHERE tag_id ${IN})`, idList(tags)));
  if (clients.length > 0)
    parts.push(fragment(` AND u.site_id IN (SELECT id FROM site WHERE client_id ${IN})`, idList(clients)));
  if (exclude_tags.length > 0)
    parts.push(
      fragment(` AND u.site_id NOT IN (SELECT site_id FROM site_tag WHERE tag_id ${IN})`, idList(exclude_tags)),
    );
  if (exclude_clients.length > 0)
    parts.push(fragment(` AND u.site_id NOT IN (SELECT id FROM site WHERE client_id ${IN})`, idList(exclude_clients)));
  if (except.length > 0)
    parts.push(
      fragment(
        ` AND NOT EXISTS (SELECT 1 FROM json_each(?) x WHERE x.value ->> 0 = u.type AND x.value ->> 1 = u.slug
            AND (x.value ->> 2 IS NULL OR x.value ->> 2 = u.site_id))`,
        JSON.stringify(except.map(({ type, slug, site_id }) => [type, slug, site_id])),
      ),
    );
  return join(parts);
}

/** SQLite folds ASCII only: the texts that match a search with other letters; undefined if it has none. */
export async function unfoldedTexts(db: Reads, search: string, which = ON_OFFER): Promise<string[] | undefined> {
  const part = needle(search);
  if (/^\p{ASCII}*$/u.test(part)) return undefined;
  const rows = await db.all(`SELECT DISTINCT ${TEXT} AS text FROM site_update u WHERE ${which}`);
  return rows.map((row) => String(row.text)).filter((text) => fold(text).includes(part));
}

/** Which updates, with `u` as the update. */
export async function narrowedCondition(
  db: Reads,
  { narrowing, types, site_ids }: NarrowedQuery,
  which: string,
): Promise<Fragment> {
  const texts = await unfoldedTexts(db, narrowing.search, which);
  return join([
    fragment(which),
    among('u.type', types),
    site_ids === undefined ? fragment('') : fragment(` AND u.site_id ${IN}`, idList(site_ids)),
    narrowingCondition(narrowing),
    texts === undefined ? fragment('') : fragment(` AND ${TEXT} ${IN}`, JSON.stringify(texts)),
  ]);
}

/** Of the updates of a condition, those of suspended sites. */
function suspendedCount({ text, args }: Fragment): Statement {
  return {
    sql: `SELECT count(*) AS n FROM site s CROSS JOIN site_update u ON u.site_id = s.id WHERE s.status = 'suspended' AND ${text}`,
    args,
  };
}

export function createNarrowedUpdates(db: Reads) {
  return {
    /** One page of visible updates, and the counts of all matches by type. */
    async page(query: NarrowedQuery, page: number, perPage: number) {
      const { text, args } = await narrowedCondition(db, query, ON_OFFER);
      const order = query.site_ids === undefined ? 'u.url_key, u.site_id' : 'j.key';
      const from =
        query.site_ids === undefined
          ? 'site_update u'
          : 'json_each(?) j CROSS JOIN site_update u ON u.site_id = j.value';
      const first = query.site_ids === undefined ? [] : [idList(query.site_ids)];
      const [items = [], counts = []] = await db.read([
        {
          sql: `SELECT ${OFFER_COLUMNS} FROM ${from} JOIN site s ON s.id = u.site_id WHERE ${text}
            ORDER BY ${order}, u.type, u.position LIMIT ? OFFSET ?`,
          args: [...first, ...args, perPage, offset(page, perPage)],
        },
        { sql: `SELECT u.type, count(*) AS n FROM site_update u WHERE ${text} GROUP BY u.type`, args },
      ]);
      return {
        items: items as FleetOffer[],
        counts: new Map(counts.map((row) => [Number(row.type), Number(row.n)])),
      };
    },

    /** How many of the visible updates are those of suspended sites. */
    async onSuspended(query: NarrowedQuery): Promise<number> {
      const { sql, args } = suspendedCount(await narrowedCondition(db, query, ON_OFFER));
      return countOf(db, sql, args);
    },

    /**
     * Versions that are quarantined where they would be on offer, those on most sites first; as `onSuspended`; and how many
     * are ignored, `bySite` by a setting of their site.
     * @param sites ids of sites of each
     */
    async heldBack(
      query: NarrowedQuery,
      most: number,
      sites: number,
    ): Promise<{ items: HeldBackRow[]; total: number; suspended: number; ignored: number; bySite: number }> {
      const { text, args } = await narrowedCondition(db, query, QUARANTINED);
      const held = {
        sql: `SELECT type, slug, new_version, count(*) AS sites, count(*) OVER () AS total,
           json_group_array(site_id) FILTER (WHERE nth <= ?) AS site_ids
         FROM (SELECT u.*, row_number() OVER (PARTITION BY u.type, u.slug, u.new_version ORDER BY u.site_id) AS nth
           FROM site_update u WHERE ${text})
         GROUP BY type, slug, new_version ORDER BY sites DESC, type, slug, new_version LIMIT ?`,
        args: [sites, ...args, most],
      };
      const suspended = suspendedCount(await narrowedCondition(db, query, ON_OFFER));
      const ignored = await narrowedCondition(db, query, IGNORED_ONES);
      const counts = {
        sql: `SELECT count(*) AS n, count(*) FILTER (WHERE ${ignoredBySite('u')}) AS by_site FROM site_update u WHERE ${ignored.text}`,
        args: ignored.args,
      };
      const [rows = [], [count] = [], [left] = []] = await db.read([held, suspended, counts]);
      const items = rows as (HeldBackRow & { total: number })[];
      return {
        items,
        total: items[0]?.total ?? 0,
        suspended: Number(count?.n),
        ignored: Number(left?.n),
        bySite: Number(left?.by_site),
      };
    },

    /** Sites with at least one such update, even if it is quarantined. */
    async sites(query: NarrowedQuery): Promise<Set<number>> {
      const { text, args } = await narrowedCondition(db, query, WANTED);
      const rows = await db.all(`SELECT DISTINCT u.site_id FROM site_update u WHERE ${text}`, args);
      return new Set(rows.map((row) => Number(row.site_id)));
    },

    /** Sites of the tags and clients. */
    async sitesOf({
      tags = [],
      clients = [],
      exclude_tags = [],
      exclude_clients = [],
    }: Partial<Pick<Narrowing, 'tags' | 'clients' | 'exclude_tags' | 'exclude_clients'>>): Promise<Set<number>> {
      const tagged = `id IN (SELECT site_id FROM site_tag WHERE tag_id ${IN})`;
      const rows = await db.all(
        `SELECT id FROM site WHERE 1 ${tags.length === 0 ? '' : `AND ${tagged}`} ${clients.length === 0 ? '' : `AND client_id ${IN}`}
         ${exclude_tags.length === 0 ? '' : `AND NOT ${tagged}`}
         ${exclude_clients.length === 0 ? '' : `AND (client_id IS NULL OR client_id NOT ${IN})`}`,
        [tags, clients, exclude_tags, exclude_clients].filter((ids) => ids.length > 0).map(idList),
      );
      return new Set(rows.map((row) => Number(row.id)));
    },

    /** The first of these ids that matches no tag, and the first that matches no client. */
    async unknownOwners(
      tags: readonly number[],
      clients: readonly number[],
    ): Promise<{ tag: number | undefined; client: number | undefined }> {
      const missing = (table: string) =>
        `SELECT value AS id FROM json_each(?) WHERE value NOT IN (SELECT id FROM ${table}) LIMIT 1`;
      const [[tag] = [], [client] = []] = await db.read([
        { sql: missing('tag'), args: [idList(tags)] },
        { sql: missing('client'), args: [idList(clients)] },
      ]);
      return {
        tag: tag === undefined ? undefined : Number(tag.id),
        client: client === undefined ? undefined : Number(client.id),
      };
    },

    /** Every slug that is installed somewhere or has an update, with its names; `alone` as in `packages`. */
    async slugs(): Promise<{ slug: string; name: string; alone: number }[]> {
      return db.all(
        `SELECT slug, name, ${CALLED_ALONE} AS alone FROM package p
         UNION ALL SELECT slug, name, sites < 2 AND (sum(sites) OVER (PARTITION BY slug) > sites OR EXISTS (
           SELECT 1 FROM package q WHERE q.kind IN (0, 1) AND q.slug = u.slug AND q.name <> u.name))
         FROM (SELECT slug, name, count(*) AS sites FROM site_update WHERE type IN (0, 3) GROUP BY slug, name) u`,
      );
    },
  };
}
