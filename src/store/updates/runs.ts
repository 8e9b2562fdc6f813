/** Runs of updates: one row per call, one per site and item. Triggers keep items of safe updates in step (schema/runs.ts). */

import type { RUN_ITEM_STATES } from '../../../schemas/run.js';
import type { Db, Reads, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage, rowsAndTotal } from '../driver/lists.js';
import { among, equal, join, offset } from '../driver/sql-fragments.js';
import { type NewRun, newRun } from '../jobs/new-run.js';
import type { ChangeOutcome, ChangeRow, ChangeStep } from '../safety/changes.js';
import { TYPE } from '../sites/inventory-rows.js';

export type RunItemState = (typeof RUN_ITEM_STATES)[number];

export interface RunRow extends Row, NewRun {
  ended_at: number | null;
  job_id: string | null;
}

/** A run with its items by state, and what its job has not begun. */
export interface CountedRun extends RunRow {
  /** JSON object: how many items are in which state. */
  counts: string;
  waiting_sites: number;
  /** JSON of `RunTrouble`; null if every item was kept. */
  trouble: string | null;
}

/** The first item that was not kept, the worst of them: what failed, then what was rolled back, unknown or left out. */
export interface RunTrouble extends Pick<RunItem, 'name' | 'code' | 'message'> {
  /** Null: the site was removed. */
  site_url: string | null;
  /** How its safe update ended, and what was seen. */
  outcome: ChangeOutcome | null;
  seen: string | null;
}

export interface RunItem
  extends Pick<ChangeRow, 'type' | 'slug' | 'name' | 'old_version' | 'new_version' | 'protection'> {
  state: RunItemState;
  code: string;
  message: string;
  change_id: string;
  /** The backup that was there before it; null = none was asked for. */
  backup_id?: string | null;
}

export interface RunItemRow extends Row, RunItem {
  run_id: string;
  site_id: number;
  finished_at: number | null;
}

/** With what is known of its site and of its safe update. */
export interface ToldRunItem extends RunItemRow {
  /** Null: the site was removed. */
  site_url: string | null;
  site_name: string | null;
  /** The guard has a copy of the old version. */
  copied: number;
  /** How its safe update ended. */
  outcome: ChangeOutcome | null;
  /** JSON of the findings. */
  evidence: string | null;
  settled_at: number | null;
  /** Its step, while it has no outcome the current one. */
  step: ChangeStep | null;
}

/** An item that broke its site, and was rolled back. */
interface Rescue extends Row, Pick<RunItem, 'name' | 'new_version'> {
  site_id: number;
  site_name: string | null;
  /** From the update until the site was seen to work again. */
  ms: number;
}

export interface RunFilter {
  /** Started at or after this time. */
  since?: number | undefined;
  site_id?: number | undefined;
  actor?: string | undefined;
  /** True: only those at work; false: only those that have ended. */
  running?: boolean | undefined;
  /** With an item in this state. */
  item_state?: RunItemState | undefined;
}

const OPEN = "('queued', 'updating', 'checking')";
/** The item `i` of a safe update that is not finished: its steps say how it stands. */
const GUARDED = `SELECT 1 FROM safe_change c WHERE c.id = i.change_id`;
/** The turn of an item has not come, or did not before its run was ended. */
const NOT_BEGUN = "(state = 'queued' OR (state = 'skipped' AND code = 'svc_cancelled'))";
/** The type of an item that is a whole site. */
const WHOLE_SITE = 4;
/** The run `r` is at work: its call, its job, or what was left open on a site. */
export const AT_WORK = `(r.ended_at IS NULL OR EXISTS (SELECT 1 FROM update_run_item i WHERE i.run_id = r.id AND i.state IN ${OPEN}))`;
const WAITING_SITES = '(SELECT count(*) FROM job_site s WHERE s.job_id = r.job_id AND s.state = 0)';

/** By index, one state after the other: a run may have a hundred thousand items. */
const TROUBLE = (['failed', 'rolled_back', 'unknown', 'skipped'] satisfies RunItemState[])
  .map(
    (
      state,
    ) => `(SELECT json_object('name', i.name, 'code', i.code, 'message', i.message, 'site_url', s.url, 'outcome', c.outcome,
      'seen', c.evidence ->> '$.seen[0]') FROM update_run_item i LEFT JOIN site s ON s.id = i.site_id LEFT JOIN safe_change c ON c.id = i.change_id
      WHERE i.run_id = r.id AND i.state = '${state}' ORDER BY i.site_id LIMIT 1)`,
  )
  .join(', ');

/** The columns of a run `r`, with its items counted, and the worst of them. */
const COUNTED = `r.*, ${WAITING_SITES} AS waiting_sites, (SELECT json_group_object(state, n) FROM (SELECT i.state, count(*) AS n
  FROM update_run_item i WHERE i.run_id = r.id GROUP BY i.state)) AS counts, coalesce(${TROUBLE}) AS trouble`;

const TOLD = `i.*, s.url AS site_url, s.name AS site_name, c.snapshot IS NOT NULL AS copied, c.outcome, c.evidence, c.settled_at, c.step
  FROM update_run_item i LEFT JOIN site s ON s.id = i.site_id LEFT JOIN safe_change c ON c.id = i.change_id`;

/**
 * An item `i`, with its safe update `c`, that was kept with findings, or with an error, as one whose update left it inactive.
 */
export const SUSPECT = "(i.state = 'kept' AND (i.code <> '' OR json_array_length(c.evidence, '$.suspect') > 0))";

/** @param aside for what reads all items of a run */
export function createUpdateRuns(db: Db, aside: Reads) {
  return {
    async begin(run: NewRun): Promise<void> {
      await db.batch([newRun(run)]);
    },

    /** Ends the run of a call that no job continues. */
    async end(id: string, now: number): Promise<void> {
      await db.run('UPDATE update_run SET ended_at = ? WHERE id = ? AND job_id IS NULL AND ended_at IS NULL', [
        now,
        id,
      ]);
    },

    /** Deletes a run if it has done nothing. */
    async drop(id: string): Promise<boolean> {
      const { changes } = await db.run(
        `DELETE FROM update_run WHERE id = ? AND job_id IS NULL
           AND NOT EXISTS (SELECT 1 FROM update_run_item WHERE run_id = update_run.id)`,
        [id],
      );
      return changes === 1;
    },

    /** Runs of calls that have not ended. */
    openCalls(): Promise<RunRow[]> {
      return db.all<RunRow>('SELECT * FROM update_run WHERE ended_at IS NULL AND job_id IS NULL');
    },

    /** Adds the items that are about to be updated on a site, and those that are left out. */
    async plan(runId: string, siteId: number, items: readonly RunItem[], now: number): Promise<void> {
      // What became of an item earlier in the run stays, unless it is tried again.
      const again = `state = excluded.state, code = '', message = '', finished_at = NULL, old_version = excluded.old_version,
        new_version = excluded.new_version, protection = excluded.protection, change_id = excluded.change_id, backup_id = excluded.backup_id
        WHERE excluded.state <> 'skipped'`;
      await db.batch([upsert(runId, siteId, items, now, again)]);
    },

    /** Stores how items of a site ended, and returns all that the run has there. */
    async finish(runId: string, siteId: number, items: readonly RunItem[], now: number): Promise<ToldRunItem[]> {
      const results = await db.batch([
        upsert(
          runId,
          siteId,
          items,
          now,
          `code = excluded.code, message = excluded.message, finished_at = excluded.finished_at,
           new_version = coalesce(nullif(excluded.new_version, ''), i.new_version), state = CASE
             -- The steps of a safe update tell it, unless the site was seen to be down after the last of them.
             WHEN i.state NOT IN ${OPEN} AND EXISTS (${GUARDED}) AND NOT (i.state = 'kept' AND excluded.state = 'failed') THEN i.state
             WHEN i.state = 'queued' AND excluded.state = 'failed' THEN 'skipped'
             ELSE excluded.state END
           WHERE excluded.state <> 'skipped' OR i.state IN ${OPEN}`,
        ),
        sql(`SELECT ${TOLD} WHERE i.run_id = ? AND i.site_id = ?`, runId, siteId),
      ]);
      return results.at(-1)?.rows as ToldRunItem[];
    },

    /** Nothing more is tried on a site: its items that were not sent, or the site if it has none, get this reason. */
    async giveUp(runId: string, siteId: number, reason: RunItem, now: number): Promise<void> {
      const { code, message, state, change_id } = reason;
      await db.batch([
        sql(
          `INSERT INTO update_run_item (run_id, site_id, type, slug, name, old_version, new_version, protection, state, code, message,
             change_id, finished_at) SELECT ?1, ?2, ?8, '', '', '', '', 'none', ?3, ?4, ?5, ?6, ?7
           WHERE NOT EXISTS (SELECT 1 FROM update_run_item WHERE run_id = ?1 AND site_id = ?2)`,
          runId,
          siteId,
          state,
          code,
          message,
          change_id,
          now,
          reason.type,
        ),
        sql(
          `UPDATE update_run_item SET state = 'skipped', code = ?, message = ?, finished_at = ?
           WHERE run_id = ? AND site_id = ? AND state = 'queued'`,
          code,
          message,
          now,
          runId,
          siteId,
        ),
      ]);
    },

    /**
     * Ends items that a call or job left behind: those that were not sent are skipped, those that were seen installed are
     * kept, and whether others took effect is unknown. Items of safe updates are finished by their steps.
     */
    settle(now: number, messages: Record<'skipped' | 'kept' | 'unknown', string>): Promise<RunItemRow[]> {
      return db.all<RunItemRow>(
        `UPDATE update_run_item AS i SET finished_at = ?1,
           code = CASE state WHEN 'queued' THEN 'svc_cancelled' WHEN 'checking' THEN '' ELSE 'svc_still_running' END,
           message = CASE state WHEN 'queued' THEN ?2 WHEN 'checking' THEN ?3 ELSE ?4 END,
           state = CASE state WHEN 'queued' THEN 'skipped' WHEN 'checking' THEN 'kept' ELSE 'unknown' END
         WHERE i.state IN ${OPEN} AND NOT EXISTS (${GUARDED})
           AND EXISTS (SELECT 1 FROM update_run r WHERE r.id = i.run_id AND r.ended_at IS NOT NULL) RETURNING *`,
        [now, messages.skipped, messages.kept, messages.unknown],
      );
    },

    /** An update whose outcome was unknown is known. */
    async correct(
      siteId: number,
      type: keyof typeof TYPE,
      slug: string,
      { state, code, message }: Pick<RunItem, 'state' | 'code' | 'message'>,
      now: number,
    ): Promise<void> {
      await db.run(
        `UPDATE update_run_item SET state = ?, code = ?, message = ?, finished_at = ?
         WHERE site_id = ? AND type = ? AND slug = ? AND state = 'unknown'`,
        [state, code, message, now, siteId, TYPE[type], slug],
      );
    },

    /** A person has rolled an update back. */
    async rolledBack(changeId: string, message: string, now: number): Promise<void> {
      await db.run(
        "UPDATE update_run_item SET state = 'rolled_back', code = '', message = ?, finished_at = ? WHERE change_id = ?",
        [message, now, changeId],
      );
    },

    find(id: string): Promise<CountedRun | undefined> {
      return db.one<CountedRun>(`SELECT ${COUNTED} FROM update_run r WHERE r.id = ?`, [id]);
    },

    /** The items of a run, or of all runs of a rollout: of one site or of all, the first of them. */
    told(
      of: { run_id: string } | { rollout_id: string },
      siteId: number | undefined,
      limit: number,
    ): Promise<ToldRunItem[]> {
      const [which, id] =
        'run_id' in of
          ? ['= ?1', of.run_id]
          : ['IN (SELECT run_id FROM rollout_run WHERE rollout_id = ?1)', of.rollout_id];
      return db.all<ToldRunItem>(
        `SELECT ${TOLD} WHERE i.run_id ${which} AND (?2 IS NULL OR i.site_id = ?2) ORDER BY i.site_id, i.type, i.slug LIMIT ?3`,
        [id, siteId ?? null, limit],
      );
    },

    /** Its items by site and type. */
    items(id: string, states: readonly RunItemState[], page: number, perPage: number) {
      const { text, args } = among('i.state', states);
      return readPage<ToldRunItem>(
        db,
        sql(`SELECT ${TOLD} WHERE i.run_id = ?${text} ORDER BY i.site_id, i.type, i.slug`, id, ...args),
        sql(`SELECT count(*) AS n FROM update_run_item i WHERE i.run_id = ?${text}`, id, ...args),
        page,
        perPage,
      );
    },

    /**
     * How its sites stand that have items: the first that holds of not begun, at work, also where a site may go on after it was
     * given up, and with an item that was not done.
     */
    sitesOf(id: string): Promise<{ site_id: number; state: 'started' | 'waiting' | 'failed' | 'done' }[]> {
      return aside.all(
        `SELECT site_id, CASE
             WHEN sum(${NOT_BEGUN}) = count(*) THEN 'waiting'
             WHEN sum(state IN ${OPEN} OR (state = 'unknown' AND code = 'svc_still_running')) > 0 THEN 'started'
             WHEN sum(state IN ('failed', 'unknown', 'rolled_back') OR (type <> ${WHOLE_SITE} AND ${NOT_BEGUN}) OR (type = ${WHOLE_SITE} AND state = 'skipped' AND code <> 'svc_cancelled')) > 0 THEN 'failed'
             ELSE 'done' END AS state
         FROM update_run_item WHERE run_id = ? GROUP BY site_id`,
        [id],
      );
    },

    /**
     * On how many sites it kept something, after how many of these a site may have a problem, how many items broke theirs, and
     * the one whose site was broken the longest.
     */
    async result(
      id: string,
    ): Promise<{ kept_sites: number; suspects: number; broke: number; worst: Rescue | undefined }> {
      const ms = "c.evidence ->> 'well_after_ms'";
      const broke = `FROM update_run_item i JOIN safe_change c ON c.id = i.change_id LEFT JOIN site s ON s.id = i.site_id
        WHERE i.run_id = ? AND i.state = 'rolled_back' AND ${ms} IS NOT NULL`;
      const [[counts] = [], [worst] = []] = await db.read([
        sql(
          `SELECT count(DISTINCT i.site_id) AS kept_sites, count(*) FILTER (WHERE ${SUSPECT}) AS suspects,
             (SELECT count(*) ${broke}) AS broke
           FROM update_run_item i LEFT JOIN safe_change c ON c.id = i.change_id WHERE i.run_id = ? AND i.state = 'kept'`,
          id,
          id,
        ),
        sql(
          `SELECT i.site_id, s.name AS site_name, i.name, i.new_version, ${ms} AS ms ${broke} ORDER BY ${ms} DESC, i.site_id LIMIT 1`,
          id,
        ),
      ]);
      return {
        kept_sites: Number(counts?.kept_sites),
        suspects: Number(counts?.suspects),
        broke: Number(counts?.broke),
        worst: worst as Rescue | undefined,
      };
    },

    /** Newest first, one page. */
    page(filter: RunFilter, page: number, perPage: number): Promise<{ items: CountedRun[]; total: number }> {
      const { since, site_id, actor, running, item_state } = filter;
      const { text, args } = join([
        since === undefined ? join([]) : { text: ' AND r.started_at >= ?', args: [since] },
        equal('r.actor', actor),
        having('i.site_id = ?', site_id),
        having('i.state = ?', item_state),
        { text: running === undefined ? '' : ` AND ${running ? '' : 'NOT '}${AT_WORK}`, args: [] },
      ]);
      const newest = `SELECT r.*, r.rowid AS number FROM update_run r WHERE 1${text} ORDER BY r.started_at DESC, r.rowid DESC LIMIT ? OFFSET ?`;
      return rowsAndTotal<CountedRun>(
        db,
        sql(
          `SELECT ${COUNTED} FROM (${newest}) r ORDER BY r.started_at DESC, r.number DESC`,
          ...args,
          perPage,
          offset(page, perPage),
        ),
        sql(`SELECT count(*) AS n FROM update_run r WHERE 1${text}`, ...args),
      );
    },

    /** Items that failed or were skipped for any other reason than these, of one site or of all. */
    async failed(
      runId: string,
      reasons: readonly string[],
      siteId?: number,
    ): Promise<{ site_id: number; type: number; slug: string }[]> {
      const { text, args } = equal('site_id', siteId);
      return db.all(
        `SELECT site_id, type, slug FROM update_run_item WHERE run_id = ?${text} AND state IN ('failed', 'skipped')
         AND code NOT IN (SELECT value FROM json_each(?)) ORDER BY site_id, type, slug`,
        [runId, ...args, JSON.stringify(reasons)],
      );
    },

    /** The item with this change id. */
    change(changeId: string): Promise<ToldRunItem | undefined> {
      return db.one<ToldRunItem>(`SELECT ${TOLD} WHERE i.change_id = ?`, [changeId]);
    },

    /** The newest item that made this update; without versions, the newest update of the item that stayed. */
    newest(
      siteId: number,
      type: number,
      slug: string,
      versions?: Pick<RunItem, 'old_version' | 'new_version'>,
    ): Promise<ToldRunItem | undefined> {
      const which = versions === undefined ? "i.state = 'kept'" : 'i.old_version = ? AND i.new_version = ?';
      const args = versions === undefined ? [] : [versions.old_version, versions.new_version];
      return db.one<ToldRunItem>(
        `SELECT ${TOLD} WHERE i.site_id = ? AND i.type = ? AND i.slug = ? AND ${which} ORDER BY i.finished_at DESC LIMIT 1`,
        [siteId, type, slug, ...args],
      );
    },

    /** Deletes runs that ended by then. */
    async expire(before: number): Promise<number> {
      return (await db.run('DELETE FROM update_run WHERE ended_at <= ?', [before])).changes;
    },
  };
}

function upsert(runId: string, siteId: number, items: readonly RunItem[], now: number, conflict: string): Statement {
  return sql(
    `INSERT INTO update_run_item AS i (run_id, site_id, type, slug, name, old_version, new_version, protection, state, code, message,
       change_id, backup_id, finished_at)
     SELECT ?1, ?2, value ->> 'type', value ->> 'slug', value ->> 'name', value ->> 'old_version', value ->> 'new_version',
       value ->> 'protection', value ->> 'state', value ->> 'code', value ->> 'message', value ->> 'change_id', value ->> 'backup_id',
       CASE WHEN value ->> 'state' IN ${OPEN} THEN NULL ELSE ?4 END
     FROM json_each(?3) WHERE true
     ON CONFLICT (run_id, site_id, type, slug) DO UPDATE SET ${conflict}`,
    runId,
    siteId,
    JSON.stringify(items),
    now,
  );
}

/** `AND` the run `r` has an item `i` with this property; undefined filters nothing. */
function having(condition: string, value: number | string | undefined) {
  if (value === undefined) return join([]);
  return {
    text: ` AND EXISTS (SELECT 1 FROM update_run_item i WHERE i.run_id = r.id AND ${condition})`,
    args: [value],
  };
}
