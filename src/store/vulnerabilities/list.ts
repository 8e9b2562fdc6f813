/** Known vulnerabilities of the fleet: one row for each that concerns an installed plugin, theme or core. */

import type { Db } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { among, type Fragment, fragment, IN, join, offset } from '../driver/sql-fragments.js';

export interface VulnerabilityRow {
  kind: number;
  slug: string;
  name: string;
  title: string;
  severity: number | null;
  score: number | null;
  cve: string | null;
  reference: string | null;
  published: number | null;
  notice_id: number | null;
  /** Installed versions, each with the first fixed one. */
  versions: [string, string | null][];
  sites: number;
  /** URLs. */
  first_sites: string[];
}

export interface VulnerabilityFilter {
  severities: readonly number[];
  /** 0 = WordPress itself; undefined = all. */
  packages?: readonly number[] | undefined;
  sites?: readonly number[] | undefined;
  tags: readonly number[];
  clients: readonly number[];
  fixed?: boolean | undefined;
}

/** `package_id, version, site_id` of the installs of these versions. @param versions SELECT of package_id and version */
function installsOf(versions: Fragment): Fragment {
  return join([
    fragment('SELECT w.package_id, w.version, e.site_id FROM ('),
    versions,
    fragment(
      ') w JOIN site_extension e ON e.package_id = w.package_id AND e.version = w.version UNION ALL SELECT 0, w.version, d.site_id FROM (',
    ),
    versions,
    fragment(') w JOIN site_detail d ON w.package_id = 0 AND d.wp_version = w.version'),
  ]);
}

/** The installs with known vulnerabilities. */
export const VULNERABLE_INSTALLS = `SELECT w.package_id, w.version, e.site_id
    FROM (SELECT DISTINCT package_id, version FROM vulnerable_version WHERE package_id > 0) w
    JOIN site_extension e ON e.package_id = w.package_id AND e.version = w.version
  UNION ALL SELECT 0, w.version, d.site_id
    FROM (SELECT DISTINCT version FROM vulnerable_version WHERE package_id = 0) w JOIN site_detail d ON d.wp_version = w.version`;

/**
 * Sites whose state is unknown although there is a feed: never synced, or with a pending version. CROSS: few versions
 * are pending, and SQLite would otherwise scan everything installed.
 */
export const UNCLASSIFIED_SITES = `SELECT site_id FROM site_detail WHERE last_sync IS NULL
  UNION ALL SELECT e.site_id FROM unclassified_version j CROSS JOIN site_extension e ON e.package_id = j.package_id AND e.version = j.version
  UNION ALL SELECT d.site_id FROM unclassified_version j CROSS JOIN site_detail d ON j.package_id = 0 AND d.wp_version = j.version`;

/** Sites whose WordPress itself is affected, and those of which that is unknown although there is a feed. */
export const VULNERABLE_CORES =
  'SELECT d.site_id FROM vulnerable_version w JOIN site_detail d ON d.wp_version = w.version WHERE w.package_id = 0';
export const UNCLASSIFIED_CORES = `SELECT site_id FROM site_detail WHERE wp_version = ''
  UNION ALL SELECT d.site_id FROM unclassified_version j JOIN site_detail d ON d.wp_version = j.version WHERE j.package_id = 0`;

/** ` AND …` condition on the site `s`. */
function ofSites({ sites, tags, clients }: VulnerabilityFilter): Fragment {
  return join([
    sites === undefined ? fragment('') : fragment(` AND s.id ${IN}`, JSON.stringify(sites)),
    tags.length === 0
      ? fragment('')
      : fragment(` AND s.id IN (SELECT site_id FROM site_tag WHERE tag_id ${IN})`, JSON.stringify(tags)),
    among('s.client_id', clients),
  ]);
}

/** ` AND …` condition on the finding `w` and its vulnerability `x`. */
function ofFindings(filter: VulnerabilityFilter): Fragment {
  const { severities, packages, sites } = filter;
  return join([
    among('x.severity', severities),
    packages === undefined ? fragment('') : fragment(` AND w.package_id ${IN}`, JSON.stringify(packages)),
    withFix(filter),
    sites === undefined
      ? fragment('')
      : fragment(
          ` AND (w.package_id, w.version) IN (SELECT package_id, version FROM site_extension WHERE site_id ${IN}
             UNION ALL SELECT 0, wp_version FROM site_detail WHERE site_id ${IN})`,
          JSON.stringify(sites),
          JSON.stringify(sites),
        ),
  ]);
}

function withFix({ fixed }: VulnerabilityFilter): Fragment {
  return fragment(fixed === undefined ? '' : ` AND w.fixed_in IS ${fixed ? 'NOT ' : ''}NULL`);
}

export function createVulnerabilities(db: Db) {
  return {
    /** One page, most severe first, with the counts of all matches. */
    async page(filter: VulnerabilityFilter, page: number, perPage: number, firstSites: number) {
      const sites = ofSites(filter);
      const findings = ofFindings(filter);
      const siteOf = sites.text === '' ? '' : ' JOIN site s ON s.id =';
      const installs = join([
        fragment(`(CASE w.package_id WHEN 0
          THEN (SELECT count(*) FROM site_detail d${siteOf && `${siteOf} d.site_id`} WHERE d.wp_version = w.version`),
        sites,
        fragment(`) ELSE (SELECT count(*) FROM site_extension e${siteOf && `${siteOf} e.site_id`}
            WHERE e.package_id = w.package_id AND e.version = w.version`),
        sites,
        fragment(') END)'),
      ]);
      // Grouped in index order: only the result has to be sorted.
      const held = join([
        fragment('WITH held AS MATERIALIZED (SELECT w.vulnerability_id, w.package_id, sum('),
        installs,
        fragment(`) AS sites, x.severity, x.score, x.published
          FROM vulnerable_version w JOIN vulnerability x ON x.id = w.vulnerability_id WHERE 1`),
        findings,
        fragment(' GROUP BY 1, 2)'),
      ]);
      const ofFound = join([
        fragment(
          'SELECT w.package_id, w.version, w.fixed_in FROM vulnerable_version w WHERE w.vulnerability_id = k.vulnerability_id AND w.package_id = k.package_id',
        ),
        withFix(filter),
      ]);
      const found = join([
        held,
        fragment(`SELECT (SELECT json_group_array(json_object('kind', ifnull(p.kind, 2), 'slug', ifnull(p.slug, 'wordpress'),
            'name', ifnull(p.name, 'WordPress'), 'title', x.title, 'severity', x.severity, 'score', x.score, 'cve', x.cve,
            'reference', x.reference, 'published', x.published, 'notice_id', x.notice_id, 'sites', k.sites,
            'versions', json((SELECT json_group_array(json_array(w.version, w.fixed_in)) FROM (`),
        ofFound,
        fragment(') w WHERE '),
        installs,
        fragment(` > 0)), 'first_sites', json((SELECT json_group_array(url) FROM (
              SELECT s.url FROM site s WHERE s.id IN (SELECT site_id FROM (`),
        installsOf(ofFound),
        fragment('))'),
        sites,
        fragment(' ORDER BY s.url_key, s.id LIMIT ?)))))', firstSites),
        fragment(
          ` FROM (SELECT * FROM held WHERE sites > 0
              ORDER BY severity DESC, score DESC, sites DESC, published DESC, package_id, vulnerability_id LIMIT ? OFFSET ?) k
            CROSS JOIN vulnerability x ON x.id = k.vulnerability_id LEFT JOIN package p ON p.id = k.package_id) AS rows,
          (SELECT json_group_array(json_array(severity, n)) FROM (SELECT severity, count(*) AS n FROM held WHERE sites > 0 GROUP BY 1)) AS severities`,
          perPage,
          offset(page, perPage),
        ),
      ]);
      const concerned = join([
        fragment('SELECT count(DISTINCT i.site_id) AS sites FROM ('),
        installsOf(
          join([
            fragment(
              `SELECT DISTINCT w.package_id, w.version FROM vulnerable_version w${
                filter.severities.length === 0 ? '' : ' JOIN vulnerability x ON x.id = w.vulnerability_id'
              } WHERE 1`,
            ),
            findings,
          ]),
        ),
        fragment(`) i${siteOf && `${siteOf} i.site_id`} WHERE 1`),
        sites,
      ]);
      const unknown = join([
        fragment('SELECT (SELECT count(*) FROM site s WHERE 1'),
        sites,
        fragment(`) AS all_sites, (SELECT count(*) FROM site s WHERE s.id IN (${UNCLASSIFIED_SITES})`),
        sites,
        fragment(') AS unclassified'),
      ]);
      const [lists = [], totals = [], counts = []] = await db.read(
        [found, concerned, unknown].map(({ text, args }) => sql(text, ...args)),
      );
      const rows = JSON.parse(String(lists[0]?.rows ?? '[]')) as VulnerabilityRow[];
      const severities = JSON.parse(String(lists[0]?.severities ?? '[]')) as [severity: number | null, n: number][];
      const noticeIds = [...new Set(rows.flatMap(({ notice_id }) => (notice_id === null ? [] : [notice_id])))];
      const notices =
        noticeIds.length === 0
          ? []
          : await db.all(`SELECT body FROM vulnerability_notice WHERE id ${IN} ORDER BY id`, [
              JSON.stringify(noticeIds),
            ]);
      return {
        rows,
        rows_total: severities.reduce((sum, [, n]) => sum + n, 0),
        severities: severities.map(([severity, n]) => ({ severity, n })),
        sites: Number(totals[0]?.sites ?? 0),
        /** Sites whose state is unknown: with a feed, and without one. */
        unknown: { unclassified: Number(counts[0]?.unclassified ?? 0), all: Number(counts[0]?.all_sites ?? 0) },
        notices: notices.map(({ body }) => String(body)),
      };
    },

    /** Number of sites by their most severe vulnerability; for the whole fleet, without suspended sites. */
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
