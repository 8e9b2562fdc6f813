/** Sites: lists, lookups, records and their secrets. One predicate per list serves items and totals alike. */

import type { Db, Row, Statement, Value } from './db.js';
import { StorageError, sql } from './db.js';
import { fold, needle, offset } from './lists.js';
import type { Vault } from './vault.js';

export type SiteStatus = 'connected' | 'disconnected' | 'suspended';

export interface SiteRow extends Row {
  id: number;
  url: string;
  name: string;
  status: SiteStatus;
  client_id: number | null;
}

export interface SiteRecord extends SiteRow {
  site_id: number;
  url_key: string;
  suspended: number;
  disconnected: number;
  check_state: number;
  sync_error: string;
  created_at: number;
  admin_username: string;
  notes: string;
  ssl_verify: number;
  unique_id: string;
  child_version: string;
  wp_version: string;
  php_version: string;
  mysql_version: string;
  memory_limit: string;
  database_size: string;
  language: string;
  ip: string;
  timezone: string;
  gmt_offset: string;
  health_good: number | null;
  health_recommended: number | null;
  health_critical: number | null;
  last_post: number | null;
  last_sync: number | null;
  last_attempt: number | null;
  sync_error_code: string;
  http_status: number | null;
  response_time_ms: number | null;
  checked_at: number | null;
  ignore_core: number;
  ignore_plugins: number;
  ignore_themes: number;
  abandoned_checked_at: number | null;
  changes_after: number;
  content_hash: string;
  ssl_version: number;
  force_use_ipv4: number;
  automatic_update: number;
  backup_before_upgrade: number;
  disable_health_checking: number;
  health_threshold: number;
  monitoring_emails: string;
  is_staging: number;
}

/** What a call to the child needs, unsealed. Never leaves the process. */
export interface SiteConnection {
  site_id: number;
  url: string;
  user: string;
  private_key: string;
  regverify: string | null;
  unique_id: string;
  http_user: string | null;
  http_pass: string | null;
  ssl_verify: boolean;
}

export interface SiteFilter {
  status?: SiteStatus | readonly SiteStatus[] | undefined;
  /** Case-insensitive substring of name or URL; blank = no filter. */
  search?: string | undefined;
  client_id?: number | undefined;
  tag_id?: number | undefined;
  ids?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
  /** Sites hidden from the caller. */
  denied?: readonly number[] | undefined;
  /** Only sites with at least one visible offer. */
  with_updates?: boolean | undefined;
}

export interface NewSite {
  url: string;
  url_key: string;
  name: string;
  client_id: number | null;
  tags: readonly number[];
  admin_username: string;
  ssl_verify: boolean;
  unique_id: string;
  private_key: string;
  regverify: string | null;
  http_user: string | null;
  http_pass: string | null;
}

const LIST_COLUMNS = 's.id, s.url, s.name, s.status, s.client_id';

/** Ids as one JSON argument: any number of them is one bound value. */
export function idList(ids: readonly number[]): string {
  return JSON.stringify(ids);
}

export function searchText(name: string, url: string): string {
  return fold(`${name}\u001f${url}`);
}

function needleOf({ search }: SiteFilter): string {
  return needle(search);
}

/** The index knows triples of characters; shorter searches read the rows. */
function isIndexed(needle: string): boolean {
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
  if (filter.client_id !== undefined) add('s.client_id = ?', filter.client_id);
  if (filter.tag_id !== undefined)
    add('EXISTS (SELECT 1 FROM site_tag t WHERE t.tag_id = ? AND t.site_id = s.id)', filter.tag_id);
  if (filter.ids !== undefined) add('s.id IN (SELECT value FROM json_each(?))', idList(filter.ids));
  if (filter.exclude !== undefined && filter.exclude.length > 0)
    add('s.id NOT IN (SELECT value FROM json_each(?))', idList(filter.exclude));
  if (filter.denied !== undefined && filter.denied.length > 0)
    add('s.id NOT IN (SELECT value FROM json_each(?))', idList(filter.denied));
  if (filter.with_updates === true)
    add('EXISTS (SELECT 1 FROM site_update u WHERE u.site_id = s.id AND u.ignored = 0)');
  const needle = needleOf(filter);
  if (isIndexed(needle)) add('s.id IN (SELECT rowid FROM site_search WHERE site_search MATCH ?)', phrase(needle));
  else if (needle !== '') add("s.search LIKE ? ESCAPE '\\'", likePattern(needle));
  return { where: parts.length === 0 ? '1' : parts.join(' AND '), args };
}

function isUnfiltered(filter: SiteFilter): boolean {
  const { status, denied, ...rest } = filter;
  return (
    (status === undefined || typeof status === 'string') &&
    (denied === undefined || denied.length === 0) &&
    Object.values(rest).every(
      (value) =>
        value === undefined ||
        value === '' ||
        value === false ||
        (Array.isArray(value) && value.length === 0 && value !== rest.ids),
    )
  );
}

/** Statement that counts a list: from the kept counters where only the status filters, else by the predicate. */
export function countStatement(filter: SiteFilter): Statement {
  if (isUnfiltered(filter) && filter.ids === undefined) {
    return filter.status === undefined
      ? sql('SELECT sum(n) AS n FROM site_count')
      : sql('SELECT sum(n) AS n FROM site_count WHERE status = ?', filter.status as string);
  }
  const { where, args } = sitePredicate(filter);
  return sql(`SELECT count(*) AS n FROM site s WHERE ${where}`, ...args);
}

/**
 * A page of a search without other filters. Many matches: the list is walked in its order until the page is full, which
 * is soon. Few: the matches come from the index and are sorted. Null = the two ways disagree on what matches (they fold
 * rare letters differently, or a site changed in between), and the shared predicate decides.
 */
async function searchPage(
  db: Db,
  needle: string,
  offset: number,
  perPage: number,
): Promise<{ items: SiteRow[]; total: number } | null> {
  const count = await db.one(
    'SELECT count(*) AS n, (SELECT sum(n) FROM site_count) AS sites FROM site_search WHERE site_search MATCH ?',
    [phrase(needle)],
  );
  const total = Number(count?.n ?? 0);
  if (offset >= total) return { items: [], total };
  const rowsWalked = ((offset + perPage) * Number(count?.sites ?? 0)) / total;
  // A match costs about three times as much as a row that is only walked by.
  const walks = rowsWalked < 3 * total;
  const items = await db.all<SiteRow>(
    walks
      ? `SELECT ${LIST_COLUMNS} FROM site s WHERE s.search LIKE ? ESCAPE '\\' ORDER BY s.url_key, s.id LIMIT ? OFFSET ?`
      : `SELECT ${LIST_COLUMNS} FROM site_search f CROSS JOIN site s ON s.id = f.rowid WHERE f.site_search MATCH ?
         ORDER BY s.url_key, s.id LIMIT ? OFFSET ?`,
    [walks ? likePattern(needle) : phrase(needle), perPage, offset],
  );
  return items.length === Math.min(perPage, total - offset) ? { items, total } : null;
}

/** How often an id is chosen anew when other processes add sites at the same moment. */
const LAST_ATTEMPT = 20;

export function createSites(db: Db, vault: Vault) {
  let adding: Promise<void> = Promise.resolve();
  const place = (siteId: number, column: string) => `site_secret:${siteId}:${column}`;
  const seal = (siteId: number, column: string, plain: string | null) =>
    plain === null ? null : vault.seal(plain, place(siteId, column));
  const open = (siteId: number, column: string, sealed: unknown) =>
    typeof sealed === 'string' ? vault.open(sealed, place(siteId, column)) : null;

  return {
    /** One page in URL order with the true total, in one snapshot; a search counts first and then chooses its way. */
    async list(filter: SiteFilter, page: number, perPage: number): Promise<{ items: SiteRow[]; total: number }> {
      const needle = needleOf(filter);
      if (isIndexed(needle) && filter.status === undefined && isUnfiltered({ ...filter, search: '' })) {
        const found = await searchPage(db, needle, offset(page, perPage), perPage);
        if (found !== null) return found;
      }
      const { where, args } = sitePredicate(filter);
      const keys = `SELECT s.id FROM site s WHERE ${where} ORDER BY s.url_key, s.id LIMIT ? OFFSET ?`;
      // CROSS keeps the page in front: SQLite likes to walk all sites in order and look each up in the page.
      const [items = [], counts = []] = await db.read([
        sql(
          `SELECT ${LIST_COLUMNS} FROM (${keys}) k CROSS JOIN site s ON s.id = k.id ORDER BY s.url_key, s.id`,
          ...args,
          perPage,
          offset(page, perPage),
        ),
        countStatement(filter),
      ]);
      return { items: items as SiteRow[], total: Number(counts[0]?.n ?? 0) };
    },

    /** Every match in URL order. */
    all(filter: SiteFilter): Promise<SiteRow[]> {
      const { where, args } = sitePredicate(filter);
      return db.all<SiteRow>(`SELECT ${LIST_COLUMNS} FROM site s WHERE ${where} ORDER BY s.url_key, s.id`, args);
    },

    async count(filter: SiteFilter): Promise<number> {
      const [rows = []] = await db.read([countStatement(filter)]);
      return Number(rows[0]?.n ?? 0);
    },

    /** Candidates for any number of references, by id or by identifying URL form. */
    candidates(ids: readonly number[], keys: readonly string[]): Promise<(SiteRow & { url_key: string })[]> {
      return db.all(
        `SELECT ${LIST_COLUMNS}, s.url_key FROM site s WHERE s.id IN (SELECT value FROM json_each(?))
         UNION SELECT ${LIST_COLUMNS}, s.url_key FROM site s WHERE s.url_key IN (SELECT value FROM json_each(?)) ORDER BY 1`,
        [idList(ids), JSON.stringify(keys)],
      );
    },

    record(id: number): Promise<SiteRecord | undefined> {
      return db.one<SiteRecord>(
        'SELECT s.*, s.status, d.* FROM site s JOIN site_detail d ON d.site_id = s.id WHERE s.id = ?',
        [id],
      );
    },

    records(ids: readonly number[]): Promise<SiteRecord[]> {
      return db.all<SiteRecord>(
        'SELECT s.*, s.status, d.* FROM site s JOIN site_detail d ON d.site_id = s.id WHERE s.id IN (SELECT value FROM json_each(?)) ORDER BY s.url_key, s.id',
        [idList(ids)],
      );
    },

    /** Connections of any number of sites; a site without a stored key is absent. */
    async connections(ids: readonly number[]): Promise<Map<number, SiteConnection>> {
      const rows = await db.all(
        `SELECT s.id, s.url, d.admin_username, d.unique_id, d.ssl_verify, x.private_key, x.regverify, x.http_user, x.http_pass
         FROM site s JOIN site_detail d ON d.site_id = s.id JOIN site_secret x ON x.site_id = s.id
         WHERE s.id IN (SELECT value FROM json_each(?))`,
        [idList(ids)],
      );
      const connections = new Map<number, SiteConnection>();
      for (const row of rows) {
        const id = Number(row.id);
        connections.set(id, {
          site_id: id,
          url: String(row.url),
          user: String(row.admin_username),
          private_key: open(id, 'private_key', row.private_key) ?? '',
          regverify: open(id, 'regverify', row.regverify),
          unique_id: String(row.unique_id),
          http_user: open(id, 'http_user', row.http_user),
          http_pass: open(id, 'http_pass', row.http_pass),
          ssl_verify: row.ssl_verify === 1,
        });
      }
      return connections;
    },

    /**
     * Stores a new site with its secrets, tags and first inventory, or nothing. The id is chosen first because it
     * authenticates the sealed secrets. Answers undefined when the same site (by url_key) is stored already.
     */
    async add(
      site: NewSite,
      now: number,
      inventory: (siteId: number) => readonly Statement[],
    ): Promise<number | undefined> {
      // On a server, sites added at once would all choose the same id; those of one process take turns.
      const before = adding;
      let done = () => {};
      adding = new Promise((resolve) => {
        done = resolve;
      });
      await before;
      try {
        return await this.addInTurn(site, now, inventory);
      } finally {
        done();
      }
    },

    /** `add`, with nobody else in this process doing the same. */
    async addInTurn(
      site: NewSite,
      now: number,
      inventory: (siteId: number) => readonly Statement[],
    ): Promise<number | undefined> {
      for (let attempt = 0; ; attempt++) {
        const next = await db.one(
          "SELECT max(ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'site'), 0), ifnull(max(id), 0)) + 1 AS id FROM site",
        );
        const id = Number(next?.id ?? 1);
        try {
          await db.batch([
            // No row for a known site: the next statement then breaks its foreign key, and the batch leaves nothing.
            sql(
              `INSERT INTO site (id, url, url_key, name, search, client_id, created_at)
               SELECT ?, ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM site WHERE url_key = ?)`,
              id,
              site.url,
              site.url_key,
              site.name,
              searchText(site.name, site.url),
              site.client_id,
              now,
              site.url_key,
            ),
            sql(
              'INSERT INTO site_detail (site_id, admin_username, ssl_verify, unique_id) VALUES (?, ?, ?, ?)',
              id,
              site.admin_username,
              site.ssl_verify,
              site.unique_id,
            ),
            sql(
              'INSERT INTO site_secret (site_id, private_key, regverify, http_user, http_pass) VALUES (?, ?, ?, ?, ?)',
              id,
              seal(id, 'private_key', site.private_key),
              seal(id, 'regverify', site.regverify),
              seal(id, 'http_user', site.http_user),
              seal(id, 'http_pass', site.http_pass),
            ),
            ...tagStatements(id, site.tags),
            ...inventory(id),
          ]);
          return id;
        } catch (error) {
          const taken = await db.one('SELECT id FROM site WHERE url_key = ?', [site.url_key]);
          if (taken !== undefined) return undefined;
          // Another process took the same id between the two statements: choose again.
          const raced = error instanceof StorageError && error.kind === 'unique';
          if (!raced || attempt === LAST_ATTEMPT) throw error;
        }
      }
    },

    /** Which of a client and some tags do not exist. */
    async unknownLinks(
      clientId: number | undefined,
      tags: readonly number[],
    ): Promise<{ client: number | null; tags: number[] }> {
      const [clients = [], missing = []] = await db.read([
        sql('SELECT id FROM client WHERE id = ?', clientId ?? null),
        sql(
          'SELECT value AS id FROM json_each(?) WHERE value NOT IN (SELECT id FROM tag) ORDER BY key',
          JSON.stringify(tags),
        ),
      ]);
      return {
        client: clientId !== undefined && clients.length === 0 ? clientId : null,
        tags: missing.map((row) => Number(row.id)),
      };
    },

    /** Only the given fields change. `tags` replaces. */
    async update(
      id: number,
      change: { name?: string; notes?: string; client_id?: number | null; tags?: readonly number[] },
    ): Promise<void> {
      const statements: Statement[] = [];
      if (change.name !== undefined) {
        statements.push(
          sql(
            'UPDATE site SET name = ?, search = ? || char(31) || lower(url) WHERE id = ?',
            change.name,
            fold(change.name),
            id,
          ),
        );
      }
      if (change.notes !== undefined)
        statements.push(sql('UPDATE site_detail SET notes = ? WHERE site_id = ?', change.notes, id));
      if (change.client_id !== undefined)
        statements.push(sql('UPDATE site SET client_id = ? WHERE id = ?', change.client_id, id));
      if (change.tags !== undefined) {
        statements.push(sql('DELETE FROM site_tag WHERE site_id = ?', id), ...tagStatements(id, change.tags));
      }
      if (statements.length > 0) await db.batch(statements);
    },

    /** The record and all that hangs on it. False when it was gone already. */
    async remove(id: number): Promise<boolean> {
      const result = await db.run('DELETE FROM site WHERE id = ?', [id]);
      return result.changes > 0;
    },

    /** Sets or lifts a mark on any number of sites; answers the ids that changed. */
    async mark(ids: readonly number[], marks: { suspended?: boolean; disconnected?: boolean }): Promise<number[]> {
      const columns = Object.entries(marks).filter(([, value]) => value !== undefined);
      const sets = columns.map(([name]) => `${name} = ?`).join(', ');
      const differs = columns.map(([name]) => `${name} <> ?`).join(' OR ');
      const values = columns.map(([, value]) => (value ? 1 : 0));
      const rows = await db.all(
        `UPDATE site SET ${sets} WHERE id IN (SELECT value FROM json_each(?)) AND (${differs}) RETURNING id`,
        [...values, idList(ids), ...values],
      );
      return rows.map((row) => Number(row.id));
    },

    /** Outcome of a visit of the front page (operations §5.12). */
    async recordCheck(
      id: number,
      check: { state: -1 | 0 | 1; http_status: number; response_time_ms: number; at: number },
    ): Promise<void> {
      await db.batch([
        sql('UPDATE site SET check_state = ? WHERE id = ?', check.state, id),
        sql(
          'UPDATE site_detail SET http_status = ?, response_time_ms = ?, checked_at = ? WHERE site_id = ?',
          check.http_status,
          check.response_time_ms,
          check.at,
          id,
        ),
      ]);
    },

    /** After a new registration: the new key in place of the old, and every mark of a lost connection gone. */
    async replaceKey(
      id: number,
      secret: { private_key: string; regverify: string | null; unique_id: string },
    ): Promise<void> {
      await db.batch([
        sql(
          'UPDATE site_secret SET private_key = ?, regverify = ifnull(?, regverify) WHERE site_id = ?',
          seal(id, 'private_key', secret.private_key),
          seal(id, 'regverify', secret.regverify),
          id,
        ),
        sql('UPDATE site_detail SET unique_id = ? WHERE site_id = ?', secret.unique_id, id),
      ]);
    },

    /** A fresh reconnect secret; the key stays. */
    async keepRegverify(id: number, regverify: string): Promise<void> {
      await db.run('UPDATE site_secret SET regverify = ? WHERE site_id = ?', [seal(id, 'regverify', regverify), id]);
    },

    /** The child's own spelling of the address; left alone when another site has it already. */
    async moveUrl(id: number, to: { url: string; url_key: string }): Promise<void> {
      await db.run(
        `UPDATE site SET url = ?, url_key = ?, search = substr(search, 1, instr(search, char(31))) || ? WHERE id = ? AND url <> ?
         AND NOT EXISTS (SELECT 1 FROM site o WHERE o.url = ? AND o.id <> ?)`,
        [to.url, to.url_key, to.url.toLowerCase(), id, to.url, to.url, id],
      );
    },

    async markConnected(id: number): Promise<void> {
      await db.run(
        "UPDATE site SET disconnected = 0, sync_error = '', check_state = CASE WHEN check_state = -1 THEN 0 ELSE check_state END WHERE id = ?",
        [id],
      );
    },

    /** Sites whose sealed secrets cannot be opened with the present keys. */
    async unreadableSecrets(): Promise<number[]> {
      const rows = await db.all(
        'SELECT site_id, private_key, regverify, http_user, http_pass FROM site_secret ORDER BY site_id',
      );
      return rows
        .filter((row) => {
          try {
            for (const column of ['private_key', 'regverify', 'http_user', 'http_pass'])
              open(Number(row.site_id), column, row[column]);
            return false;
          } catch {
            return true;
          }
        })
        .map((row) => Number(row.site_id));
    },

    /** Seals every secret anew with the current key; answers how many sites were rewritten. */
    async resealSecrets(): Promise<number> {
      const rows = await db.all(
        'SELECT site_id, private_key, regverify, http_user, http_pass FROM site_secret ORDER BY site_id',
      );
      const statements = rows.map((row) => {
        const id = Number(row.site_id);
        const again = (column: string) => seal(id, column, open(id, column, row[column]));
        return sql(
          'UPDATE site_secret SET private_key = ?, regverify = ?, http_user = ?, http_pass = ? WHERE site_id = ? AND private_key = ?',
          again('private_key'),
          again('regverify'),
          again('http_user'),
          again('http_pass'),
          id,
          row.private_key ?? null,
        );
      });
      if (statements.length > 0) await db.batch(statements);
      return statements.length;
    },
  };
}

function tagStatements(siteId: number, tags: readonly number[]): Statement[] {
  if (tags.length === 0) return [];
  return [
    sql(
      'INSERT OR IGNORE INTO site_tag (site_id, tag_id) SELECT ?, value FROM json_each(?)',
      siteId,
      JSON.stringify(tags),
    ),
  ];
}
