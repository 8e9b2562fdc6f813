/** The data of the fleet brief: per matter a count and its most urgent cases, in one snapshot. */

import type { Db, Reads, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { equal, type Fragment, fragment } from '../driver/sql-fragments.js';
import { DONE_LOG, windows, within } from '../driver/windows.js';
import { UNCLASSIFIED_SITES, VULNERABLE_INSTALLS } from '../vulnerabilities/list.js';
import { type FailedReason, type FailedType, failuresByType, openFailures } from './failed-updates.js';
import { MARK_COLUMNS, marked, NOT_ASIDE } from './marks.js';

/** Instants in milliseconds. */
interface BriefClock {
  now: number;
  /** Completed work since then is included. */
  since: number;
  /** Certificates and domains that expire before these. */
  certificate_before: number;
  domain_before: number;
  /** Sites not synced since then. */
  stale_before: number;
  /** Updates that failed since then are listed. */
  failed_since: number;
  /** An update this long before an outage may be its cause. */
  suspect_ms: number;
}

/** A matter with the number of its cases and the first of them. */
export interface Matter {
  count: number;
  first: Row[];
}

const MATTERS = [
  'down',
  'after_update',
  'disconnected',
  'unreachable',
  'certificates',
  'domains',
  'stale',
  'vulnerable',
  'jobs',
] as const;
export type MatterName = (typeof MATTERS)[number];

export interface DoneKind extends Row {
  context: string;
  action: string;
  n: number;
  sites: number;
  name: string;
  old_version: string;
  new_version: string;
  url: string | null;
}

export interface BriefData {
  matters: Record<MatterName, Matter>;
  sites: { status: string; n: number }[];
  /** Visible updates by type. */
  offers: { type: number; n: number }[];
  /** What was completed, also what concerns no site, with the newest of each kind; `url` is null without a site. */
  done: DoneKind[];
  /** Updates that failed, and of what is to be done about them the first reasons. */
  failed: { count: number; first: FailedReason[] };
  failed_since: FailedType[];
  /** Number of sites for which it is unknown. */
  unknown: { certificates: number; domains: number; monitors: number; backups: number; vulnerabilities: number };
}

/** The columns by which a case names its site. */
const SITE = 's.id AS site_id, s.name, s.url';
/** Entries of what was installed, including what did harm. */
const INSTALLED = "(SELECT * FROM action_log WHERE code IN ('', 'svc_update_broke_site'))";
const STATE = `s.suspended, s.disconnected, s.sync_error, s.unreached, d.last_sync, s.suspended_with,
  nullif(d.status_since, 0) AS since, (SELECT c.name FROM client c WHERE c.id = s.suspended_with) AS suspended_client`;

/** @param site only this one, with what was set aside; undefined = all sites, without it */
function mattersOf(at: BriefClock, active: number, limit: number, site?: number) {
  const only = equal('s.id', site);
  const listed = site === undefined ? ` AND ${NOT_ASIDE}` : '';
  /** The condition is on `s`. What somebody is known to be on comes last. */
  const matter = (
    subject: string,
    columns: string,
    from: string,
    condition: Fragment,
    order: string,
  ): [Statement, Statement] => {
    const matching = `FROM ${from} ${marked(subject)} WHERE s.suspended = 0 AND ${condition.text}${only.text}${listed}`;
    const args = [at.now, ...condition.args, ...only.args];
    return [
      sql(`SELECT count(*) AS n ${matching}`, ...args),
      sql(
        `SELECT ${SITE}, ${subject} AS subject, ${MARK_COLUMNS}, ${columns} ${matching} ORDER BY k.subject IS NOT NULL, ${order} LIMIT ?`,
        ...args,
        limit,
      ),
    ];
  };
  const down = `site s JOIN monitor m ON m.site_id = s.id LEFT JOIN incident i ON i.site_id = s.id AND i.ended_at IS NULL`;
  const isDown = 'm.status = 0 AND coalesce(m.active, ?) = 1';
  const before = (
    value: string,
  ) => `(SELECT ${value} FROM ${INSTALLED} h WHERE h.site_id = s.id AND h.action = 'updated' AND h.context IN ('core', 'plugin', 'theme', 'translation')
    AND h.at BETWEEN i.started_at - ${at.suspect_ms} AND i.started_at ORDER BY h.at DESC LIMIT 1)`;
  const suspect = before("h.name || ' ' || h.new_version");
  const update = before(
    "json_object('type', h.context, 'slug', h.slug, 'name', h.name, 'old_version', h.old_version, 'new_version', h.new_version)",
  );
  const columns =
    'i.id AS incident_id, i.started_at, m.last_http_code, m.last_msg, i.acknowledged_at, i.acknowledged_by, i.acknowledged_note';
  const incident = "'incident:' || i.id";
  // Unacknowledged ones come first; a page that visitors get, without its keyword, after those that they do not get.
  const worst =
    'i.acknowledged_at IS NOT NULL, coalesce(m.last_http_code, 0) BETWEEN 200 AND 399, i.started_at IS NULL, i.started_at, s.id';
  // CROSS: the few rows in question come first, from an index; SQLite would otherwise look each site up in each table.
  return {
    down: matter(incident, columns, down, fragment(`${isDown} AND ${suspect} IS NULL`, active), worst),
    after_update: matter(
      incident,
      `${columns}, ${suspect} AS suspect, ${update} AS update_before`,
      down,
      fragment(`${isDown} AND ${suspect} IS NOT NULL`, active),
      worst,
    ),
    disconnected: matter(
      "'disconnected:' || s.id || ifnull(':' || nullif(d.status_since, 0), '')",
      STATE,
      'site s JOIN site_detail d ON d.site_id = s.id',
      fragment("s.status = 'disconnected'"),
      'since IS NULL, since DESC, s.id',
    ),
    // Neither refuted by a later check of its monitor, nor named as down already.
    unreachable: matter(
      "'unreachable:' || s.id",
      'd.checked_at, d.http_status',
      'site_detail d CROSS JOIN site s ON s.id = d.site_id LEFT JOIN monitor m ON m.site_id = s.id',
      fragment(
        `d.reachable = 0 AND s.status = 'connected' AND NOT (coalesce(m.last_check_at, 0) > d.checked_at)
          AND NOT (coalesce(m.status, 99) = 0 AND coalesce(m.active, ?) = 1)`,
        active,
      ),
      'd.checked_at DESC, s.id',
    ),
    certificates: matter(
      "'certificate:' || s.id || ':' || c.valid_to",
      'c.valid_to AS ends',
      'site_certificate c CROSS JOIN site s ON s.id = c.site_id',
      fragment('c.valid_to < ?', at.certificate_before),
      'c.valid_to, s.id',
    ),
    domains: matter(
      "'domain:' || s.id || ':' || o.expiry_date",
      'o.expiry_date AS ends',
      'domain o CROSS JOIN site_domain l ON l.domain = o.name CROSS JOIN site s ON s.id = l.site_id',
      fragment('o.expiry_date < ?', at.domain_before),
      'o.expiry_date, s.id',
    ),
    stale: matter(
      "'stale:' || s.id || ifnull(':' || d.last_sync, '')",
      'd.last_sync',
      'site_detail d CROSS JOIN site s ON s.id = d.site_id',
      // Not by OR, which keeps SQLite from the index.
      fragment(
        `s.status = 'connected' AND d.site_id IN (SELECT site_id FROM site_detail WHERE last_sync < ?
          UNION ALL SELECT site_id FROM site_detail WHERE last_sync IS NULL)`,
        at.stale_before,
      ),
      'd.last_sync, s.id',
    ),
  };
}

/**
 * Sites with known vulnerabilities, grouped by plugin, theme or core: the most severe first, then those on most sites.
 */
function vulnerable(now: number, limit: number): [Statement, Statement] {
  const installs = `(${VULNERABLE_INSTALLS}) i JOIN site s ON s.id = i.site_id WHERE s.suspended = 0`;
  // One that becomes known later is another subject.
  const groups = `(SELECT h.package_id, max(x.severity) AS severity, max(w.fixed_in IS NULL) AS unfixed, max(x.id) AS newest,
      count(DISTINCT x.id) AS known FROM held h
    JOIN vulnerable_version w ON w.package_id = h.package_id AND w.version = h.version
    JOIN vulnerability x ON x.id = w.vulnerability_id GROUP BY 1) g ${marked(VULNERABLE)}`;
  return [
    sql(
      `WITH held AS MATERIALIZED (SELECT DISTINCT i.package_id, i.version FROM ${installs})
       SELECT count(DISTINCT i.site_id) AS n FROM ${installs}
         AND i.package_id IN (SELECT g.package_id FROM ${groups} WHERE ${NOT_ASIDE})`,
      now,
    ),
    sql(
      `WITH held AS MATERIALIZED (SELECT i.package_id, i.version, count(*) AS n FROM ${installs} GROUP BY 1, 2)
       SELECT ifnull(p.feed_slug, 'WordPress') AS id, ${VULNERABLE} AS subject, ${MARK_COLUMNS}, g.severity, g.unfixed, g.known,
         ifnull(p.kind, 2) AS kind, ifnull(p.slug, 'wordpress') AS slug, ifnull(p.name, 'WordPress') AS item_name,
         (SELECT x.title FROM held h JOIN vulnerable_version w ON w.package_id = h.package_id AND w.version = h.version
          JOIN vulnerability x ON x.id = w.vulnerability_id WHERE h.package_id = g.package_id
          ORDER BY x.severity DESC, x.id DESC LIMIT 1) AS title,
         (SELECT sum(h.n) FROM held h WHERE h.package_id = g.package_id) AS sites
       FROM ${groups} LEFT JOIN package p ON p.id = g.package_id WHERE ${NOT_ASIDE}
       ORDER BY k.subject IS NOT NULL, g.severity DESC, sites DESC, g.package_id LIMIT ?`,
      now,
      limit,
    ),
  ];
}

const VULNERABLE = "'vulnerable:' || g.package_id || ':' || g.newest";

/** Whether a site works. */
const OF_SITE = ['after_update', 'down', 'disconnected', 'unreachable'] as const satisfies MatterName[];

interface CountedKind extends DoneKind {
  /** JSON. */
  on_sites: string;
  newest: number;
}

export function createFleetBrief(db: Db, aside: Reads) {
  /** What was completed since then, most frequent first. */
  async function doneSince({ since }: BriefClock): Promise<DoneKind[]> {
    const kinds = new Map<string, DoneKind>();
    const sites = new Map<string, Set<number>>();
    for await (const span of windows(db, [DONE_LOG], { since, before: Number.MAX_SAFE_INTEGER })) {
      const { text, args } = within(DONE_LOG, span);
      const rows = await db.all<CountedKind>(
        `SELECT k.*, a.name, a.old_version, a.new_version, s.url FROM (
           SELECT context, action, count(*) AS n, json_group_array(DISTINCT site_id) AS on_sites, max(id) AS newest FROM action_log
           WHERE code = '' AND context <> 'call' AND ${text} GROUP BY 1, 2
         ) k JOIN action_log a ON a.id = k.newest LEFT JOIN site s ON s.id = a.site_id`,
        args,
      );
      for (const { on_sites, newest: _newest, ...row } of rows) {
        const key = JSON.stringify([row.context, row.action]);
        const on = sites.get(key) ?? new Set();
        for (const site of JSON.parse(on_sites) as (number | null)[]) if (site !== null) on.add(site);
        sites.set(key, on);
        // Newest first: what is read later is older.
        const newer = kinds.get(key) ?? { ...row, n: 0 };
        kinds.set(key, { ...newer, n: newer.n + row.n, sites: on.size });
      }
    }
    const order = ({ context, action }: DoneKind) => `${context}\n${action}`;
    return [...kinds.values()].sort((a, b) => b.n - a.n || (order(a) < order(b) ? -1 : 1));
  }

  return {
    /** What is wrong with one site, of the matters that the brief has. */
    async ofSite(at: BriefClock, active: number, site: number): Promise<Record<(typeof OF_SITE)[number], Matter>> {
      const matters = mattersOf(at, active, 1, site);
      const rows = await db.read(OF_SITE.map((name) => matters[name][1]));
      return Object.fromEntries(
        OF_SITE.map((name, index) => [name, { count: rows[index]?.length ?? 0, first: rows[index] ?? [] }]),
      ) as Record<(typeof OF_SITE)[number], Matter>;
    },

    /** @param active the global switch, for monitors that follow it */
    async read(at: BriefClock, active: number, limit: number): Promise<BriefData> {
      const matters = mattersOf(at, active, limit);
      const failed = `job j ${marked("'job:' || j.id")} WHERE j.completed_at >= ? AND ${NOT_ASIDE}
        AND EXISTS (SELECT 1 FROM job_site f WHERE f.job_id = j.id AND f.state IN (3, 4))`;
      const not = (text: string) => `(SELECT count(*) FROM site s WHERE s.suspended = 0 AND ${text})`;
      const [done, rows] = await Promise.all([
        doneSince(at),
        aside.read([
          ...Object.values(matters).flat(),
          ...vulnerable(at.now, limit),
          sql(`SELECT count(*) AS n FROM ${failed}`, at.now, at.since),
          sql(
            `SELECT j.id, 'job:' || j.id AS subject, ${MARK_COLUMNS}, j.type, j.total, (SELECT count(*) FROM job_site f WHERE f.job_id = j.id AND f.state IN (3, 4)) AS failed
           FROM ${failed} ORDER BY k.subject IS NOT NULL, j.completed_at DESC, j.id LIMIT ?`,
            at.now,
            at.since,
            limit,
          ),
          sql('SELECT status, count(*) AS n FROM site GROUP BY 1'),
          sql('SELECT type, n FROM update_count'),
          sql(
            `SELECT ${not("s.url LIKE 'https:%' AND NOT EXISTS (SELECT 1 FROM site_certificate c WHERE c.site_id = s.id AND c.valid_to IS NOT NULL)")} AS certificates,
             ${not('NOT EXISTS (SELECT 1 FROM site_domain l WHERE l.site_id = s.id)')}
               + (SELECT count(*) FROM domain o CROSS JOIN site_domain l ON l.domain = o.name CROSS JOIN site s ON s.id = l.site_id
                  WHERE o.expiry_date IS NULL AND s.suspended = 0) AS domains,
             (SELECT count(*) FROM monitor m CROSS JOIN site s ON s.id = m.site_id
              WHERE (m.status = 99 OR coalesce(m.active, ?) = 0) AND s.suspended = 0) AS monitors,
             ${not('s.id IN (SELECT site_id FROM site_detail WHERE last_backup IS NULL)')} AS backups,
             ${not(`s.id IN (${UNCLASSIFIED_SITES})`)} AS vulnerabilities`,
            active,
          ),
          ...openFailures(at.failed_since, limit),
          failuresByType(at.since),
        ]),
      ]);
      const [sites = [], offers = [], unknown = [], failures = [], reasons = [], failed_since = []] = rows.slice(
        2 * MATTERS.length,
      );
      return {
        matters: Object.fromEntries(
          MATTERS.map((name, index) => [
            name,
            { count: Number(rows[2 * index]?.[0]?.n ?? 0), first: rows[2 * index + 1] ?? [] },
          ]),
        ) as BriefData['matters'],
        sites: sites as BriefData['sites'],
        offers: offers as BriefData['offers'],
        done,
        failed: { count: Number(failures[0]?.n ?? 0), first: reasons as FailedReason[] },
        failed_since: failed_since as FailedType[],
        unknown: unknown[0] as BriefData['unknown'],
      };
    },
  };
}
