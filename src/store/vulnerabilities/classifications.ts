/** Versions of the fleet that wait to be matched with the feed, and the results. */

import type { VersionRange } from '../../../schemas/vulnerability.js';
import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';

/** A pending version, with all feed entries of its package. */
export interface WaitingVersion {
  package_id: number;
  version: string;
  round: number;
  software: [vulnerability: number, ranges: VersionRange[], fixes: string[]][];
}

export interface Finding {
  package_id: number;
  version: string;
  vulnerability: number;
  fixed_in: string | null;
}

/** A version that an update replaces, and its known vulnerabilities. */
export interface OfferFinding extends Row {
  /** Position in the given list. */
  at: number;
  cve: string | null;
  title: string;
  severity: number | null;
  /** JSON of VersionRange[]. */
  ranges: string;
}

export function createClassifications(db: Db) {
  return {
    async waiting(limit: number): Promise<WaitingVersion[]> {
      const rows = await db.all(
        `SELECT j.package_id, j.version, j.round, (SELECT json_group_array(json_array(v.vulnerability_id, json(v.ranges), json(v.fixes)))
           FROM vulnerable_software v WHERE v.kind = ifnull(p.kind, 2) AND v.slug = ifnull(p.feed_slug, 'wordpress')) AS software
         FROM (SELECT package_id, version, round FROM unclassified_version LIMIT ?) j LEFT JOIN package p ON p.id = j.package_id`,
        [limit],
      );
      return rows.map((row) => ({
        package_id: Number(row.package_id),
        version: String(row.version),
        round: Number(row.round),
        software: JSON.parse(String(row.software)),
      }));
    },

    /** Replaces the findings for these versions. One that was noted again in the meantime stays pending. */
    async replace(versions: readonly WaitingVersion[], findings: readonly Finding[]): Promise<void> {
      const classified = JSON.stringify(versions.map(({ package_id, version, round }) => [package_id, version, round]));
      await db.batch([
        sql(
          'DELETE FROM vulnerable_version WHERE (package_id, version) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))',
          classified,
        ),
        sql(
          `INSERT INTO vulnerable_version (package_id, version, vulnerability_id, fixed_in)
           SELECT j.value ->> 0, j.value ->> 1, x.id, j.value ->> 3 FROM json_each(?) j JOIN vulnerability x ON x.id = j.value ->> 2`,
          JSON.stringify(findings.map((f) => [f.package_id, f.version, f.vulnerability, f.fixed_in])),
        ),
        sql(
          `DELETE FROM unclassified_version WHERE (package_id, version, round) IN
             (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))`,
          classified,
        ),
      ]);
    },

    /** Deletes findings for versions that no site has any more. */
    async forgetGone(): Promise<void> {
      await db.run(
        `DELETE FROM vulnerable_version WHERE CASE package_id
           WHEN 0 THEN NOT EXISTS (SELECT 1 FROM site_detail d WHERE d.wp_version = vulnerable_version.version)
           ELSE NOT EXISTS (SELECT 1 FROM site_extension e WHERE e.package_id = vulnerable_version.package_id AND e.version = vulnerable_version.version)
         END`,
      );
    },

    /**
     * Findings for the versions that these updates replace. `type` as in the list of updates; translations are in no
     * feed. Joined so that each step is one index lookup: without statistics SQLite would begin with the whole feed.
     */
    ofOffers(offers: readonly { type: number; slug: string; current_version: string }[]): Promise<OfferFinding[]> {
      const list = JSON.stringify(offers.map(({ type, slug, current_version }) => [type, slug, current_version]));
      return db.all<OfferFinding>(
        `SELECT DISTINCT j.key AS at, x.id, x.cve, x.title, x.severity, v.ranges FROM json_each(?) j
         CROSS JOIN package p ON p.kind = (j.value ->> 0) - 1 AND p.slug = j.value ->> 1
         CROSS JOIN vulnerable_version w ON w.package_id = p.id AND w.version = j.value ->> 2
         CROSS JOIN vulnerability x ON x.id = w.vulnerability_id
         CROSS JOIN vulnerable_software v ON v.kind = p.kind AND v.slug = p.feed_slug AND v.vulnerability_id = x.id
         WHERE j.value ->> 0 IN (1, 2)
         UNION
         SELECT j.key, x.id, x.cve, x.title, x.severity, v.ranges FROM json_each(?) j
         CROSS JOIN vulnerable_version w ON w.package_id = 0 AND w.version = j.value ->> 2
         CROSS JOIN vulnerability x ON x.id = w.vulnerability_id
         CROSS JOIN vulnerable_software v ON v.kind = 2 AND v.slug = 'wordpress' AND v.vulnerability_id = x.id
         WHERE j.value ->> 0 = 0
         ORDER BY 1, 5 DESC, 2`,
        [list, list],
      );
    },
  };
}
