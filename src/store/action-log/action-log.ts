/**
 * The action log: who did what through this service, by which way in, with which operation, on which object, and with
 * what result.
 */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { type Listed, rowsAndTotal } from '../driver/lists.js';
import { among, equal, fragment, join } from '../driver/sql-fragments.js';
import { ACTION_LOG, pageOfWindows, windows, within } from '../driver/windows.js';
import { type ActionChain, type ChainHead, hashOf, headOf } from './chain.js';
import type { CallRecord, RecordedCalls } from './recorded-calls.js';

export interface LogOrigin {
  actor_type: string;
  actor_id: number | null;
  actor: string;
  via: string;
  /** The program that called, as it names itself. */
  client?: string;
  operation: string;
  request_id: string;
  /** Ids of the entries that it undoes, with commas; '' = it undoes none. */
  undoes?: string;
}

export interface LogEntry extends LogOrigin {
  /** Null for entries that concern no single site. */
  site_id: number | null;
  context: string;
  action: string;
  slug: string;
  /** '' for a plugin or theme, whose name is in the inventory, and for a site. */
  name: string;
  detail: string;
  old_version: string;
  new_version: string;
  /** '' if it was done, otherwise why it was not. */
  code: string;
  /** JSON of what was asked for; '' for what a call did. */
  input?: string;
  /** JSON of what changed: by field, what it was before and what it is since; '' = not known. */
  fields?: string;
  /** Milliseconds. */
  at: number;
}

/** Omitted members are empty. */
export type NewLogEntry = Pick<LogEntry, 'site_id' | 'context' | 'action' | 'at'> & Partial<LogEntry>;

const EMPTY = {
  actor_type: '',
  actor_id: null,
  actor: '',
  via: '',
  client: '',
  operation: '',
  request_id: '',
  slug: '',
  name: '',
  detail: '',
  old_version: '',
  new_version: '',
  code: '',
  input: '',
  fields: '',
  undoes: '',
} as const;

interface DoneRow
  extends Row,
    Pick<LogEntry, 'context' | 'action' | 'slug' | 'name' | 'detail' | 'old_version' | 'new_version' | 'actor' | 'at'> {
  id: number;
}

/** A row as it is stored. */
export interface ActionRow extends Row, LogEntry {
  id: number;
  client: string;
  input: string;
  fields: string;
  undoes: string;
  previous: string;
  hash: string;
}

/** Up to which row the log was pruned. */
export interface Checkpoint {
  through: number;
  /** Of that row. */
  hash: string;
  /** Milliseconds. */
  at: number;
  /** Ed25519 in base64. */
  signature: string;
  /** SPKI in base64. */
  public_key: string;
}

/** Times are inclusive, in milliseconds; what is undefined filters nothing. */
export interface ActionFilter {
  since: number;
  until: number;
  site_id?: number | undefined;
  operation?: string | undefined;
  request_id?: string | undefined;
  /** Part of a name. */
  actor?: string | undefined;
  vias: readonly string[];
  contexts: readonly string[];
  failed?: boolean | undefined;
}

/** Who is in the log under a name with this part, one step in the index for each: they are few, their rows are not. */
const ACTORS = `WITH RECURSIVE a (name) AS (SELECT min(actor) FROM action_log
  UNION ALL SELECT (SELECT min(actor) FROM action_log WHERE actor > a.name) FROM a WHERE a.name IS NOT NULL)
  SELECT name FROM a WHERE instr(lower(name), lower(?)) > 0`;

/** Columns with an index of their own, the one that fewest rows have in common first. */
const INDEXED = ['request_id', 'site_id', 'operation'] as const;

/** Completed actions, which reports count. */
const DONE = `code = ''`;

export function createActionLog(db: Db, chain: ActionChain, calls: Omit<RecordedCalls, 'db'>) {
  const namesOf = async (entries: readonly NewLogEntry[]): Promise<{ name: string }[]> => {
    if (entries.every(({ context }) => context === 'call')) return [];
    return db.all<{ name: string }>(
      `SELECT coalesce(
             nullif(name, ''), CASE WHEN context = 'core' THEN 'WordPress' END,
             (SELECT p.name FROM site_extension e JOIN package p ON p.id = e.package_id
               WHERE e.site_id = w.site_id AND p.kind = w.kind AND p.slug = w.slug LIMIT 1),
             (SELECT p.name FROM package p WHERE p.kind = w.kind AND p.slug = w.slug
               ORDER BY (SELECT count(*) FROM site_extension e WHERE e.package_id = p.id) DESC, p.name LIMIT 1),
             (SELECT s.name FROM site s WHERE w.context = 'site' AND s.id = w.site_id), slug) AS name
         FROM (SELECT key, value ->> 'site_id' AS site_id, value ->> 'context' AS context,
             CASE value ->> 'context' WHEN 'plugin' THEN 0 WHEN 'theme' THEN 1 ELSE -1 END AS kind,
             coalesce(value ->> 'slug', '') AS slug, coalesce(value ->> 'name', '') AS name
           FROM json_each(?)) w ORDER BY key`,
      [JSON.stringify(entries)],
    );
  };
  return {
    begin: calls.begin,

    /** As `RecordedCalls.run`. */
    record: <T>(entry: NewLogEntry, work: (record: CallRecord) => Promise<T>) =>
      calls.run({ ...EMPTY, ...entry }, work),

    /** As `RecordedCalls.step`. */
    step: <T>(entry: LogEntry, work: () => Promise<T>) => calls.step({ ...EMPTY, ...entry }, work),

    /**
     * Stores entries. Names of plugins, themes and sites are read now, while they are known: from the site's inventory,
     * otherwise as most sites call them.
     */
    async add(entries: readonly NewLogEntry[]): Promise<void> {
      const names = await namesOf(entries);
      await chain.append(entries.map((entry, index) => ({ ...EMPTY, ...entry, name: names[index]?.name ?? '' })));
    },

    /** Completed actions on a site, newest first; `to` is exclusive. */
    done(siteId: number, contexts: readonly string[], from: number, to: number, limit: number): Promise<DoneRow[]> {
      return db.all<DoneRow>(
        `SELECT id, context, action, slug, name, detail, old_version, new_version, actor, at FROM action_log
         WHERE site_id = ? AND at >= ? AND at < ? AND context IN (SELECT value FROM json_each(?)) AND ${DONE}
         ORDER BY at DESC, id DESC LIMIT ?`,
        [siteId, from, to, JSON.stringify(contexts), limit],
      );
    },

    /** How often each action was completed on a site; `to` is exclusive. */
    async doneCounts(siteId: number, contexts: readonly string[], from: number, to: number) {
      const rows = await db.all(
        `SELECT action, count(*) AS n FROM action_log
         WHERE site_id = ? AND at >= ? AND at < ? AND context IN (SELECT value FROM json_each(?)) AND ${DONE} GROUP BY action`,
        [siteId, from, to, JSON.stringify(contexts)],
      );
      return rows.map((row) => ({ action: String(row.action), n: Number(row.n) }));
    },

    /** The row up to which everything is older than this time; null if there is none. */
    async prunable(before: number): Promise<ChainHead | null> {
      const row = await db.one<Row & ChainHead>(
        `SELECT id, hash FROM action_log WHERE id < coalesce((SELECT min(id) FROM action_log WHERE at >= ?), 1e18) ORDER BY id DESC LIMIT 1`,
        [before],
      );
      return row ?? null;
    },

    /** Deletes the rows up to a signed checkpoint; returns how many. */
    async prune({ through, hash, at, signature, public_key }: Checkpoint): Promise<number> {
      const [, gone] = await db.batch([
        sql(
          'INSERT OR IGNORE INTO action_log_checkpoint (through, hash, at, signature, public_key) VALUES (?, ?, ?, ?, ?)',
          through,
          hash,
          at,
          signature,
          public_key,
        ),
        sql('DELETE FROM action_log WHERE id <= ?', through),
        sql('DELETE FROM action_log_checkpoint WHERE through < ?', through),
      ]);
      return gone?.changes ?? 0;
    },

    /** Deletes what others changed on sites before this time; returns how much. */
    async pruneSiteChanges(before: number): Promise<number> {
      // By site, for which there is an index.
      const gone = await db.run(
        'DELETE FROM site_change WHERE id IN (SELECT c.id FROM site s CROSS JOIN site_change c ON c.site_id = s.id AND c.created < ?)',
        [before / 1000],
      );
      return gone.changes;
    },

    hashOf,

    head: () => headOf(db),

    checkpoint: () => db.one<Row & Checkpoint>('SELECT * FROM action_log_checkpoint ORDER BY through DESC LIMIT 1'),

    /** The rows after one, in their order. */
    rowsAfter: (id: number, limit: number) =>
      db.all<ActionRow>('SELECT * FROM action_log WHERE id > ? ORDER BY id LIMIT ?', [id, limit]),

    /** The highest id that was ever given. */
    async lastId(): Promise<number> {
      const row = await db.one<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'action_log'");
      return row?.seq ?? 0;
    },

    /** Entries by their ids, newest first. @param siteId only those on this site, or on none */
    byIds(ids: readonly number[], siteId?: number): Promise<ActionRow[]> {
      return db.all<ActionRow>(
        `SELECT * FROM action_log WHERE id IN (SELECT value FROM json_each(?1)) AND (?2 IS NULL OR site_id IS NULL OR site_id = ?2)
         ORDER BY id DESC`,
        [JSON.stringify(ids), siteId ?? null],
      );
    },

    /** Ids of what was done from a time to another, newest first. */
    async doneSince(
      { since, until, site_id, actor }: Pick<ActionFilter, 'since' | 'until' | 'site_id' | 'actor'>,
      limit: number,
    ): Promise<number[]> {
      const rows = await db.all<{ id: number }>(
        `SELECT id FROM action_log WHERE at BETWEEN ?1 AND ?5 AND ${DONE} AND context <> 'call' AND (?2 IS NULL OR site_id = ?2)
           AND (?3 IS NULL OR instr(lower(actor), lower(?3)) > 0) ORDER BY id DESC LIMIT ?4`,
        [since, site_id ?? null, actor ?? null, limit, until],
      );
      return rows.map(({ id }) => id);
    },

    /** Ids of what a call did, also in a job of it, newest first. @param call an entry of the call */
    async doneByCall(call: ActionRow, limit: number): Promise<number[]> {
      // A caller may name its requests, and name two alike: its next call with the same name ends the search.
      const rows = await db.all<{ id: number }>(
        `SELECT id FROM action_log WHERE at >= ?1 AND ${DONE} AND context <> 'call' AND request_id = ?2 AND operation = ?3
           AND actor_type = ?4 AND actor_id IS ?5 AND actor = ?6 AND id > ?7
           AND id < coalesce((SELECT min(n.id) FROM action_log n WHERE n.id > ?7 AND n.at >= ?1 AND n.context = 'call' AND n.action = 'called'
             AND n.request_id = ?2 AND n.operation = ?3 AND n.actor_type = ?4 AND n.actor_id IS ?5 AND n.actor = ?6), 9e15)
         ORDER BY id DESC LIMIT ?8`,
        [call.at, call.request_id, call.operation, call.actor_type, call.actor_id, call.actor, call.id, limit],
      );
      return rows.map(({ id }) => id);
    },

    /** The names of all operations and routes that the log has. */
    async operations(): Promise<string[]> {
      // One step of the index for each name.
      const rows = await db.all<{ name: string }>(
        `WITH RECURSIVE n (name) AS (SELECT min(operation) FROM action_log
           UNION ALL SELECT (SELECT min(operation) FROM action_log WHERE operation > n.name) FROM n WHERE n.name IS NOT NULL)
         SELECT name FROM n WHERE name <> ''`,
      );
      return rows.map(({ name }) => name);
    },

    /** The entries that undid any of these, by `undoes`. */
    undoing(ids: readonly number[]): Promise<ActionRow[]> {
      if (ids.length === 0) return Promise.resolve([]);
      return db.all<ActionRow>(
        `SELECT * FROM action_log WHERE undoes <> '' AND id > ? AND +code = ''
           AND EXISTS (SELECT 1 FROM json_each('[' || undoes || ']') u JOIN json_each(?) w ON w.value = u.value)`,
        [Math.min(...ids), JSON.stringify(ids)],
      );
    },

    /** The ids of those updates after which the same item of the site was rolled back to the version from before. */
    async rolledBack(updates: readonly Pick<ActionRow, 'id'>[]): Promise<number[]> {
      if (updates.length === 0) return [];
      const rows = await db.all<{ id: number }>(
        `SELECT u.id FROM json_each(?) w CROSS JOIN action_log u ON u.id = w.value
         WHERE EXISTS (SELECT 1 FROM action_log r WHERE r.site_id = u.site_id AND r.at >= u.at AND r.id > u.id AND r.action = 'rolled-back'
           AND r.context = u.context AND r.slug = u.slug AND r.code = '' AND r.new_version = u.old_version)`,
        [JSON.stringify(updates.map(({ id }) => id))],
      );
      return rows.map(({ id }) => id);
    },

    /** What a call that undoes changes, or a job of it, has done on a site. */
    undoneBy(
      { request_id, operation, actor_type, actor_id, actor }: Omit<LogOrigin, 'via' | 'client' | 'undoes'>,
      siteId: number,
    ) {
      return db.all<Pick<ActionRow, 'context' | 'action' | 'slug' | 'undoes'> & Row>(
        `SELECT context, action, slug, undoes FROM action_log WHERE request_id = ?1 AND request_id <> '' AND +operation = ?2 AND +site_id = ?3
           AND ${DONE} AND +actor_type = ?4 AND +actor_id IS ?5 AND +actor = ?6 AND id > coalesce((SELECT max(n.id) FROM action_log n WHERE n.request_id = ?1 AND +n.operation = ?2
             AND n.context = 'call' AND n.action = 'called' AND +n.actor_type = ?4 AND +n.actor_id IS ?5 AND +n.actor = ?6), 0)`,
        [request_id, operation, siteId, actor_type, actor_id, actor],
      );
    },

    /** One page, newest first, and how many there are. */
    list(filter: ActionFilter, page: number, perPage: number): Promise<Listed<ActionRow>> {
      const { actor, failed } = filter;
      // One index bounds what is read; the plus keeps SQLite from choosing another one.
      const by = INDEXED.find((name) => filter[name] !== undefined);
      const not = by === undefined ? '' : '+';
      const where = join([
        ...INDEXED.map((name) => equal(name === by ? name : `${not}${name}`, filter[name])),
        among('via', filter.vias),
        among('context', filter.contexts),
        actor === undefined ? fragment('') : fragment(` AND ${not}actor IN (${ACTORS})`, actor),
        failed === undefined ? fragment('') : fragment(` AND ${not}code ${failed ? '<>' : '='} ''`),
      ]);
      const indexed = { ...ACTION_LOG, where: by === undefined ? fragment('') : equal(by, filter[by]) };
      const spans = windows(db, [indexed], { since: filter.since, before: filter.until + 1 });
      return pageOfWindows(spans, page, perPage, (span, skip, limit) => {
        const { text, args } = join([within(ACTION_LOG, span), where]);
        // The wide rows are read for one page only.
        const ids = sql(`SELECT id FROM action_log WHERE ${text} ORDER BY at DESC, id DESC LIMIT ? OFFSET ?`, ...args);
        const rows = sql(
          `SELECT * FROM action_log WHERE id IN (${ids.sql}) ORDER BY at DESC, id DESC`,
          ...ids.args,
          limit,
          skip,
        );
        return rowsAndTotal<ActionRow>(db, rows, sql(`SELECT count(*) AS n FROM action_log WHERE ${text}`, ...args));
      });
    },
  };
}
