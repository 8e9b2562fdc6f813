/** Tags, and the sites and clients that have them. */

import { fold, needle } from '../../../schemas/fold.js';
import type { BatchResult, Db, Row, Value } from '../driver/db.js';
import { StorageError, sql } from '../driver/db.js';
import { readPage, rowsAndTotal } from '../driver/lists.js';
import { insertRow } from '../driver/rows.js';
import { among, except, type Fragment, fragment, join, offset } from '../driver/sql-fragments.js';

interface TagItemRow extends Row {
  id: number;
  name: string;
  color: string | null;
  sites_count: number;
}

export interface TagRow extends TagItemRow {
  created_at: number;
  updated_at: number;
}

/** A site that has a tag. */
export type SiteTag = { site_id: number; tag_id: number };

interface NamedTagRow extends Row {
  id: number;
  name: string;
  name_key: string;
}

export interface TagFilter {
  /** Case-insensitive substring of the name or of the id's digits; blank = no filter. */
  search?: string | undefined;
  include?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
}

interface TagClientRow extends Row {
  id: number;
  name: string;
  email: string;
  sites_with_tag: number;
}

export type TagWrite = { outcome: 'stored'; tag: TagRow } | { outcome: 'name_taken' } | { outcome: 'no_tag' };

const ITEM = 't.id, t.name, t.color';
const FULL = `${ITEM}, t.created_at, t.updated_at`;

const SITES_COUNT = '(SELECT count(*) FROM site_tag l WHERE l.tag_id = t.id) AS sites_count';

function predicate(filter: TagFilter): Fragment {
  const text = needle(filter.search);
  return join([
    among('t.id', filter.include),
    except('t.id', filter.exclude),
    text === ''
      ? fragment('')
      : fragment(' AND (instr(t.name_key, ?) > 0 OR instr(CAST(t.id AS TEXT), ?) > 0)', text, text),
  ]);
}

/** The only unique column of a tag besides its id is the folded name. */
async function orNameTaken(work: Promise<BatchResult[]>): Promise<TagWrite> {
  try {
    const results = await work;
    const tag = results.at(-1)?.rows[0];
    return tag === undefined ? { outcome: 'no_tag' } : { outcome: 'stored', tag: tag as TagRow };
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'unique') return { outcome: 'name_taken' };
    throw error;
  }
}

/** The sites that have a tag, and how many costs are for it. */
export interface TagLinks {
  sites: number[];
  costs: number;
}

const linksOf = (id: number) => [
  sql('SELECT site_id FROM site_tag WHERE tag_id = ? ORDER BY site_id', id),
  sql('SELECT count(*) AS n FROM cost_target WHERE tag_id = ?', id),
];

function linksIn(sites: readonly Row[] = [], costs: readonly Row[] = []): TagLinks {
  return { sites: sites.map((row) => Number(row.site_id)), costs: Number(costs[0]?.n) };
}

export function createTags(db: Db) {
  const oneTag = (condition: string, ...args: Value[]) =>
    sql(`SELECT ${FULL}, ${SITES_COUNT} FROM tag t WHERE ${condition}`, ...args);

  return {
    /** One page in name order with the true total, in one snapshot. */
    list(filter: TagFilter, page: number, perPage: number) {
      const { text, args } = predicate(filter);
      const keys = `SELECT t.id FROM tag t WHERE 1${text} ORDER BY t.name_key, t.id LIMIT ? OFFSET ?`;
      const rows = sql(
        `SELECT ${ITEM}, ${SITES_COUNT} FROM (${keys}) k CROSS JOIN tag t ON t.id = k.id ORDER BY t.name_key, t.id`,
        ...args,
        perPage,
        offset(page, perPage),
      );
      return rowsAndTotal<TagItemRow>(db, rows, sql(`SELECT count(*) AS n FROM tag t WHERE 1${text}`, ...args));
    },

    find(id: number): Promise<TagRow | undefined> {
      const query = oneTag('t.id = ?', id);
      return db.one<TagRow>(query.sql, query.args);
    },

    /** Tags with one of these ids or folded names. */
    named(ids: readonly number[], names: readonly string[]): Promise<NamedTagRow[]> {
      return db.all<NamedTagRow>(
        'SELECT id, name, name_key FROM tag WHERE id IN (SELECT value FROM json_each(?)) OR name_key IN (SELECT value FROM json_each(?))',
        [JSON.stringify(ids), JSON.stringify(names)],
      );
    },

    /** Which of these sites have which of these tags. */
    held(siteIds: readonly number[], tagIds: readonly number[]): Promise<SiteTag[]> {
      return db.all<SiteTag>(
        'SELECT site_id, tag_id FROM site_tag WHERE site_id IN (SELECT value FROM json_each(?)) AND tag_id IN (SELECT value FROM json_each(?))',
        [JSON.stringify(siteIds), JSON.stringify(tagIds)],
      );
    },

    /** Adds tags to sites and removes tags from them, in one transaction; returns what changed. What is gone is left out. */
    async retag(siteIds: readonly number[], add: readonly number[], remove: readonly number[]): Promise<SiteTag[]> {
      const sites = JSON.stringify(siteIds);
      const results = await db.batch([
        sql(
          `DELETE FROM site_tag WHERE site_id IN (SELECT value FROM json_each(?)) AND tag_id IN (SELECT value FROM json_each(?))
           RETURNING site_id, tag_id`,
          sites,
          JSON.stringify(remove),
        ),
        sql(
          `INSERT OR IGNORE INTO site_tag (site_id, tag_id) SELECT s.id, t.id FROM site s CROSS JOIN tag t
           WHERE s.id IN (SELECT value FROM json_each(?)) AND t.id IN (SELECT value FROM json_each(?)) RETURNING site_id, tag_id`,
          sites,
          JSON.stringify(add),
        ),
      ]);
      return results.flatMap(({ rows }) => rows as SiteTag[]);
    },

    /** The sites that have the tag, and how many costs are for it. */
    async links(id: number): Promise<TagLinks> {
      const [sites, costs] = await db.read(linksOf(id));
      return linksIn(sites, costs);
    },

    /** Creates a tag that was deleted again, with the id it had. */
    restore(id: number, { name, color }: { name: string; color: string | null }, now: number): Promise<TagWrite> {
      return orNameTaken(
        db.batch([
          insertRow('tag', { id, name, name_key: fold(name), color, created_at: now, updated_at: now }),
          oneTag('t.id = ?', id),
        ]),
      );
    },

    add(name: string, color: string | null, now: number): Promise<TagWrite> {
      return orNameTaken(
        db.batch([
          insertRow('tag', { name, name_key: fold(name), color, created_at: now, updated_at: now }),
          // AUTOINCREMENT: within the batch the new tag has the highest id of all.
          oneTag('t.id = (SELECT max(id) FROM tag)'),
        ]),
      );
    },

    /** Only the given fields change; a color of null clears it. */
    update(
      id: number,
      change: { name?: string | undefined; color?: string | null | undefined },
      now: number,
    ): Promise<TagWrite> {
      const { name = null, color } = change;
      return orNameTaken(
        db.batch([
          sql(
            `UPDATE tag SET name = coalesce(?, name), name_key = coalesce(?, name_key),
               color = CASE WHEN ? THEN ? ELSE color END, updated_at = ? WHERE id = ?`,
            name,
            name === null ? null : fold(name),
            color !== undefined,
            color ?? null,
            now,
            id,
          ),
          oneTag('t.id = ?', id),
        ]),
      );
    },

    /** Links to sites and costs are removed by their foreign keys; returns which. Undefined if it no longer existed. */
    async remove(id: number): Promise<TagLinks | undefined> {
      const [sites, costs, removed] = await db.batch([...linksOf(id), sql('DELETE FROM tag WHERE id = ?', id)]);
      return removed?.changes === 0 ? undefined : linksIn(sites?.rows, costs?.rows);
    },

    /** Clients with at least one site that has the tag, once each, in name order. */
    clients(tagId: number, page: number, perPage: number) {
      const links = `FROM site_tag l JOIN site s ON s.id = l.site_id WHERE l.tag_id = ? AND s.client_id IS NOT NULL`;
      const args = [tagId];
      const rows = sql(
        `SELECT c.id, c.name, c.email, o.n AS sites_with_tag
         FROM (SELECT s.client_id, count(*) AS n ${links} GROUP BY s.client_id) o JOIN client c ON c.id = o.client_id
         ORDER BY c.name_key, c.id`,
        ...args,
      );
      const count = sql(`SELECT count(DISTINCT s.client_id) AS n ${links}`, ...args);
      return readPage<TagClientRow>(db, rows, count, page, perPage);
    },
  };
}
