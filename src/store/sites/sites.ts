/** Sites: lists, lookups and records. */

import { type Db, type Reads, type Statement, StorageError, sql, type Value } from '../driver/db.js';
import { guard, guardedBatch } from '../driver/guard.js';
import { insertRow } from '../driver/rows.js';
import { offset } from '../driver/sql-fragments.js';
import type { Vault } from '../vault/vault.js';
import {
  countStatement,
  idList,
  isIndexed,
  isUnfiltered,
  LIST_COLUMNS,
  needleOf,
  type PlacedSite,
  pageStatement,
  placedRows,
  type SiteFilter,
  searchPage,
  searchText,
  sitePredicate,
  siteRows,
} from './filter.js';
import type { NewSite, SiteRecord, SiteRow } from './rows.js';
import { createSecretSealer, createSiteSecrets } from './secrets.js';
import { addTags } from './settings.js';
import { stampStatus } from './status.js';

export type { SiteFilter } from './filter.js';
export type { NewSite, SiteConnection, SiteRecord, SiteRow } from './rows.js';

/** How many ids are tried when other processes add sites at the same moment. */
const LAST_ATTEMPT = 20;

/** A mark to set or lift. */
export type SiteMarks = { suspended: boolean } | { disconnected: boolean };

/** A site with its tags, by name, as the JSON of a list of `id` and `name`. */
export interface TaggedSite extends SiteRecord {
  tags_json: string;
}

/** Of two marks, the status shows the later one: `disconnected` 2 takes precedence over a suspension. */
const MARKS = {
  suspended: {
    set: 'suspended = 1, disconnected = min(disconnected, 1)',
    differs: 'suspended = 0 OR disconnected = 2',
  },
  unsuspended: { set: 'suspended = 0', differs: 'suspended = 1' },
  disconnected: { set: 'disconnected = 1 + suspended', differs: 'disconnected <> 1 + suspended' },
  reconnected: { set: 'disconnected = 0', differs: 'disconnected <> 0' },
} as const;

export const RECORD_COLUMNS = `s.*, s.status, d.*, m.status AS monitor_status, m.last_http_code AS monitor_http_status, m.last_msg AS monitor_msg,
  m.last_check_at AS monitor_checked_at, t.last_check AS certificate_checked_at,
  EXISTS (SELECT 1 FROM open_change o WHERE o.site_id = s.id) AS open_changes`;
export const RECORD_TABLES = `site s JOIN site_detail d ON d.site_id = s.id
  LEFT JOIN monitor m ON m.site_id = s.id LEFT JOIN site_certificate t ON t.site_id = s.id`;
const TAGS = `(SELECT json_group_array(json_object('id', id, 'name', name)) FROM (
  SELECT g.id, g.name FROM site_tag st JOIN tag g ON g.id = st.tag_id WHERE st.site_id = s.id ORDER BY g.name_key, g.id))`;

const URL_ORDER = { columns: ['s.url_key', 's.id'] };

export function createSites(db: Db, vault: Vault, aside: Reads = db) {
  let adding: Promise<void> = Promise.resolve();
  const { seal } = createSecretSealer(vault);

  /** `add`, while no other call of this process adds a site. */
  const insert = async (
    site: NewSite,
    now: number,
    inventory: (siteId: number) => readonly Statement[],
  ): Promise<number | undefined> => {
    const { url, url_key, name, client_id, admin_username, ssl_verify, title_tries } = site;
    for (let attempt = 0; ; attempt++) {
      const next = await db.one(
        "SELECT max(ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'site'), 0), ifnull(max(id), 0)) + 1 AS id FROM site",
      );
      const id = Number(next?.id ?? 1);
      try {
        const isNew = guard('NOT EXISTS (SELECT 1 FROM site WHERE url_key = ?)', url_key);
        const added = await guardedBatch(db, isNew, [
          insertRow('site', { id, url, url_key, name, search: searchText(name, url), client_id, created_at: now }),
          insertRow('site_detail', { site_id: id, admin_username, ssl_verify, title_tries }),
          insertRow('site_secret', {
            site_id: id,
            private_key: seal(id, 'private_key', site.private_key),
            regverify: seal(id, 'regverify', site.regverify),
            http_user: seal(id, 'http_user', site.http_user),
            http_pass: seal(id, 'http_pass', site.http_pass),
            unique_id: seal(id, 'unique_id', site.unique_id || null),
          }),
          ...addTags(id, site.tags),
          ...inventory(id),
          stampStatus(now),
        ]);
        return added ? id : undefined;
      } catch (error) {
        // Another process took the same id between the two statements: try the next one.
        const idTaken = error instanceof StorageError && error.kind === 'unique';
        if (!idTaken || attempt === LAST_ATTEMPT) throw error;
      }
    }
  };

  return {
    ...createSiteSecrets(db, vault),

    /**
     * One page in URL order with the true total, in one snapshot; a search counts first and then chooses its strategy.
     */
    async list(filter: SiteFilter, page: number, perPage: number): Promise<{ items: SiteRow[]; total: number }> {
      const skip = offset(page, perPage);
      const needle = needleOf(filter);
      if (isIndexed(needle) && filter.status === undefined && isUnfiltered({ ...filter, search: '' })) {
        const found = await searchPage(db, needle, skip, perPage);
        if (found !== null) return found;
      }
      const rows = pageStatement(sitePredicate(filter), URL_ORDER, { skip }, perPage);
      // Not placed: SQLite leaves out what is not asked for.
      return siteRows.page(db, rows, countStatement(filter));
    },

    /** The same, starting after a site, by its sort key. */
    listAfter(
      filter: SiteFilter,
      after: readonly Value[] | undefined,
      perPage: number,
    ): Promise<{ items: PlacedSite[]; total: number }> {
      const rows = pageStatement(sitePredicate(filter), URL_ORDER, { after }, perPage);
      return placedRows.page(db, rows, countStatement(filter));
    },

    /** Every match in URL order. */
    all(filter: SiteFilter): Promise<SiteRow[]> {
      const { where, args } = sitePredicate(filter);
      return siteRows.all(
        aside,
        sql(`SELECT ${LIST_COLUMNS} FROM site s WHERE ${where} ORDER BY s.url_key, s.id`, ...args),
      );
    },

    async count(filter: SiteFilter): Promise<number> {
      const [rows = []] = await db.read([countStatement(filter)]);
      return Number(rows[0]?.n ?? 0);
    },

    /** Candidates for any number of references, by id or by identifying URL form. */
    candidates(ids: readonly number[], keys: readonly string[] = []): Promise<(SiteRow & { url_key: string })[]> {
      return db.all(
        `SELECT ${LIST_COLUMNS}, s.url_key FROM site s WHERE s.id IN (SELECT value FROM json_each(?))
         UNION SELECT ${LIST_COLUMNS}, s.url_key FROM site s WHERE s.url_key IN (SELECT value FROM json_each(?)) ORDER BY 1`,
        [idList(ids), JSON.stringify(keys)],
      );
    },

    /** The ids of the sites that have one of these names, by name as given; ASCII letters in any case. */
    async idsNamed(names: readonly string[]): Promise<Map<string, number[]>> {
      const rows = await db.all<{ said: string; ids: string }>(
        `SELECT j.value AS said, json_group_array(s.id) AS ids FROM json_each(?) j
         JOIN site s ON s.name = j.value COLLATE NOCASE GROUP BY j.value`,
        [JSON.stringify(names)],
      );
      return new Map(rows.map(({ said, ids }) => [said, JSON.parse(ids) as number[]]));
    },

    record(id: number): Promise<TaggedSite | undefined> {
      return db.one<TaggedSite>(`SELECT ${RECORD_COLUMNS}, ${TAGS} AS tags_json FROM ${RECORD_TABLES} WHERE s.id = ?`, [
        id,
      ]);
    },

    records(ids: readonly number[]): Promise<SiteRecord[]> {
      return db.all<SiteRecord>(
        `SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES} WHERE s.id IN (SELECT value FROM json_each(?)) ORDER BY s.url_key, s.id`,
        [idList(ids)],
      );
    },

    /**
     * Stores a new site with its secrets, tags and first inventory, or nothing. The id is chosen first because it
     * authenticates the sealed secrets. Returns undefined when the same site (by url_key) is stored already.
     */
    async add(
      site: NewSite,
      now: number,
      inventory: (siteId: number) => readonly Statement[],
    ): Promise<number | undefined> {
      // On a server, sites added concurrently would all choose the same id; those of one process take turns.
      const before = adding;
      let done = () => {};
      adding = new Promise((resolve) => {
        done = resolve;
      });
      await before;
      try {
        return await insert(site, now, inventory);
      } finally {
        done();
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

    /** Deletes the site and everything that belongs to it. False when there was none. */
    async remove(id: number): Promise<boolean> {
      const result = await db.run('DELETE FROM site WHERE id = ?', [id]);
      return result.changes > 0;
    },

    /**
     * Marks any number of sites; returns the ids that changed.
     * @param now if omitted, the time of the status change stays unknown
     */
    async mark(ids: readonly number[], marks: SiteMarks, now: number | null = null): Promise<number[]> {
      const { set, differs } =
        'disconnected' in marks
          ? MARKS[marks.disconnected ? 'disconnected' : 'reconnected']
          : MARKS[marks.suspended ? 'suspended' : 'unsuspended'];
      const [changed] = await db.batch([
        sql(
          `UPDATE site SET ${set} WHERE id IN (SELECT value FROM json_each(?)) AND (${differs}) RETURNING id`,
          idList(ids),
        ),
        stampStatus(now),
      ]);
      return (changed?.rows ?? []).map((row) => Number(row.id));
    },

    /** Stores the child's own spelling of the URL. False, and nothing changes, when another site has it. */
    async moveUrl(id: number, to: { url: string; url_key: string }): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE site SET url = ?, url_key = ?, search = substr(search, 1, instr(search, char(31))) || ? WHERE id = ? AND url <> ?
         AND NOT EXISTS (SELECT 1 FROM site o WHERE o.url = ? AND o.id <> ?)`,
        [to.url, to.url_key, searchText('', to.url).slice(1), id, to.url, to.url, id],
      );
      return changes > 0;
    },

    /** Counts an attempt to learn the title. False if another process counted one, or the site was given a name. */
    async countTitleTry(id: number, before: number): Promise<boolean> {
      const { changes } = await db.run(
        'UPDATE site_detail SET title_tries = title_tries + 1 WHERE site_id = ? AND title_tries = ?',
        [id, before],
      );
      return changes > 0;
    },

    /** Names a site that has no name yet. False, and nothing changes, if it was given one. */
    async nameByTitle(id: number, title: string): Promise<boolean> {
      const [named] = await db.batch([
        sql(
          `UPDATE site SET name = ?, search = ? || substr(search, instr(search, char(31)))
           WHERE id = ? AND (SELECT title_tries FROM site_detail WHERE site_id = site.id) IS NOT NULL`,
          title,
          searchText(title, '').slice(0, -1),
          id,
        ),
        sql('UPDATE site_detail SET title_tries = NULL WHERE site_id = ? AND title_tries IS NOT NULL', id),
      ]);
      return (named?.changes ?? 0) > 0;
    },

    async markConnected(id: number, now: number | null = null): Promise<void> {
      await db.batch([
        sql("UPDATE site SET disconnected = 0, sync_error = '', unreached = min(unreached, 1) WHERE id = ?", id),
        sql("UPDATE site_detail SET sync_error_code = '' WHERE site_id = ? AND sync_error_code <> ''", id),
        stampStatus(now),
      ]);
    },
  };
}
