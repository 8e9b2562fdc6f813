/** Changes across the fleet, newest first: made on the sites themselves, and through this service. */

import { CHANGE_KINDS } from '../../../schemas/changes.js';
import type { Db, Reads, Row, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { among, equal, type Fragment, fragment, join } from '../driver/sql-fragments.js';
import { pageOfWindows, type Span, type TimedRows, windows, within } from '../driver/windows.js';
import { type ChangeSource, ON_SITE_IDS } from '../sites/change-list.js';

export interface ChangeQuery {
  sources: readonly ChangeSource[];
  /** In milliseconds, both inclusive. */
  since: number;
  until: number;
  /** Empty lists and undefined members filter nothing. */
  site_ids?: readonly number[] | undefined;
  client_id?: number | undefined;
  tag_id?: number | undefined;
  kinds?: readonly string[];
  /** Kinds or actions that are left out. */
  except?: readonly string[];
  actions?: readonly string[];
  /** Parts of the name of who did it, and of the name or slug of the item. */
  actor?: string | undefined;
  item?: string | undefined;
  failed?: boolean | undefined;
  vias?: readonly string[];
  /** The role that a user of a site got. */
  role?: string | undefined;
}

/** A change of the fleet. */
export interface FleetChangeRow extends Row {
  source: ChangeSource;
  /** As in the list of one site. */
  id: number;
  /** Milliseconds; of a site's own log with a fraction, by which it is sorted. */
  at: number;
  site_id: number | null;
  url: string | null;
  site_name: string | null;
  /** 1 = the site is suspended now. */
  suspended: number | null;
  /** The version of the plugin or theme that the site has now, and whether it is active; null = none, or unknown. */
  now_version: string | null;
  now_active: number | null;
  kind: string;
  context: string;
  action: string;
  item: string;
  slug: string;
  detail: string;
  summary: string;
  actor: string;
  via: string;
  code: string;
  old_value: string;
  new_value: string;
  /** 1 = the log has what it replaced. */
  kept: number;
}

/** By what changes are counted. */
export type ChangeGroup = 'person' | 'site' | 'kind';

export interface ChangeGroupRow {
  /** A name, the id of a site, or a kind; null = not on a site. */
  key: string | number | null;
  n: number;
  /** The newest, in milliseconds. */
  last_at: number;
}

/** What the own logs of sites can tell. */
export interface LogCoverage extends Row {
  sites: number;
  /** Of which there is none. */
  without: number;
  /** Sites whose log begins after the time asked for, and when the first and the last of them do, in milliseconds. */
  later: number;
  first_begins: number | null;
  last_begins: number | null;
}

interface KindCount extends Row {
  kind: string;
  action: string;
  n: number;
  failed: number;
}

const KIND = `CASE lower(c.context) ${Object.entries(CHANGE_KINDS)
  .map(([context, kind]) => `WHEN '${context}' THEN '${kind}'`)
  .join(' ')} ELSE lower(c.context) END`;
const SHARED = `c.site_id, ${KIND} AS kind, c.context, c.action, c.slug, c.detail`;

interface Table extends TimedRows {
  columns: string;
  actor: string;
  item: string;
  via: string;
  code: string;
  role: string;
  /** Rows that are no changes. */
  except: string;
}

const TABLES: Record<ChangeSource, Table> = {
  wpadmin: {
    table: 'site_change c',
    when: 'c.created',
    unit: 1000,
    columns: `'wpadmin' AS source, c.id + ${ON_SITE_IDS} AS id, c.created * 1000 AS at, ${SHARED}, c.item, c.summary, c.user_login AS actor,
      'site' AS via, '' AS code, c.old_value, c.new_value, 0 AS kept`,
    actor: 'c.user_login',
    item: 'c.item',
    via: "'site'",
    code: "''",
    role: "(',' || replace(lower(c.new_value), ' ', '') || ',')",
    except: '',
  },
  dashboard: {
    table: 'action_log c',
    when: 'c.at',
    unit: 1,
    columns: `'dashboard' AS source, c.id, c.at, ${SHARED}, c.name AS item, '' AS summary, c.actor, c.via, c.code,
      c.old_version AS old_value, c.new_version AS new_value, c.fields LIKE '%[%' AS kept`,
    actor: 'c.actor',
    item: 'c.name',
    via: 'c.via',
    code: 'c.code',
    role: "''",
    // What was called is told by what it did.
    except: " AND c.context <> 'call'",
  },
};

/** What the site has now of the plugin or theme that was changed. */
const installed = (column: string) => `(SELECT ${column} FROM package p JOIN site_extension e ON e.package_id = p.id
  WHERE p.kind = CASE u.kind WHEN 'plugin' THEN 0 WHEN 'theme' THEN 1 END AND p.slug = u.slug AND e.site_id = u.site_id LIMIT 1)`;

/** Whether a text has another one as a part; of letters beyond ASCII the case counts, which SQLite cannot fold. */
const holds = (column: string) => `instr(lower(${column}), lower(?)) > 0`;

/** Of one site there is an index, which has to be chosen: it bounds what is read. */
function ofSites({ site_ids }: Pick<ChangeQuery, 'site_ids'>): Fragment {
  return site_ids?.length === 1 ? equal('c.site_id', site_ids[0]) : among('c.site_id', site_ids);
}

function given(value: unknown, condition: string, ...args: Value[]): Fragment {
  return value === undefined ? fragment('') : fragment(` AND (${condition})`, ...args);
}

/** Sites of the client, and with the tag, that a query names; `site` is the column of their id. */
function ofOwners({ client_id, tag_id }: ChangeQuery, site: string): Fragment {
  return join([
    given(client_id, `${site} IN (SELECT id FROM site WHERE client_id = ?)`, client_id ?? null),
    given(tag_id, `${site} IN (SELECT site_id FROM site_tag WHERE tag_id = ?)`, tag_id ?? null),
  ]);
}

/** What the changes of a table have to fulfil, besides their kind and action. */
function conditionOf(table: Table, query: ChangeQuery, span: Span): Fragment {
  const { actor, item, failed, role } = query;
  return join([
    within(table, span),
    fragment(table.except),
    ofSites(query),
    ofOwners(query, 'c.site_id'),
    given(actor, holds(table.actor), actor ?? null),
    given(item, `${holds(table.item)} OR ${holds('c.slug')}`, item ?? null, item ?? null),
    given(failed, `${table.code} ${failed === true ? '<>' : '='} ''`),
    among(table.via, query.vias),
    given(role, `instr(${table.role}, ?) > 0`, `,${role?.toLowerCase()},`),
  ]);
}

export function createChangeSearch(db: Db, aside: Reads) {
  /** One statement over the tables of the query. */
  const from = ({ sources }: ChangeQuery, select: (table: Table) => Statement): Statement => {
    const parts = sources.map((source) => select(TABLES[source]));
    return sql(parts.map((part) => part.sql).join(' UNION ALL '), ...parts.flatMap(({ args }) => args));
  };
  const without = (kind: string, action: string, { except = [] }: ChangeQuery) => {
    const words = JSON.stringify(except);
    const not = (column: string) => ` AND ${column} NOT IN (SELECT value FROM json_each(?))`;
    return except.length === 0 ? fragment('') : fragment(not(kind) + not(action), words, words);
  };
  const chosen = (query: ChangeQuery) =>
    join([among(KIND, query.kinds), without(KIND, 'c.action', query), among('c.action', query.actions)]);

  const pageStatement = (query: ChangeQuery, span: Span, skip: number, limit: number): Statement => {
    // Each table returns no more than this page can need; the results are then merged.
    const rows = from(query, (table) => {
      const where = join([conditionOf(table, query, span), chosen(query)]);
      const last = Math.min(skip + limit, Number.MAX_SAFE_INTEGER);
      return sql(
        `SELECT * FROM (SELECT ${table.columns} FROM ${table.table} WHERE ${where.text} ORDER BY ${table.when} DESC, c.id DESC LIMIT ?)`,
        ...where.args,
        last,
      );
    });
    return sql(
      `SELECT u.*, s.url, s.name AS site_name, s.suspended, ${installed('e.version')} AS now_version, ${installed('e.active')} AS now_active
       FROM (${rows.sql} ORDER BY at DESC, source, id DESC LIMIT ? OFFSET ?) u LEFT JOIN site s ON s.id = u.site_id
       ORDER BY u.at DESC, u.source, u.id DESC`,
      ...rows.args,
      limit,
      skip,
    );
  };

  /** Windows of the time asked for. Changes of one site have an index of their own. */
  const windowsOf = ({ sources, since, until, site_ids }: ChangeQuery) => {
    const where = site_ids?.length === 1 ? ofSites({ site_ids }) : fragment('');
    const tables = sources.map((source) => ({ ...TABLES[source], where }));
    return windows(db, tables, { since, before: until + 1 });
  };

  return {
    /** The changes that fit, counted by person, site or kind; most first. */
    async groups(query: ChangeQuery, by: ChangeGroup): Promise<ChangeGroupRow[]> {
      const found = new Map<string | number | null, ChangeGroupRow>();
      for await (const span of windowsOf(query)) {
        const { sql: text, args } = from(query, (table) => {
          const where = join([conditionOf(table, query, span), chosen(query)]);
          const key = { person: table.actor, site: 'c.site_id', kind: KIND }[by];
          return sql(
            `SELECT ${key} AS key, count(*) AS n, max(${table.when}) * ${table.unit} AS last_at
             FROM ${table.table} WHERE ${where.text} GROUP BY 1`,
            ...where.args,
          );
        });
        for (const row of await db.all<ChangeGroupRow & Row>(text, args)) {
          const before = found.get(row.key);
          const last_at = Math.max(row.last_at, before?.last_at ?? 0);
          found.set(row.key, { key: row.key, n: row.n + (before?.n ?? 0), last_at });
        }
      }
      return [...found.values()].sort(
        (a, b) => b.n - a.n || b.last_at - a.last_at || (String(a.key) < String(b.key) ? -1 : 1),
      );
    },

    /** Of how many of the sites that a query covers there is a log of their own, as far back as it asks. */
    async coverage(query: ChangeQuery): Promise<LogCoverage> {
      const where = join([among('s.id', query.site_ids), ofOwners(query, 's.id')]);
      const since = query.since / 1000;
      const [rows = []] = await aside.read([
        sql(
          `WITH begun AS MATERIALIZED (
             SELECT (SELECT min(c.created) FROM site_change c WHERE c.site_id = s.id) AS begins FROM site s WHERE 1${where.text})
           SELECT count(*) AS sites, count(*) FILTER (WHERE begins IS NULL) AS without, count(*) FILTER (WHERE begins > ?) AS later,
             min(begins) FILTER (WHERE begins > ?) * 1000 AS first_begins, max(begins) FILTER (WHERE begins > ?) * 1000 AS last_begins FROM begun`,
          ...where.args,
          since,
          since,
          since,
        ),
      ]);
      const row = rows[0] as LogCoverage | undefined;
      return row ?? { sites: 0, without: 0, later: 0, first_begins: null, last_begins: null };
    },

    /** The newest changes that fit. */
    async newest(query: ChangeQuery, limit: number): Promise<FleetChangeRow[]> {
      const found: FleetChangeRow[] = [];
      for await (const span of windowsOf(query)) {
        const { sql: text, args } = pageStatement(query, span, 0, limit - found.length);
        found.push(...(await db.all<FleetChangeRow>(text, args)));
        if (found.length === limit) break;
      }
      return found;
    },

    /**
     * One page, and how many there are: of the kinds and actions asked for, and of each kind and action without these two
     * filters, most frequent first; `more` = how many of these are left out.
     */
    async search(
      query: ChangeQuery,
      page: number,
      perPage: number,
      mostKinds: number,
    ): Promise<{ items: FleetChangeRow[]; total: number; kinds: KindCount[]; more: number }> {
      const asked = join([
        among('kind', query.kinds),
        without('kind', 'action', query),
        among('action', query.actions),
      ]);
      const counts = new Map<string, KindCount>();
      const { items, total } = await pageOfWindows(windowsOf(query), page, perPage, async (span, skip, limit) => {
        // Few rows remain of each table, so that the words of kinds are compared a few times only.
        const counted = from(query, (table) => {
          const where = conditionOf(table, query, span);
          return sql(
            `SELECT c.context, c.action, count(*) AS n, count(*) FILTER (WHERE ${table.code} <> '') AS failed
             FROM ${table.table} WHERE ${where.text} GROUP BY 1, 2`,
            ...where.args,
          );
        });
        const [rows = [], kinds = []] = await db.read([
          pageStatement(query, span, skip, limit),
          sql(
            `SELECT kind, action, n, failed, 1${asked.text} AS asked FROM (
               SELECT ${KIND} AS kind, c.action, sum(c.n) AS n, sum(c.failed) AS failed FROM (${counted.sql}) c GROUP BY 1, 2)`,
            ...asked.args,
            ...counted.args,
          ),
        ]);
        for (const { kind, action, n, failed } of kinds as KindCount[]) {
          const key = JSON.stringify([kind, action]);
          const before = counts.get(key);
          counts.set(key, { kind, action, n: n + (before?.n ?? 0), failed: failed + (before?.failed ?? 0) });
        }
        const matching = (kinds as (KindCount & { asked: number })[]).reduce((sum, one) => sum + one.asked * one.n, 0);
        return { items: rows as FleetChangeRow[], total: matching };
      });
      const order = ({ kind, action }: KindCount) => [kind, action].join('\n');
      const kinds = [...counts.values()].sort((a, b) => b.n - a.n || (order(a) < order(b) ? -1 : 1));
      return { items, total, kinds: kinds.slice(0, mostKinds), more: Math.max(0, kinds.length - mostKinds) };
    },
  };
}
