/** Versions that broke a site, and where they are quarantined. */

import type { Db, Row, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { refreshIgnoredEverywhere } from '../sites/ignored-updates.js';
import { quarantinedOn } from '../sites/quarantined-on.js';

export interface VersionKey {
  type: number;
  slug: string;
  version: string;
}

export interface QuarantineRow extends Row, VersionKey {
  name: string;
  site_id: number;
  site_url: string;
  change_id: string;
  /** JSON: a list of sentences. */
  evidence: string;
  created_at: number;
  lifted_at: number | null;
  lifted_by: string | null;
  /** On the sites that it broke, or on all. */
  scope: QuarantineScope;
  /** The person who set the scope; null = it follows from what was seen. */
  scope_by: string | null;
  scope_reason: string | null;
  /** When the quarantine on all sites ends, unless another site confirms it; null = it does not end. */
  fleet_until: number | null;
  /** Sites that it broke. */
  sites: number;
}

export type QuarantineScope = 'site' | 'fleet';

/** What was seen on the site. */
export interface QuarantineProof {
  /** Requests of ours met it, not only the guard's word. */
  seen: boolean;
  /** When one of our requests ended in a file of the item: until when that is enough to hold it back on all sites. */
  fleet_until: number | null;
}

const NEW = ['type', 'slug', 'version', 'name', 'site_id', 'site_url', 'change_id', 'evidence', 'created_at'] as const;
const COLUMNS = `${NEW.join(', ')}, lifted_at, lifted_by, scope, scope_by, scope_reason, fleet_until,
  (SELECT count(*) FROM quarantine_site h WHERE h.type = quarantined_version.type AND h.slug = quarantined_version.slug
     AND h.version = quarantined_version.version) AS sites`;
const KEY = 'type = ? AND slug = ? AND version = ?';

export type NewQuarantine = Pick<QuarantineRow, (typeof NEW)[number]>;

/** Which of the given versions are quarantined on a site. */
export function quarantinedAmong(siteId: number, versions: readonly VersionKey[]): Statement {
  const { sql: text, args } = ofVersions(versions);
  return sql(`${text} AND ${quarantinedOn('quarantined_version', '?')}`, ...args, siteId);
}

function ofVersions(versions: readonly VersionKey[]): Statement & { args: Value[] } {
  return {
    sql: `SELECT ${COLUMNS} FROM quarantined_version WHERE (type, slug, version) IN
       (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))`,
    args: [JSON.stringify(versions.map(({ type, slug, version }) => [type, slug, version]))],
  };
}

export function createQuarantine(db: Db) {
  /** Changes one entry, and with it which updates are on offer. */
  const change = async ({ type, slug }: VersionKey, statement: Statement): Promise<QuarantineRow | undefined> => {
    const [changed] = await db.batch([statement, refreshIgnoredEverywhere(type, slug)]);
    return changed?.rows[0] as QuarantineRow | undefined;
  };

  return {
    /** Those of the versions that are quarantined anywhere. */
    among(versions: readonly VersionKey[]): Promise<QuarantineRow[]> {
      const { sql: text, args } = ofVersions(versions);
      return db.all<QuarantineRow>(`${text} AND lifted_at IS NULL`, args);
    },

    /** Those of the versions that were quarantined once, and released by a person. */
    releasedAmong(versions: readonly VersionKey[]): Promise<QuarantineRow[]> {
      const { sql: text, args } = ofVersions(versions);
      return db.all<QuarantineRow>(
        `${text} AND lifted_at IS NOT NULL ORDER BY lifted_at DESC, type, slug, version`,
        args,
      );
    },

    /**
     * Holds a version back on the site that it broke; on all once our own requests met it on two sites, or for a time on
     * one, if they ended in its own file and no other site runs it; unless a person has set the scope. One that a user
     * released is quarantined again.
     */
    async add(entry: NewQuarantine, { seen, fleet_until }: QuarantineProof): Promise<QuarantineRow | undefined> {
      const key = [entry.type, entry.slug, entry.version] as const;
      await db.batch([
        // A person has released it in spite of what these say. That it broke this site before still counts.
        sql(
          `DELETE FROM quarantine_site WHERE ${KEY} AND site_id <> ?
             AND EXISTS (SELECT 1 FROM quarantined_version WHERE ${KEY} AND lifted_at IS NOT NULL)`,
          ...key,
          entry.site_id,
          ...key,
        ),
        sql(
          `INSERT INTO quarantined_version (${NEW.join(', ')}, scope) VALUES (${NEW.map(() => '?').join(', ')}, 'site')
           ON CONFLICT (type, slug, version) DO UPDATE SET name = excluded.name, site_id = excluded.site_id,
             site_url = excluded.site_url, change_id = excluded.change_id, evidence = excluded.evidence,
             created_at = excluded.created_at, lifted_at = NULL, lifted_by = NULL, scope = 'site', scope_by = NULL,
             scope_reason = NULL, fleet_until = NULL
           WHERE quarantined_version.lifted_at IS NOT NULL`,
          ...NEW.map((name) => entry[name]),
        ),
        // Before the site is noted: each counts once, or one that lies could renew its day for ever.
        ...(seen && fleet_until !== null ? [onOneSite(entry, fleet_until)] : []),
        sql(
          `INSERT INTO quarantine_site (type, slug, version, site_id, seen) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET seen = max(seen, excluded.seen)`,
          ...key,
          entry.site_id,
          seen ? 1 : 0,
        ),
        sql(
          `UPDATE quarantined_version SET scope = 'fleet', fleet_until = NULL
           WHERE ${KEY} AND scope_by IS NULL AND (scope = 'site' OR fleet_until IS NOT NULL)
             AND (SELECT count(*) FROM quarantine_site WHERE ${KEY} AND seen = 1) >= 2`,
          ...key,
          ...key,
        ),
        refreshIgnoredEverywhere(entry.type, entry.slug),
      ]);
      return db.one<QuarantineRow>(`SELECT ${COLUMNS} FROM quarantined_version WHERE ${KEY}`, [...key]);
    },

    /** Sets where a version is quarantined, as a person decides; undefined if it was not quarantined. */
    async setScope(key: VersionKey, scope: QuarantineScope, by: string, reason: string) {
      return change(
        key,
        sql(
          `UPDATE quarantined_version SET scope = ?, scope_by = ?, scope_reason = ?, fleet_until = NULL
           WHERE ${KEY} AND lifted_at IS NULL RETURNING ${COLUMNS}`,
          ...[scope, by, reason, key.type, key.slug, key.version],
        ),
      );
    },

    /** Puts the quarantine of a version back as it was, also a lifted one; undefined if there was none. */
    async restore(key: VersionKey, to: Pick<QuarantineRow, 'scope' | 'scope_by' | 'scope_reason' | 'fleet_until'>) {
      const { scope, scope_by, scope_reason, fleet_until } = to;
      return change(
        key,
        sql(
          `UPDATE quarantined_version SET lifted_at = NULL, lifted_by = NULL, scope = ?, scope_by = ?, scope_reason = ?,
             fleet_until = ? WHERE ${KEY} RETURNING ${COLUMNS}`,
          ...[scope, scope_by, scope_reason, fleet_until, key.type, key.slug, key.version],
        ),
      );
    },

    /** What no second site has confirmed in time is quarantined on its own site only. */
    async narrow(now: number): Promise<void> {
      const over = await db.all<VersionKey & Row>('SELECT type, slug FROM quarantined_version WHERE fleet_until <= ?', [
        now,
      ]);
      if (over.length === 0) return;
      await db.batch([
        sql("UPDATE quarantined_version SET scope = 'site', fleet_until = NULL WHERE fleet_until <= ?", now),
        ...over.map(({ type, slug }) => refreshIgnoredEverywhere(type, slug)),
      ]);
    },

    /** Newest first, one page; released ones only on request. */
    page(lifted: boolean, page: number, perPage: number): Promise<{ items: QuarantineRow[]; total: number }> {
      const where = lifted ? '' : 'WHERE lifted_at IS NULL';
      const rows = sql(
        `SELECT ${COLUMNS} FROM quarantined_version ${where} ORDER BY created_at DESC, type, slug, version`,
      );
      const count = sql(`SELECT count(*) AS n FROM quarantined_version ${where}`);
      return readPage<QuarantineRow>(db, rows, count, page, perPage);
    },

    /** Releases a version; undefined if it was not quarantined. */
    async lift({ type, slug, version }: VersionKey, by: string, now: number): Promise<QuarantineRow | undefined> {
      return change(
        { type, slug, version },
        sql(
          `UPDATE quarantined_version SET lifted_at = ?, lifted_by = ?
           WHERE ${KEY} AND lifted_at IS NULL RETURNING ${COLUMNS}`,
          ...[now, by, type, slug, version],
        ),
      );
    },
  };
}

/** Only a version that no other site runs, and that this one has not broken on before: otherwise the site may be the reason. */
function onOneSite({ type, slug, version, site_id }: NewQuarantine, until: number): Statement {
  return sql(
    `UPDATE quarantined_version SET scope = 'fleet', fleet_until = ?
     WHERE ${KEY} AND scope = 'site' AND scope_by IS NULL
       AND NOT EXISTS (SELECT 1 FROM quarantine_site WHERE ${KEY} AND site_id = ?) AND NOT EXISTS (SELECT 1 FROM package p
       JOIN site_extension e ON e.package_id = p.id WHERE p.kind = ? AND p.slug = ? AND e.version = ? AND e.active = 1
         AND e.site_id <> ?)`,
    until,
    type,
    slug,
    version,
    type,
    slug,
    version,
    site_id,
    type - 1,
    slug,
    version,
    site_id,
  );
}
