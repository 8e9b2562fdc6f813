/** Known vulnerabilities of the fleet: one row for each that concerns an installed plugin, theme or core. */

import type { Db, Row, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { among, except, type Fragment, join, offset } from '../driver/sql-fragments.js';

export interface VulnerabilityRow extends Row {
  kind: number;
  slug: string;
  name: string;
  title: string;
  severity: number | null;
  score: number | null;
  cve: string | null;
  reference: string | null;
  published: number | null;
  /** JSON of `[version, first fixed version]` pairs. */
  versions: string;
  sites: number;
  /** JSON of addresses. */
  first_sites: string;
}

export interface VulnerabilityFilter {
  severities: readonly number[];
  /** 0 = WordPress itself; undefined = all. */
  packages?: readonly number[] | undefined;
  sites?: readonly number[] | undefined;
  tags: readonly number[];
  clients: readonly number[];
  fixed?: boolean | undefined;
  denied: readonly number[];
}

/** `package_id, version, site_id` of every install that something is known of. */
export const VULNERABLE_INSTALLS = `SELECT w.package_id, w.version, e.site_id
    FROM (SELECT DISTINCT package_id, version FROM vulnerable_version WHERE package_id > 0) w
    JOIN site_extension e ON e.package_id = w.package_id AND e.version = w.version
  UNION ALL SELECT 0, w.version, d.site_id
    FROM (SELECT DISTINCT version FROM vulnerable_version WHERE package_id = 0) w JOIN site_detail d ON d.wp_version = w.version`;

/** Sites of which it is not known, although there is a feed: never synced, or with a version that waits to be judged. */
export const UNJUDGED_SITES = `SELECT site_id FROM site_detail WHERE last_sync IS NULL
  UNION ALL SELECT e.site_id FROM version_to_judge j JOIN site_extension e ON e.package_id = j.package_id AND e.version = j.version
  UNION ALL SELECT d.site_id FROM version_to_judge j JOIN site_detail d ON j.package_id = 0 AND d.wp_version = j.version`;

const IN = 'IN (SELECT value FROM json_each(?))';
const fragment = (text: string, ...args: Value[]): Fragment => ({ text, args });

/** ` AND …` of the site `s`. */
function ofSites({ sites, tags, clients, denied }: VulnerabilityFilter): Fragment {
  return join([
    ...(sites === undefined ? [] : [fragment(` AND s.id ${IN}`, JSON.stringify(sites))]),
    ...(tags.length === 0
      ? []
      : [fragment(` AND s.id IN (SELECT site_id FROM site_tag WHERE tag_id ${IN})`, JSON.stringify(tags))]),
    among('s.client_id', clients),
    except('s.id', denied),
  ]);
}

/** ` AND …` of the finding `w` and its vulnerability `x`. */
function ofFindings({ severities, packages, fixed }: VulnerabilityFilter): Fragment {
  return join([
    among('x.severity', severities),
    ...(packages === undefined ? [] : [fragment(` AND w.package_id ${IN}`, JSON.stringify(packages))]),
    fragment(fixed === undefined ? '' : ` AND w.fixed_in IS ${fixed ? 'NOT ' : ''}NULL`),
  ]);
}

export function createVulnerabilities(db: Db) {
  return {
    /** One page, the worst first, with the counts of all matches. */
    async page(filter: VulnerabilityFilter, page: number, perPage: number, firstSites: number) {
      const sites = ofSites(filter);
      const findings = ofFindings(filter);
      // Installs first, each version once: a version may have many vulnerabilities, and many sites.
      const installs = `installs AS MATERIALIZED (SELECT i.package_id, i.version, i.site_id FROM (${VULNERABLE_INSTALLS}) i
        JOIN site s ON s.id = i.site_id WHERE 1${sites.text})`;
      const held = `held AS MATERIALIZED (SELECT w.package_id, w.vulnerability_id,
          json_group_array(json_array(w.version, w.fixed_in)) AS versions, sum(n) AS sites
        FROM (SELECT package_id, version, count(*) AS n FROM installs GROUP BY 1, 2) i
        JOIN vulnerable_version w ON w.package_id = i.package_id AND w.version = i.version
        JOIN vulnerability x ON x.id = w.vulnerability_id WHERE 1${findings.text} GROUP BY 1, 2)`;
      const withHeld = `WITH ${installs}, ${held}`;
      const args = [...sites.args, ...findings.args];
      const [rows = [], severities = [], totals = [], unknown = []] = await db.read([
        sql(
          `${withHeld} SELECT k.*, (SELECT json_group_array(url) FROM (SELECT DISTINCT s.url FROM installs i
               JOIN vulnerable_version w ON w.package_id = i.package_id AND w.version = i.version
               JOIN site s ON s.id = i.site_id WHERE i.package_id = k.package_id AND w.vulnerability_id = k.vulnerability_id
               ORDER BY s.url_key, s.id LIMIT ?)) AS first_sites
           FROM (SELECT ifnull(p.kind, 2) AS kind, ifnull(p.slug, 'wordpress') AS slug, ifnull(p.name, 'WordPress') AS name,
             h.package_id, h.vulnerability_id, h.versions, h.sites, x.title, x.severity, x.score, x.cve, x.reference, x.published, x.notice_id
           FROM held h JOIN vulnerability x ON x.id = h.vulnerability_id LEFT JOIN package p ON p.id = h.package_id
           ORDER BY x.severity DESC, x.score DESC, h.sites DESC, x.published DESC, h.package_id, x.id LIMIT ? OFFSET ?) k`,
          ...args,
          firstSites,
          perPage,
          offset(page, perPage),
        ),
        sql(
          `${withHeld} SELECT x.severity, count(*) AS n FROM held h JOIN vulnerability x ON x.id = h.vulnerability_id GROUP BY 1`,
          ...args,
        ),
        sql(
          `${withHeld} SELECT count(DISTINCT i.site_id) AS sites FROM installs i WHERE (i.package_id, i.version) IN
             (SELECT h.package_id, j.value ->> 0 FROM held h, json_each(h.versions) j)`,
          ...args,
        ),
        sql(
          `SELECT count(*) AS all_sites, count(*) FILTER (WHERE s.id IN (${UNJUDGED_SITES})) AS unjudged FROM site s WHERE 1${sites.text}`,
          ...sites.args,
        ),
      ]);
      const noticeIds = [...new Set(rows.flatMap(({ notice_id }) => (notice_id === null ? [] : [notice_id])))];
      const notices =
        noticeIds.length === 0
          ? []
          : await db.all(`SELECT body FROM vulnerability_notice WHERE id ${IN} ORDER BY id`, [
              JSON.stringify(noticeIds),
            ]);
      return {
        rows: rows as VulnerabilityRow[],
        rows_total: severities.reduce((sum, { n }) => sum + Number(n), 0),
        severities: severities as { severity: number | null; n: number }[],
        sites: Number(totals[0]?.sites ?? 0),
        /** Sites of which it is not known: with a feed, and without one. */
        unknown: { judged: Number(unknown[0]?.unjudged ?? 0), all: Number(unknown[0]?.all_sites ?? 0) },
        notices: notices.map(({ body }) => String(body)),
      };
    },

    /** Sites by the worst that is known of them; of the whole fleet, without suspended sites. */
    async sitesBySeverity(): Promise<{ severity: number | null; n: number }[]> {
      return db.all(
        `SELECT severity, count(*) AS n FROM (SELECT i.site_id, max(x.severity) AS severity FROM (${VULNERABLE_INSTALLS}) i
           JOIN site s ON s.id = i.site_id AND s.suspended = 0
           JOIN vulnerable_version w ON w.package_id = i.package_id AND w.version = i.version
           JOIN vulnerability x ON x.id = w.vulnerability_id GROUP BY 1) GROUP BY 1`,
      );
    },
  };
}
