/** Lists of sites by the expiry of certificates or domains. Their status depends on the time, so it is computed when they are read. */

import { type Db, type Row, sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { type ListedSites, listedSites } from '../sites/filter.js';

/** The instants that decide the status. */
export interface ExpiryClock {
  now: number;
  /** What expires before this is `expiring`. */
  expiring: number;
}

/** SQL texts; `status` and `columns` bind the two instants each. */
interface ExpiryTables {
  columns: string;
  status: string;
  /** With `s` as the site; every site has one row. */
  from: string;
}

/** One page in URL order with the true total. */
export function expiryList<T extends Row>(
  db: Db,
  { columns, status, from }: ExpiryTables,
  filter: ListedSites<string>,
  at: ExpiryClock,
  page: number,
  perPage: number,
): Promise<{ items: T[]; total: number }> {
  const base = listedSites(filter);
  const byStatus = filter.status.length > 0;
  const where = byStatus ? `${base.where} AND ${status} IN (SELECT value FROM json_each(?))` : base.where;
  const args = byStatus ? [...base.args, at.now, at.expiring, JSON.stringify(filter.status)] : base.args;
  const rows = sql(
    `SELECT ${columns} FROM ${from} WHERE ${where} ORDER BY s.url_key, s.id`,
    at.now,
    at.expiring,
    ...args,
  );
  const count = sql(`SELECT count(*) AS n FROM ${byStatus ? from : 'site s'} WHERE ${where}`, ...args);
  return readPage<T>(db, rows, count, page, perPage);
}
