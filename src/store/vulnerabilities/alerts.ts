/** Known vulnerabilities that have not been reported yet, and the alerts that report them. */

import type { Db } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { alertStatement, type NewAlert } from '../monitoring/alerts.js';

/**
 * New vulnerabilities of one plugin, theme or core on one connected site; rating and the other members are those of the
 * most severe.
 */
export interface SiteVulnerability {
  site_id: number;
  url: string;
  site_name: string;
  kind: number;
  slug: string;
  name: string;
  package_id: number;
  version: string;
  count: number;
  severity: number | null;
  cve: string | null;
  reference: string | null;
  fixed_in: string | null;
}

export interface NewVulnerabilities {
  /** Pairs of vulnerability and package, as JSON: recorded once they are reported. */
  fresh: string;
  /** Counts of everything new: vulnerabilities, connected sites, and pairs of a site and an installed item. */
  vulnerabilities: number;
  sites: number;
  items: number;
  /** How many of the vulnerabilities are rated critical. */
  critical: number;
  /** The first of the pairs, most severe first. */
  first: SiteVulnerability[];
}

const FRESH = `SELECT DISTINCT w.vulnerability_id, w.package_id FROM vulnerable_version w WHERE NOT EXISTS (
  SELECT 1 FROM vulnerability_told t WHERE t.vulnerability_id = w.vulnerability_id AND t.package_id = w.package_id)`;

/** Installs affected by new vulnerabilities, on connected sites; `f` is the list of FRESH. */
const INSTALLS = `SELECT w.vulnerability_id, w.package_id, w.version, w.fixed_in, e.site_id FROM f
    JOIN vulnerable_version w ON w.vulnerability_id = f.vulnerability_id AND w.package_id = f.package_id
    JOIN site_extension e ON e.package_id = w.package_id AND e.version = w.version
  UNION ALL SELECT w.vulnerability_id, 0, w.version, w.fixed_in, d.site_id FROM f
    JOIN vulnerable_version w ON w.vulnerability_id = f.vulnerability_id AND w.package_id = 0 AND f.package_id = 0
    JOIN site_detail d ON d.wp_version = w.version`;

export function createVulnerabilityAlerts(db: Db) {
  return {
    /** The news, with the first `limit` pairs of a site and an installed item. */
    async read(limit: number): Promise<NewVulnerabilities> {
      const row = await db.one(
        `WITH f AS MATERIALIZED (${FRESH}),
           i AS MATERIALIZED (SELECT i.* FROM (${INSTALLS}) i JOIN site s ON s.id = i.site_id AND s.status = 'connected'),
           -- SQLite answers the other columns of the row that has the maximum.
           worst AS (SELECT i.site_id, i.package_id, i.version, i.fixed_in, i.vulnerability_id, count(*) AS n,
               max(ifnull(x.severity, -1) * 100 + ifnull(x.score, 0)) AS rank
             FROM i JOIN vulnerability x ON x.id = i.vulnerability_id GROUP BY i.site_id, i.package_id)
         SELECT (SELECT json_group_array(json_array(vulnerability_id, package_id)) FROM f) AS fresh,
           (SELECT count(DISTINCT vulnerability_id) FROM i) AS vulnerabilities,
           (SELECT count(DISTINCT site_id) FROM i) AS sites,
           (SELECT count(*) FROM worst) AS items,
           (SELECT count(*) FROM vulnerability x WHERE x.severity = 4 AND x.id IN (SELECT vulnerability_id FROM i)) AS critical,
           (SELECT json_group_array(json_object('site_id', s.id, 'url', s.url, 'site_name', s.name, 'kind', ifnull(p.kind, 2),
               'slug', ifnull(p.slug, 'wordpress'), 'name', ifnull(p.name, 'WordPress'), 'package_id', k.package_id,
               'version', k.version, 'count', k.n, 'severity', x.severity, 'cve', x.cve,
               'reference', x.reference, 'fixed_in', k.fixed_in))
             FROM (SELECT * FROM worst ORDER BY rank DESC, site_id, package_id LIMIT ?) k
             CROSS JOIN site s ON s.id = k.site_id JOIN vulnerability x ON x.id = k.vulnerability_id
             LEFT JOIN package p ON p.id = k.package_id) AS first`,
        [limit],
      );
      const count = (name: string) => Number(row?.[name] ?? 0);
      return {
        fresh: String(row?.fresh ?? '[]'),
        vulnerabilities: count('vulnerabilities'),
        sites: count('sites'),
        items: count('items'),
        critical: count('critical'),
        first: JSON.parse(String(row?.first ?? '[]')) as SiteVulnerability[],
      };
    },

    /** Stores the alerts, and records the news as reported. Returns the alerts that are new. */
    async record<A extends NewAlert>(fresh: string, alerts: readonly A[]): Promise<A[]> {
      const results = await db.batch([
        ...alerts.map(alertStatement),
        sql(
          `INSERT OR IGNORE INTO vulnerability_told (vulnerability_id, package_id)
           SELECT x.id, j.value ->> 1 FROM json_each(?) j JOIN vulnerability x ON x.id = j.value ->> 0`,
          fresh,
        ),
      ]);
      return alerts.filter((_, index) => results[index]?.changes === 1);
    },
  };
}
