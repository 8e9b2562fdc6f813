/** Clients and their sites. Each write is one batch. */

import { fold, needle } from '../../../schemas/fold.js';
import type { BatchResult, Db, Statement } from '../driver/db.js';
import { StorageError, sql } from '../driver/db.js';
import { countOf, rowsAndTotal } from '../driver/lists.js';
import { insertRow } from '../driver/rows.js';
import { among, equal, except, type Fragment, fragment, join, offset } from '../driver/sql-fragments.js';
import { type SuspensionChange, stampStatus } from '../sites/status.js';
import {
  CLIENT_TEXTS,
  type ClientFilter,
  type ClientItemRow,
  type ClientKey,
  type ClientRow,
  type ClientTexts,
  type ClientWrite,
} from './rows.js';

const ITEM = 'c.id, c.name, c.email, c.phone, c.suspended, c.created_at';
/** Buckets of hours that serve one client alone. */
const ownBuckets = (id: string) =>
  `time_bucket_client b WHERE b.client_id = ${id}
   AND NOT EXISTS (SELECT 1 FROM time_bucket_client o WHERE o.bucket_id = b.bucket_id AND o.client_id <> b.client_id)`;
const FULL = `${ITEM}, c.address_1, c.address_2, c.city, c.state, c.zip, c.country, c.note, c.updated_at,
  (SELECT count(*) FROM ${ownBuckets('c.id')}) AS own_buckets,
  (SELECT count(*) FROM site s WHERE s.client_id = c.id AND s.suspended = 1) AS suspended_sites`;

/**
 * Wanted ids that match no site; one argument, the ids as JSON. Repeated inside a batch it finds the same each time.
 */
const MISSING = 'FROM json_each(?) w WHERE NOT EXISTS (SELECT 1 FROM site x WHERE x.id = w.value)';

const SITES_COUNT = '(SELECT count(*) FROM site s WHERE s.client_id = c.id) AS sites_count';

function predicate(filter: ClientFilter): Fragment {
  const text = needle(filter.search);
  return join([
    among('c.id', filter.include),
    except('c.id', filter.exclude),
    equal('c.suspended', filter.suspended),
    text === ''
      ? fragment('')
      : fragment(" AND (instr(c.name_key, ?) > 0 OR instr(ifnull(c.email_key, ''), ?) > 0)", text, text),
  ]);
}

function oneClient(condition: string, args: Fragment['args']): Statement {
  return sql(`SELECT ${FULL}, ${SITES_COUNT} FROM client c WHERE ${condition}`, ...args);
}

function emailKey(email: string): string | null {
  return email === '' ? null : fold(email);
}

/** Outcome of a batch whose first statement finds missing sites and whose last one reads the client. */
function written(results: readonly BatchResult[]): ClientWrite {
  const missing = results[0]?.rows ?? [];
  if (missing.length > 0) return { outcome: 'no_site', missing: missing.map((row) => Number(row.id)) };
  const client = results.at(-1)?.rows[0];
  if (client === undefined) return { outcome: 'no_client' };
  return { outcome: 'stored', client: client as ClientRow };
}

/** The only unique column of a client besides its id is the e-mail. */
async function orEmailTaken(work: Promise<BatchResult[]>): Promise<ClientWrite> {
  try {
    return written(await work);
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'unique') return { outcome: 'email_taken' };
    throw error;
  }
}

export function createClients(db: Db) {
  return {
    /** One page in name order with the true total, in one snapshot. */
    list(filter: ClientFilter, page: number, perPage: number) {
      const { text, args } = predicate(filter);
      const keys = `SELECT c.id FROM client c WHERE 1${text} ORDER BY c.name_key, c.id LIMIT ? OFFSET ?`;
      const rows = sql(
        `SELECT ${ITEM}, ${SITES_COUNT} FROM (${keys}) k CROSS JOIN client c ON c.id = k.id ORDER BY c.name_key, c.id`,
        ...args,
        perPage,
        offset(page, perPage),
      );
      return rowsAndTotal<ClientItemRow>(db, rows, sql(`SELECT count(*) AS n FROM client c WHERE 1${text}`, ...args));
    },

    count(filter: ClientFilter): Promise<number> {
      const { text, args } = predicate(filter);
      return countOf(db, `SELECT count(*) AS n FROM client c WHERE 1${text}`, args);
    },

    find(key: ClientKey): Promise<ClientRow | undefined> {
      const query = 'id' in key ? oneClient('c.id = ?', [key.id]) : oneClient('c.email_key = ?', [emailKey(key.email)]);
      return db.one<ClientRow>(query.sql, query.args);
    },

    /** The first clients of this name, in any case. */
    named(name: string, most: number): Promise<{ id: number; email: string }[]> {
      return db.all('SELECT id, email FROM client WHERE name_key = ? ORDER BY id LIMIT ?', [fold(name), most]);
    },

    /** Creates a client and assigns the wanted sites to it. */
    add(texts: ClientTexts, siteIds: readonly number[], now: number): Promise<ClientWrite> {
      const wanted = JSON.stringify(siteIds);
      // AUTOINCREMENT: within the batch the new client has the highest id of all.
      const newest = '(SELECT max(id) FROM client)';
      return orEmailTaken(
        db.batch([
          sql(`SELECT w.value AS id ${MISSING}`, wanted),
          sql(
            `INSERT INTO client (${CLIENT_TEXTS.join(', ')}, name_key, email_key, created_at, updated_at)
             SELECT ${CLIENT_TEXTS.map(() => '?').join(', ')}, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 ${MISSING})`,
            ...CLIENT_TEXTS.map((column) => texts[column]),
            fold(texts.name),
            emailKey(texts.email),
            now,
            now,
            wanted,
          ),
          sql(
            `UPDATE site SET client_id = ${newest}
             WHERE id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 ${MISSING})`,
            wanted,
            wanted,
          ),
          oneClient(`c.id = ${newest}`, []),
        ]),
      );
    },

    /** Creates a client that was deleted again, with the id it had. */
    restore(
      id: number,
      { suspended, ...texts }: ClientTexts & { suspended: number },
      now: number,
    ): Promise<ClientWrite> {
      const keys = { name_key: fold(texts.name), email_key: emailKey(texts.email) };
      const row = { id, ...texts, ...keys, suspended, created_at: now, updated_at: now };
      return orEmailTaken(db.batch([sql('SELECT 1 WHERE 0'), insertRow('client', row), oneClient('c.id = ?', [id])]));
    },

    /** The clients of these sites, and of those that this client has. */
    owners(id: number, siteIds: readonly number[]): Promise<{ id: number; client_id: number | null }[]> {
      return db.all(
        'SELECT id, client_id FROM site WHERE client_id = ? OR id IN (SELECT value FROM json_each(?)) ORDER BY id',
        [id, JSON.stringify(siteIds)],
      );
    },

    /** Only the given texts change. `siteIds` replaces the client's sites. */
    update(id: number, texts: Partial<ClientTexts>, siteIds: readonly number[] | undefined, now: number) {
      const wanted = JSON.stringify(siteIds ?? []);
      const { name, email } = texts;
      const statements = [
        sql(`SELECT w.value AS id ${MISSING}`, wanted),
        sql(
          `UPDATE client SET ${CLIENT_TEXTS.map((column) => `${column} = coalesce(?, ${column})`).join(', ')},
             name_key = coalesce(?, name_key), email_key = CASE WHEN ? THEN ? ELSE email_key END, updated_at = ?
           WHERE id = ? AND NOT EXISTS (SELECT 1 ${MISSING})`,
          ...CLIENT_TEXTS.map((column) => texts[column] ?? null),
          name === undefined ? null : fold(name),
          email !== undefined,
          emailKey(email ?? ''),
          now,
          id,
          wanted,
        ),
      ];
      if (siteIds !== undefined) {
        statements.push(
          sql(
            `UPDATE site SET client_id = NULL WHERE client_id = ? AND NOT EXISTS (SELECT 1 ${MISSING})
               AND id NOT IN (SELECT value FROM json_each(?))`,
            id,
            wanted,
            wanted,
          ),
          sql(
            `UPDATE site SET client_id = ? WHERE id IN (SELECT value FROM json_each(?)) AND client_id IS NOT ?
               AND EXISTS (SELECT 1 FROM client WHERE id = ?) AND NOT EXISTS (SELECT 1 ${MISSING})`,
            id,
            wanted,
            id,
            id,
            wanted,
          ),
        );
      }
      return orEmailTaken(db.batch([...statements, oneClient('c.id = ?', [id])]));
    },

    /**
     * Sites and costs lose the client by their foreign keys; sites keep their suspension. Hours bought for it alone are
     * deleted: a bucket without clients serves every client. False if the client no longer existed.
     */
    async remove(id: number): Promise<boolean> {
      const [, removed] = await db.batch([
        sql(`DELETE FROM time_bucket WHERE id IN (SELECT bucket_id FROM ${ownBuckets('?')})`, id),
        sql('DELETE FROM client WHERE id = ?', id),
      ]);
      return (removed?.changes ?? 0) > 0;
    },

    /**
     * Sets or lifts the suspension of a client and of its sites. Returns the sites whose suspension changed, in URL
     * order, and how many of its sites are suspended now; undefined if there is no such client. @param only these of its sites; default: all
     */
    async mark(
      id: number,
      suspended: boolean,
      now: number,
      only?: readonly number[],
    ): Promise<{ changed: SuspensionChange[]; suspended: number } | undefined> {
      const which = only === undefined ? null : JSON.stringify(only);
      const [, sites, , known] = await db.batch([
        sql(
          'UPDATE client SET suspended = ?, updated_at = ? WHERE id = ? AND suspended <> ?',
          suspended,
          now,
          id,
          suspended,
        ),
        sql(
          `UPDATE site SET suspended = ?1, suspended_with = ?2, disconnected = min(disconnected, 1)
           WHERE client_id = ?3 AND (suspended <> ?4 OR disconnected = 2) AND (?5 IS NULL OR id IN (SELECT value FROM json_each(?5)))
           RETURNING id, url, url_key`,
          suspended,
          suspended ? id : null,
          id,
          suspended,
          which,
        ),
        stampStatus(now),
        sql(
          `SELECT (SELECT count(*) FROM site WHERE client_id = c.id AND suspended = 1) AS n FROM client c WHERE c.id = ?`,
          id,
        ),
      ]);
      const [count] = known?.rows ?? [];
      return count === undefined ? undefined : { changed: inUrlOrder(sites, suspended), suspended: Number(count.n) };
    },
  };
}

/** The rows that an UPDATE … RETURNING id, url, url_key changed. */
function inUrlOrder(result: BatchResult | undefined, suspended: boolean): SuspensionChange[] {
  return [...(result?.rows ?? [])]
    .sort((a, b) => compare(String(a.url_key), String(b.url_key)) || Number(a.id) - Number(b.id))
    .map((row) => ({ id: Number(row.id), url: String(row.url), suspended }));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
