/** Guidance that people wrote, or programs proposed, of the fleet, of clients and of sites. */

import type { Db, Row, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';

export interface NewGuidance {
  /** Both null: of the whole fleet. */
  site_id: number | null;
  client_id: number | null;
  text: string;
  author: string;
  created_at: number;
  until: number | null;
  /** null = unverified. */
  confirmed_by: string | null;
}

export interface GuidanceRow extends NewGuidance, Row {
  id: number;
  site_name: string | null;
  client_name: string | null;
}

const COLUMNS = `g.*, (SELECT s.name FROM site s WHERE s.id = g.site_id) AS site_name,
  (SELECT c.name FROM client c WHERE c.id = g.client_id) AS client_name`;

const HOLDS = '(g.until IS NULL OR g.until > ?)';
/** What people wrote or confirmed is not pushed back by what programs propose; of the fleet first, then of clients, then of sites. */
const ORDER = 'ORDER BY g.confirmed_by IS NULL, g.site_id IS NOT NULL, g.client_id IS NOT NULL, g.id';

export function createGuidance(db: Db) {
  const pageOf = (from: string, args: readonly Value[], page: number, perPage: number) =>
    readPage<GuidanceRow>(
      db,
      sql(`SELECT ${COLUMNS} ${from} ${ORDER}`, ...args),
      sql(`SELECT count(*) AS n ${from}`, ...args),
      page,
      perPage,
    );

  return {
    /** What holds, all of it or one client's. */
    list(clientId: number | undefined, now: number, page: number, perPage: number) {
      const from = `FROM guidance g WHERE ${HOLDS} AND (?2 IS NULL OR g.client_id = ?2 OR (g.client_id IS NULL AND g.site_id IS NULL))`;
      return pageOf(from, [now, clientId ?? null], page, perPage);
    },

    /** What to watch out for on any of these sites, with how much there is; without sites, what holds for all. */
    heeded(siteIds: readonly number[], now: number, page: number, perPage: number) {
      const from = `FROM guidance g WHERE ${HOLDS} AND ((g.site_id IS NULL AND g.client_id IS NULL)
        OR g.site_id IN (SELECT value FROM json_each(?2))
        OR g.client_id IN (SELECT s.client_id FROM site s WHERE s.id IN (SELECT value FROM json_each(?2))))`;
      return pageOf(from, [now, JSON.stringify(siteIds)], page, perPage);
    },

    find: (id: number) => db.one<GuidanceRow>(`SELECT ${COLUMNS} FROM guidance g WHERE g.id = ?`, [id]),

    /** How many hold: in all, and unverified ones. */
    async count(now: number): Promise<{ all: number; unverified: number }> {
      const from = `FROM guidance g WHERE ${HOLDS}`;
      const row = await db.one(`SELECT count(*) AS n, count(*) - count(g.confirmed_by) AS unverified ${from}`, [now]);
      return { all: Number(row?.n), unverified: Number(row?.unverified) };
    },

    /** Deletes what holds no more, too. */
    async add(row: NewGuidance): Promise<number> {
      const { site_id, client_id, text, author, created_at, until, confirmed_by } = row;
      const [, added] = await db.batch([
        sql('DELETE FROM guidance WHERE until <= ?', created_at),
        sql(
          'INSERT INTO guidance (site_id, client_id, text, author, created_at, until, confirmed_by) VALUES (?, ?, ?, ?, ?, ?, ?)',
          ...[site_id, client_id, text, author, created_at, until, confirmed_by],
        ),
      ]);
      return added?.lastId ?? 0;
    },

    /** Whether it was there. */
    async confirm(id: number, by: string): Promise<boolean> {
      return (await db.run('UPDATE guidance SET confirmed_by = ? WHERE id = ?', [by, id])).changes === 1;
    },

    async remove(id: number): Promise<boolean> {
      return (await db.run('DELETE FROM guidance WHERE id = ?', [id])).changes === 1;
    },
  };
}
