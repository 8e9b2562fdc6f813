/** Items that were updated under protection, one row each: their current step, and how they ended. */

import type { Db, Reads, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { countOf, readPage, rowsAndTotal } from '../driver/lists.js';
import { assignments, insertRow, only } from '../driver/rows.js';
import { equal } from '../driver/sql-fragments.js';
import { MARK_COLUMNS, marked, NOT_ASIDE } from '../fleet/marks.js';

/** The next or current step: stored before it is taken. */
export type ChangeStep = 'snapshot' | 'arm' | 'update' | 'probe' | 'restore' | 'disarm';
export type ChangeOutcome =
  /** The new version stays. */
  | 'kept'
  /** The old version was restored. */
  | 'rolled_back'
  /** The site keeps the old version: the update did not take effect, or was never sent. */
  | 'not_updated'
  /** The site does not work, and nothing that could be tried has helped. */
  | 'broken';
export type Protection = 'guard' | 'reinstall' | 'none';

export interface ChangeRow extends Row {
  id: string;
  run_id: string;
  site_id: number;
  position: number;
  /** Number of the update type. */
  type: number;
  slug: string;
  name: string;
  old_version: string;
  new_version: string;
  protection: Protection;
  step: ChangeStep;
  outcome: ChangeOutcome | null;
  snapshot: string | null;
  digest: string | null;
  /** In unix seconds of the site's clock. */
  armed_until: number | null;
  /** JSON of the findings. */
  evidence: string | null;
  started_at: number;
  updated_at: number | null;
  settled_at: number | null;
  watch_at: number | null;
}

export interface WatchedRow extends ChangeRow {
  /** 1 = still installed, as far as is known, and not rolled back. */
  present: number;
}

export interface HarmfulRow extends ChangeRow {
  site_name: string;
  site_url: string;
}

export type ChangeFields = Partial<
  Pick<
    ChangeRow,
    | 'step'
    | 'outcome'
    | 'snapshot'
    | 'digest'
    | 'armed_until'
    | 'evidence'
    | 'updated_at'
    | 'settled_at'
    | 'watch_at'
    | 'new_version'
  >
>;

export type Harm = 'broken' | 'suspect' | 'rolled_back';

/** Still installed, as far as is known. */
const INSTALLED = `CASE c.type WHEN 0 THEN d.wp_version = c.new_version
  WHEN 3 THEN 1 ELSE EXISTS (SELECT 1 FROM site_extension e JOIN package p ON p.id = e.package_id
    WHERE e.site_id = c.site_id AND e.kind = c.type - 1 AND p.slug = c.slug AND e.version = c.new_version) END`;

/** Conditions on a change `c` of a site with the detail `d`. A run looks at its site before it changes anything. */
const HARM: Readonly<Record<Harm, string>> = {
  broken: `c.outcome = 'broken' AND ${INSTALLED} AND NOT EXISTS (SELECT 1 FROM safe_change later
    WHERE later.site_id = c.site_id AND later.started_at > c.settled_at AND later.outcome IN ('kept', 'rolled_back'))`,
  suspect: `c.outcome = 'kept' AND json_array_length(c.evidence, '$.suspect') > 0 AND ${INSTALLED}`,
  // Not what a person took back of which nothing bad was seen.
  rolled_back: `c.outcome = 'rolled_back' AND (c.evidence IS NULL OR json_extract(c.evidence, '$.by') IS NOT NULL
    OR json_array_length(c.evidence, '$.seen') > 0 OR json_array_length(c.evidence, '$.suspect') > 0)`,
};

const SUBJECT = "'change:' || c.id";

const NEW = [
  'id',
  'run_id',
  'site_id',
  'position',
  'type',
  'slug',
  'name',
  'old_version',
  'new_version',
  'protection',
  'step',
  'started_at',
] as const;

export type NewChange = Pick<ChangeRow, (typeof NEW)[number]>;

export function createChanges(db: Db, aside: Reads) {
  return {
    /** The facts needed to finish a run on a site; null = none of its items is open. */
    async runFacts(runId: string, siteId: number): Promise<string | null> {
      const row = await db.one('SELECT facts FROM safe_change_run WHERE id = ? AND site_id = ?', [runId, siteId]);
      return row === undefined ? null : String(row.facts);
    },

    /** Deletes the facts of runs without open items. A later item stores them again. */
    async forgetRuns(): Promise<void> {
      await db.run(
        `DELETE FROM safe_change_run WHERE NOT EXISTS
           (SELECT 1 FROM safe_change c
            WHERE c.run_id = safe_change_run.id AND c.site_id = safe_change_run.site_id AND c.settled_at IS NULL)`,
      );
    },

    /** Adds an item; `facts` (JSON) is what another process needs to finish its run. */
    async add(change: NewChange, facts: string): Promise<void> {
      await db.batch([
        sql(
          'INSERT OR IGNORE INTO safe_change_run (id, site_id, facts) VALUES (?, ?, ?)',
          change.run_id,
          change.site_id,
          facts,
        ),
        insertRow('safe_change', only(NEW, change)),
      ]);
    },

    /** Stores the given fields of one item. */
    async note(id: string, fields: ChangeFields): Promise<void> {
      const { text, args } = assignments({ ...fields });
      await db.run(`UPDATE safe_change SET ${text} WHERE id = ?`, [...args, id]);
    },

    /** Items of a run on a site so far. */
    count(runId: string, siteId: number): Promise<number> {
      return countOf(db, 'SELECT count(*) AS n FROM safe_change WHERE run_id = ? AND site_id = ?', [runId, siteId]);
    },

    /** The items of a run on a site, in their order. */
    ofRun(runId: string, siteId: number): Promise<ChangeRow[]> {
      return db.all<ChangeRow>('SELECT * FROM safe_change WHERE run_id = ? AND site_id = ? ORDER BY position', [
        runId,
        siteId,
      ]);
    },

    find(id: string): Promise<ChangeRow | undefined> {
      return db.one<ChangeRow>('SELECT * FROM safe_change WHERE id = ?', [id]);
    },

    /** The newest of this item's updates whose old version was kept, or that replaced this version. */
    newest(siteId: number, type: number, slug: string, version: string | null): Promise<ChangeRow | undefined> {
      return db.one<ChangeRow>(
        `SELECT * FROM safe_change WHERE site_id = ? AND type = ? AND slug = ? AND settled_at IS NOT NULL
           AND outcome IN ('kept', 'broken') AND (? IS NULL OR old_version = ?)
         ORDER BY started_at DESC, position DESC LIMIT 1`,
        [siteId, type, slug, version, version],
      );
    },

    /** Unfinished items of a site, run by run. */
    open(siteId: number): Promise<ChangeRow[]> {
      return db.all<ChangeRow>(
        'SELECT * FROM safe_change WHERE site_id = ? AND settled_at IS NULL ORDER BY started_at, run_id, position',
        [siteId],
      );
    },

    /** Sites with such items. */
    async openSites(limit: number): Promise<number[]> {
      const rows = await db.all('SELECT DISTINCT site_id FROM safe_change WHERE settled_at IS NULL LIMIT ?', [limit]);
      return rows.map((row) => Number(row.site_id));
    },

    /**
     * Claims the watched items of sites of which one is due by `lapsed`, most overdue first, by moving their next look to
     * `until`: of at most `most` sites, and no more than this process's part.
     */
    async claimWatched(
      until: number,
      { lapsed, together, most, members }: { lapsed: number; together: number; most: number; members: number },
    ): Promise<WatchedRow[]> {
      const due = 'FROM safe_change WHERE watch_at <= ?2 GROUP BY site_id';
      const claimed = await db.all(
        `UPDATE safe_change SET watch_at = ?1 WHERE watch_at <= ?5 AND site_id IN (
           SELECT site_id ${due} ORDER BY min(watch_at), site_id LIMIT CAST(min(?3,
             ((SELECT count(*) FROM (SELECT 1 ${due} LIMIT ?3 * ?4)) + ?4 - 1) / ?4) AS INTEGER)) RETURNING id`,
        [until, lapsed, most, members, lapsed + together],
      );
      if (claimed.length === 0) return [];
      return db.all<WatchedRow>(
        `SELECT c.*, c.outcome = 'kept' AND ${INSTALLED} AS present FROM safe_change c JOIN site_detail d ON d.site_id = c.site_id
         WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.site_id, c.started_at, c.position`,
        [JSON.stringify(claimed.map(({ id }) => id))],
      );
    },

    /** Sets the next look at items that are still claimed until then; null = none. */
    async watchNext(ids: readonly string[], claim: number, at: number | null): Promise<void> {
      await db.run(
        'UPDATE safe_change SET watch_at = ? WHERE watch_at = ? AND id IN (SELECT value FROM json_each(?))',
        [at, claim, JSON.stringify(ids)],
      );
    },

    /** Opens an item again that was kept: a process that dies while it is rolled back leaves it to be finished. */
    async reopen({ id, run_id, site_id }: Pick<ChangeRow, 'id' | 'run_id' | 'site_id'>, facts: string): Promise<void> {
      await db.batch([
        sql('INSERT OR IGNORE INTO safe_change_run (id, site_id, facts) VALUES (?, ?, ?)', run_id, site_id, facts),
        sql(
          "UPDATE safe_change SET step = 'probe', outcome = NULL, settled_at = NULL, watch_at = NULL WHERE id = ?",
          id,
        ),
      ]);
    },

    /** The items of some snapshots, by the id of the snapshot. */
    async ofSnapshots(siteId: number, snapshots: readonly string[]): Promise<Map<string, string>> {
      const rows = await db.all(
        'SELECT snapshot, id FROM safe_change WHERE site_id = ? AND snapshot IN (SELECT value FROM json_each(?))',
        [siteId, JSON.stringify(snapshots)],
      );
      return new Map(rows.map((row) => [String(row.snapshot), String(row.id)]));
    },

    /** Newest first, one page. */
    page(siteId: number, page: number, perPage: number): Promise<{ items: ChangeRow[]; total: number }> {
      const rows = sql('SELECT * FROM safe_change WHERE site_id = ? ORDER BY started_at DESC, position DESC', siteId);
      const count = sql('SELECT count(*) AS n FROM safe_change WHERE site_id = ?', siteId);
      return readPage<ChangeRow>(db, rows, count, page, perPage);
    },

    /**
     * Updates since then that harmed their site, or may have, newest first; at most `limit`, and their total number.
     * Those that are over are left out: the version is no longer installed, or a later run found the site healthy.
     * @param site only this one, with what was set aside; undefined = all, without it
     */
    harmful(
      harm: Harm,
      { since, now }: { since: number; now: number },
      limit: number,
      site?: number,
    ): Promise<{ items: HarmfulRow[]; total: number }> {
      const only = equal('c.site_id', site);
      const from = `FROM safe_change c JOIN site s ON s.id = c.site_id JOIN site_detail d ON d.site_id = s.id ${marked(SUBJECT)}
        WHERE ${HARM[harm]} AND c.settled_at >= ?${only.text}${site === undefined ? ` AND ${NOT_ASIDE}` : ''}`;
      const args = [now, since, ...only.args];
      const rows = sql(
        `SELECT c.*, s.name AS site_name, s.url AS site_url, s.url, ${SUBJECT} AS subject, ${MARK_COLUMNS} ${from}
         ORDER BY k.subject IS NOT NULL, c.settled_at DESC, c.id LIMIT ?`,
        ...args,
        limit,
      );
      return rowsAndTotal<HarmfulRow>(aside, rows, sql(`SELECT count(*) AS n ${from}`, ...args));
    },

    /** Deletes items that were finished by then. */
    async expire(before: number): Promise<number> {
      const { changes } = await db.run('DELETE FROM safe_change WHERE settled_at <= ?', [before]);
      return changes;
    },
  };
}
