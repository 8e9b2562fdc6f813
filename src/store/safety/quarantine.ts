/** Versions that broke a site and are held back from all others. */

import type { Db, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';

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
}

const NEW = ['type', 'slug', 'version', 'name', 'site_id', 'site_url', 'change_id', 'evidence', 'created_at'] as const;
const COLUMNS = `${NEW.join(', ')}, lifted_at, lifted_by`;

export type NewQuarantine = Pick<QuarantineRow, (typeof NEW)[number]>;

/** Which of the given versions are held back. */
export function heldAmong(versions: readonly VersionKey[]): Statement {
  return sql(
    `SELECT ${COLUMNS} FROM quarantined_version WHERE lifted_at IS NULL AND (type, slug, version) IN
       (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))`,
    JSON.stringify(versions.map(({ type, slug, version }) => [type, slug, version])),
  );
}

export function createQuarantine(db: Db) {
  return {
    /** Holds a version back. One that a user released and that broke another site is held back again. */
    async add(entry: NewQuarantine): Promise<void> {
      await db.run(
        `INSERT INTO quarantined_version (${NEW.join(', ')}) VALUES (${NEW.map(() => '?').join(', ')})
         ON CONFLICT (type, slug, version) DO UPDATE SET name = excluded.name, site_id = excluded.site_id,
           site_url = excluded.site_url, change_id = excluded.change_id, evidence = excluded.evidence,
           created_at = excluded.created_at, lifted_at = NULL, lifted_by = NULL
         WHERE quarantined_version.lifted_at IS NOT NULL`,
        NEW.map((name) => entry[name]),
      );
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

    /** Releases a version; undefined if it was not held back. */
    async lift({ type, slug, version }: VersionKey, by: string, now: number): Promise<QuarantineRow | undefined> {
      const [row] = await db.all<QuarantineRow>(
        `UPDATE quarantined_version SET lifted_at = ?, lifted_by = ?
         WHERE type = ? AND slug = ? AND version = ? AND lifted_at IS NULL RETURNING ${COLUMNS}`,
        [now, by, type, slug, version],
      );
      return row;
    },
  };
}
