/**
 * Rollouts: their waves, the sites of each, and the runs that their turns belong to. What became of an item is read from
 * the run of its site, so it is written once. Every step is one conditional write: of several processes that try it, one
 * succeeds.
 */

import type { ROLLOUT_ITEM_STATES, ROLLOUT_STATES, WAVE_STATES } from '../../../schemas/rollout.js';
import type { Db, Reads, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { among, equal, IN } from '../driver/sql-fragments.js';
import type { VersionKey } from '../safety/quarantine.js';
import { idList } from '../sites/filter.js';
import { DOWN } from '../updates/plan.js';
import { AT_WORK, SUSPECT } from '../updates/runs.js';
import { ANOTHER, CHANGE, CODE, HALTING, HARMED, ITEMS, STATE, TROUBLED, WAITS } from './items.js';
import type { PlanItem } from './plans.js';

export type RolloutState = (typeof ROLLOUT_STATES)[number];
type WaveState = (typeof WAVE_STATES)[number];
export type RolloutItemState = (typeof ROLLOUT_ITEM_STATES)[number];

export interface RolloutRow extends Row {
  id: string;
  plan_id: string;
  digest: string;
  /** JSON. */
  rules: string;
  state: RolloutState;
  reason: string;
  actor: string;
  /** JSON. */
  origin: string;
  started_at: number;
  ended_at: number | null;
  settled_at: number | null;
}

/** A rollout with the wave that waits for an approval, if one does. */
export interface ToldRollout extends RolloutRow {
  approval_wave: number | null;
}

export interface WaveRow extends Row {
  wave: number;
  sites: number;
  items: number;
  state: WaveState;
  approved_by: string | null;
  started_at: number | null;
  worked_at: number | null;
  soak_until: number | null;
  check_job: string | null;
}

export interface RolloutItem extends Row, Omit<PlanItem, 'protection'> {
  protection: string;
  /** Null: the site was removed. */
  site_url: string | null;
  site_name: string | null;
  state: RolloutItemState;
  code: string;
  message: string;
  /** JSON of why it is suspect, if it was kept; null = it is not. */
  suspect: string | null;
  run_id: string | null;
  change_id: string | null;
}

interface HarmfulItem extends Row, VersionKey {
  /** The first that showed it. */
  site_id: number;
}

interface HaltRow extends HarmfulItem {
  at: number;
}

/** As the site told it when the rollout started. */
interface SiteClock {
  timezone: string;
  gmt_offset: string;
}

interface WaitingSite extends Row, SiteClock {
  site_id: number;
}

interface Reason {
  code: string;
  message: string;
}

type Counts = Partial<Record<RolloutItemState, number>>;

const OF_RUNS = 'i.run_id IN (SELECT run_id FROM rollout_run WHERE rollout_id = ?)';

/** None of the runs of the rollout of the row is at work. */
const IDLE = `NOT EXISTS (SELECT 1 FROM rollout_run n JOIN update_run r ON r.id = n.run_id
  WHERE n.rollout_id = rollout.id AND ${AT_WORK})`;
/** Every site of the wave of the row had its turn, or gets none, and no run is at work. */
const WORKED = `NOT EXISTS (SELECT 1 FROM rollout_site o
    WHERE o.rollout_id = rollout_wave.rollout_id AND o.wave = rollout_wave.wave AND ${WAITS})
  AND NOT EXISTS (SELECT 1 FROM rollout_run n LEFT JOIN update_run r ON r.id = n.run_id
    WHERE n.rollout_id = rollout_wave.rollout_id AND n.wave = rollout_wave.wave AND (r.id IS NULL OR ${AT_WORK}))`;

/** The rollout of the row runs. */
const RUNS = "EXISTS (SELECT 1 FROM rollout r WHERE r.id = rollout_id AND r.state = 'running')";

const TOLD = `SELECT r.*, (SELECT w.wave FROM rollout_wave w WHERE w.rollout_id = r.id AND w.wave > 1 AND w.state = 'waiting'
    AND w.approved_by IS NULL AND r.state IN ('running', 'paused') AND r.rules ->> 'approve_waves' = 1
    AND NOT EXISTS (SELECT 1 FROM rollout_wave b WHERE b.rollout_id = r.id AND b.wave < w.wave AND b.state <> 'done')) AS approval_wave
  FROM rollout r`;

export function createRollouts(db: Db, aside: Reads) {
  return {
    /**
     * Starts the rollout of a plan, if it has this digest, has not lapsed, and has started none. Returns the rollout of
     * the plan, which another call may have started; undefined = none.
     */
    async start(
      rollout: Pick<RolloutRow, 'id' | 'plan_id' | 'digest' | 'actor' | 'origin' | 'started_at'>,
    ): Promise<RolloutRow | undefined> {
      const { id, plan_id, digest, actor, origin, started_at } = rollout;
      const ours = 'EXISTS (SELECT 1 FROM rollout WHERE id = ?)';
      const results = await db.batch([
        sql(
          `INSERT INTO rollout (id, plan_id, digest, rules, actor, origin, started_at)
           SELECT ?, id, digest, rules, ?, ?, ? FROM rollout_plan WHERE id = ? AND digest = ? AND expires_at > ?
           ON CONFLICT (plan_id) DO NOTHING`,
          id,
          actor,
          origin,
          started_at,
          plan_id,
          digest,
          started_at,
        ),
        sql(
          `INSERT INTO rollout_site (rollout_id, site_id, wave, timezone, gmt_offset)
           SELECT DISTINCT ?, p.site_id, p.wave, coalesce(d.timezone, ''), coalesce(d.gmt_offset, '')
           FROM rollout_plan_item p LEFT JOIN site_detail d ON d.site_id = p.site_id WHERE p.plan_id = ? AND ${ours}`,
          id,
          plan_id,
          id,
        ),
        sql(
          `INSERT INTO rollout_wave (rollout_id, wave, sites, items)
           SELECT ?, wave, count(DISTINCT site_id), count(*) FROM rollout_plan_item WHERE plan_id = ? AND ${ours} GROUP BY wave`,
          id,
          plan_id,
          id,
        ),
        sql('SELECT * FROM rollout WHERE plan_id = ?', plan_id),
      ]);
      return results.at(-1)?.rows[0] as RolloutRow | undefined;
    },

    find(id: string): Promise<RolloutRow | undefined> {
      return db.one<RolloutRow>('SELECT * FROM rollout WHERE id = ?', [id]);
    },

    ofPlan(planId: string): Promise<RolloutRow | undefined> {
      return db.one<RolloutRow>('SELECT * FROM rollout WHERE plan_id = ?', [planId]);
    },

    /** Those about which something is still to be done or told. */
    open(): Promise<RolloutRow[]> {
      return db.all<RolloutRow>('SELECT * FROM rollout WHERE settled_at IS NULL ORDER BY started_at, id');
    },

    /** Newest first, one page. */
    page(state: RolloutState | undefined, page: number, perPage: number) {
      const { text, args } = equal('state', state);
      return readPage<ToldRollout>(
        db,
        sql(`${TOLD} WHERE 1${text} ORDER BY started_at DESC, rowid DESC`, ...args),
        sql(`SELECT count(*) AS n FROM rollout WHERE 1${text}`, ...args),
        page,
        perPage,
      );
    },

    /** Goes from one of these states to another; false if it was in none of them. */
    async change(
      id: string,
      from: readonly RolloutState[],
      { state, reason, at }: { state: RolloutState; reason: string; at: number },
    ): Promise<boolean> {
      const ended = state === 'running' || state === 'paused' ? null : at;
      const { changes } = await db.run(
        `UPDATE rollout SET state = ?, reason = ?, ended_at = ? WHERE id = ? AND state ${IN}`,
        [state, reason, ended, id, JSON.stringify(from)],
      );
      return changes === 1;
    },

    /** What became of all items, by wave; undefined while one is at work. */
    async outcome(id: string): Promise<Map<number, Counts> | undefined> {
      const idle = sql(`SELECT count(*) AS n FROM rollout WHERE id = ? AND ${IDLE}`, id);
      const [[found] = [], counts = []] = await db.read([idle, countsOf(id)]);
      return Number(found?.n) === 1 ? countsFrom(counts) : undefined;
    },

    /** Ends a rollout whose waves are done; false if it does not run. What became of it is told with this. */
    async complete(id: string, reason: string, now: number): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE rollout SET state = 'completed', reason = ?, ended_at = ?, settled_at = ? WHERE id = ? AND state = 'running'
         AND ${IDLE} AND NOT EXISTS (SELECT 1 FROM rollout_wave w WHERE w.rollout_id = rollout.id AND w.state <> 'done')`,
        [reason, now, now, id],
      );
      return changes === 1;
    },

    /** Marks an ended rollout as told, once none of its runs is at work; false if it is not, or was told. */
    async settle(id: string, now: number): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE rollout SET settled_at = ? WHERE id = ? AND ended_at IS NOT NULL AND settled_at IS NULL AND ${IDLE}`,
        [now, id],
      );
      return changes === 1;
    },

    waves(id: string): Promise<WaveRow[]> {
      const { sql: text, args } = wavesOf(id);
      return db.all<WaveRow>(text, args);
    },

    /** Approves a wave that waits, if those before it are done; false if that is not so, or it was approved. */
    async approve(id: string, wave: number, by: string): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE rollout_wave SET approved_by = ? WHERE rollout_id = ? AND wave = ? AND state = 'waiting' AND approved_by IS NULL
         AND NOT EXISTS (SELECT 1 FROM rollout_wave b WHERE b.rollout_id = rollout_wave.rollout_id AND b.wave < rollout_wave.wave AND b.state <> 'done')`,
        [by, id, wave],
      );
      return changes === 1;
    },

    /** Begins a wave; false if it has begun, or its rollout does not run. */
    async beginWave(id: string, wave: number, now: number): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE rollout_wave SET state = 'running', started_at = ? WHERE rollout_id = ? AND wave = ? AND state = 'waiting'
         AND ${RUNS}`,
        [now, id, wave],
      );
      return changes === 1;
    },

    /** What became of the items of a running wave; undefined while one is at work, or a site waits for its turn. */
    async worked(id: string, wave: number): Promise<Counts | undefined> {
      const [[found] = [], counts = []] = await db.read([
        sql(
          `SELECT count(*) AS n FROM rollout_wave WHERE rollout_id = ? AND wave = ? AND state = 'running' AND ${WORKED}`,
          id,
          wave,
        ),
        countsOf(id),
      ]);
      return Number(found?.n) === 1 ? (countsFrom(counts).get(wave) ?? {}) : undefined;
    },

    /** Every site of a wave had its turn, and no run is at work: it soaks until then. */
    async soakWave(id: string, wave: number, now: number, until: number): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE rollout_wave SET state = 'soaking', worked_at = ?, soak_until = ? WHERE rollout_id = ? AND wave = ? AND state = 'running'
         AND ${RUNS} AND ${WORKED}`,
        [now, until, id, wave],
      );
      return changes === 1;
    },

    /** Names the job that looks at the sites of a wave that has soaked, in place of another; the first to do so names it. */
    async nameCheck(id: string, wave: number, job: string, before: string | null = null): Promise<void> {
      await db.run(
        `UPDATE rollout_wave SET check_job = ? WHERE rollout_id = ? AND wave = ? AND state = 'soaking' AND check_job IS ?
         AND ${RUNS}`,
        [job, id, wave, before],
      );
    },

    /** Whether any update of a wave was made, and kept. */
    async hasKept(id: string, wave: number): Promise<boolean> {
      const kept = await db.one(
        `SELECT 1 AS kept FROM rollout_run n JOIN update_run_item i ON i.run_id = n.run_id AND i.state = 'kept'
         WHERE n.rollout_id = ? AND n.wave = ? LIMIT 1`,
        [id, wave],
      );
      return kept !== undefined;
    },

    /** Whether updates were left because of one site alone: it halted the rollout, or what broke it went to no other. */
    async isLeftForOneSite(id: string): Promise<boolean> {
      // Asked each minute after most rollouts, which have left nothing.
      const leaves = `(r.state = 'halted' OR EXISTS (SELECT 1 FROM rollout_run n JOIN update_run_item i ON i.run_id = n.run_id
        WHERE n.rollout_id = r.id AND i.state = 'skipped' AND i.code IN (${ANOTHER})))`;
      const [row] = await aside.all(
        `SELECT count(DISTINCT p.site_id) FILTER (WHERE ${HALTING}) AS halting, count(DISTINCT p.site_id) FILTER (WHERE ${TROUBLED}) AS troubled,
           count(*) FILTER (WHERE ${STATE} = 'untouched' OR ${CODE} IN (${ANOTHER})) > 0 AS left
         FROM ${ITEMS} WHERE r.id = ? AND ${leaves}`,
        [id],
      );
      // Beside one that failed, others that were left as they were halted nothing.
      return row?.left === 1 && (row.halting === 1 || (row.halting === 0 && row.troubled === 1));
    },

    /** Sites of a wave that kept an update and still exist. */
    async keptSites(id: string, wave: number): Promise<number[]> {
      const rows = await db.all(
        `SELECT DISTINCT i.site_id AS id FROM rollout_run n JOIN update_run_item i ON i.run_id = n.run_id AND i.state = 'kept'
         JOIN site s ON s.id = i.site_id WHERE n.rollout_id = ? AND n.wave = ? ORDER BY 1`,
        [id, wave],
      );
      return rows.map((row) => Number(row.id));
    },

    async endWave(id: string, wave: number): Promise<boolean> {
      const { changes } = await db.run(
        "UPDATE rollout_wave SET state = 'done' WHERE rollout_id = ? AND wave = ? AND state = 'soaking'",
        [id, wave],
      );
      return changes === 1;
    },

    /** Sites of a wave whose turn is to come, with their clocks. */
    waiting(id: string, wave: number): Promise<WaitingSite[]> {
      return db.all<WaitingSite>(
        `SELECT o.site_id, o.timezone, o.gmt_offset FROM rollout_site o
         WHERE o.rollout_id = ? AND o.wave = ? AND ${WAITS} ORDER BY o.site_id`,
        [id, wave],
      );
    },

    /** Sites of a wave whose window was over so often when their turn came get none any more, for this reason. */
    async giveUp(id: string, wave: number, missed: number, { code, message }: Reason): Promise<void> {
      await db.run(
        `UPDATE rollout_site AS o SET code = ?, message = ? WHERE o.rollout_id = ? AND o.wave = ? AND ${WAITS} AND o.missed >= ?
         AND ${RUNS}`,
        [code, message, id, wave, missed],
      );
    },

    /** Gives sites that wait to a new run, whose job is queued afterwards. */
    async assign(id: string, wave: number, siteIds: readonly number[], runId: string): Promise<void> {
      await db.batch([
        sql(
          `UPDATE rollout_site AS o SET run_id = ? WHERE o.rollout_id = ? AND o.wave = ? AND ${WAITS} AND o.site_id ${IN}
           AND ${RUNS}`,
          runId,
          id,
          wave,
          idList(siteIds),
        ),
        sql(
          `INSERT INTO rollout_run (run_id, rollout_id, wave) SELECT ?1, ?2, ?3
           WHERE EXISTS (SELECT 1 FROM rollout_site WHERE rollout_id = ?2 AND wave = ?3 AND run_id = ?1)`,
          runId,
          id,
          wave,
        ),
      ]);
    },

    /** Runs whose job was not queued, with their sites. */
    async unqueued(id: string): Promise<{ run_id: string; site_ids: number[] }[]> {
      const rows = await db.all(
        `SELECT n.run_id, (SELECT json_group_array(site_id) FROM (SELECT s.site_id FROM rollout_site s
           WHERE s.rollout_id = n.rollout_id AND s.run_id = n.run_id ORDER BY s.site_id)) AS site_ids
         FROM rollout_run n WHERE n.rollout_id = ? AND NOT EXISTS (SELECT 1 FROM update_run r WHERE r.id = n.run_id)`,
        [id],
      );
      return rows.map((row) => ({
        run_id: String(row.run_id),
        site_ids: JSON.parse(String(row.site_ids)) as number[],
      }));
    },

    /** The turn of a site: its rollout, and whether anything was begun there; undefined if it belongs to another run. */
    turn(id: string, siteId: number, runId: string) {
      return db.one<RolloutRow & SiteClock & { wave: number; begun: number }>(
        `SELECT r.*, o.wave, o.timezone, o.gmt_offset, EXISTS (SELECT 1 FROM update_run_item i WHERE i.run_id = o.run_id AND i.site_id = o.site_id) AS begun
         FROM rollout_site o JOIN rollout r ON r.id = o.rollout_id WHERE o.rollout_id = ? AND o.site_id = ? AND o.run_id = ?`,
        [id, siteId, runId],
      );
    },

    /** Its turn comes another time, or never. @param missed its window was over */
    async release(id: string, siteId: number, runId: string, missed: boolean): Promise<void> {
      await db.run(
        `UPDATE rollout_site SET run_id = NULL, missed = missed + ${missed ? 1 : 0} WHERE rollout_id = ? AND site_id = ? AND run_id = ?
         AND NOT EXISTS (SELECT 1 FROM update_run_item i WHERE i.run_id = rollout_site.run_id AND i.site_id = rollout_site.site_id)`,
        [id, siteId, runId],
      );
    },

    /** What was planned for a site, with the state in its run; null = nothing was recorded yet. */
    async planned(id: string, siteId: number): Promise<(PlanItem & { recorded: string | null })[]> {
      const rows = await db.all(
        `SELECT p.*, i.state AS recorded FROM ${ITEMS} WHERE r.id = ? AND p.site_id = ? ORDER BY p.type, p.slug`,
        [id, siteId],
      );
      return rows as unknown as (PlanItem & { recorded: string | null })[];
    },

    /** Stores that an item does harm; false if that was stored. */
    async haltItem(id: string, { type, slug, version, site_id }: HarmfulItem, now: number): Promise<boolean> {
      const { changes } = await db.run(
        'INSERT INTO rollout_halt (rollout_id, type, slug, version, site_id, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
        [id, type, slug, version, site_id, now],
      );
      return changes === 1;
    },

    halted(id: string): Promise<HaltRow[]> {
      const { sql: text, args } = haltsOf(id);
      return db.all<HaltRow>(text, args);
    },

    /**
     * Items that do harm, of which that is not stored; sites that an update has harmed, and that kept one and are down; of a
     * wave, on how many one failed otherwise, and its size.
     */
    async harm(id: string, wave: number) {
      const sitesOf = (which: string) =>
        sql(`SELECT DISTINCT i.site_id AS id FROM update_run_item i WHERE ${OF_RUNS} AND ${which}`, id);
      const [items = [], harmed = [], [failed] = [], down = [], [size] = []] = await db.read([
        sql(
          `SELECT i.type, i.slug, i.new_version AS version, min(i.site_id) AS site_id FROM update_run_item i
           WHERE ${OF_RUNS} AND ${HARMED} AND i.type < 4 AND NOT EXISTS (SELECT 1 FROM rollout_halt h
             WHERE h.rollout_id = ? AND h.type = i.type AND h.slug = i.slug AND h.version = i.new_version)
           GROUP BY i.type, i.slug, i.new_version ORDER BY 1, 2, 3`,
          id,
          id,
        ),
        sitesOf(HARMED),
        sql(
          `SELECT count(DISTINCT i.site_id) AS n FROM rollout_run n JOIN update_run_item i ON i.run_id = n.run_id
           WHERE n.rollout_id = ? AND n.wave = ? AND (i.state IN ('failed', 'unknown') AND NOT ${HARMED} OR i.state = 'kept' AND i.code <> '')`,
          id,
          wave,
        ),
        sql(
          `SELECT s.id FROM site s WHERE (${DOWN}) AND s.id IN (SELECT i.site_id FROM update_run_item i WHERE ${OF_RUNS} AND i.state = 'kept')`,
          id,
        ),
        sql('SELECT sites FROM rollout_wave WHERE rollout_id = ? AND wave = ?', id, wave),
      ]);
      const ids = (rows: readonly Row[]) => rows.map((row) => Number(row.id));
      return {
        items: items as HarmfulItem[],
        ...{ harmed: ids(harmed), failed: Number(failed?.n), down: ids(down), sites: Number(size?.sites) },
      };
    },

    /** Sites that an update was kept on were down when their rollout halted. */
    async noteDown(id: string, siteIds: readonly number[]): Promise<void> {
      await db.run(`UPDATE rollout_site SET down = 1 WHERE rollout_id = ? AND site_id ${IN}`, [id, idList(siteIds)]);
    },

    /** Whether any site that was not touched has an item that is not halted. */
    async anythingLeft(id: string): Promise<boolean> {
      const row = await db.one(
        `SELECT EXISTS (SELECT 1 FROM rollout r JOIN rollout_site o ON o.rollout_id = r.id AND ${WAITS}
           JOIN rollout_plan_item p ON p.plan_id = r.plan_id AND p.site_id = o.site_id
           WHERE r.id = ? AND NOT EXISTS (SELECT 1 FROM rollout_halt h
             WHERE h.rollout_id = r.id AND h.type = p.type AND h.slug = p.slug AND h.version = p.new_version)) AS n`,
        [id],
      );
      return row?.n === 1;
    },

    /** Items by wave and state, and how many updates were kept with findings: in one round trip. */
    async tally(id: string): Promise<{ counts: Map<number, Counts>; suspects: number }> {
      const [counts = [], suspects = []] = await aside.read([countsOf(id), suspectsOf(id)]);
      return { counts: countsFrom(counts), suspects: suspectsFrom(suspects) };
    },

    /** All about a rollout but its items: in one round trip, and as of one moment. */
    async details(id: string) {
      const [rollout = [], waves = [], counts = [], runs = [], halted = [], suspects = []] = await aside.read([
        sql(`${TOLD} WHERE r.id = ?`, id),
        wavesOf(id),
        countsOf(id),
        sql('SELECT run_id, wave FROM rollout_run WHERE rollout_id = ? ORDER BY wave, run_id', id),
        haltsOf(id),
        suspectsOf(id),
      ]);
      return {
        rollout: rollout[0] as ToldRollout | undefined,
        suspects: suspectsFrom(suspects),
        waves: waves as WaveRow[],
        counts: countsFrom(counts),
        runs: runs.map((row) => ({ run_id: String(row.run_id), wave: Number(row.wave) })),
        halted: halted as HaltRow[],
      };
    },

    /** By wave, site and type. */
    items(id: string, states: readonly RolloutItemState[], page: number, perPage: number) {
      const { text, args } = among(STATE, states);
      return readPage<RolloutItem>(
        aside,
        sql(
          `SELECT p.site_id, s.url AS site_url, s.name AS site_name, p.type, p.slug, p.name, p.old_version, p.new_version, p.level, p.protection, p.wave,
             ${STATE} AS state, ${CODE} AS code, coalesce(i.message, w.message, o.message) AS message, o.run_id,
             coalesce(i.change_id, w.change_id) AS change_id, CASE WHEN ${SUSPECT} THEN c.evidence -> '$.suspect' END AS suspect
           FROM ${ITEMS} ${CHANGE} LEFT JOIN site s ON s.id = p.site_id WHERE r.id = ?${text} ORDER BY p.wave, p.site_id, p.type, p.slug`,
          id,
          ...args,
        ),
        sql(`SELECT count(*) AS n FROM ${ITEMS} WHERE r.id = ?${text}`, id, ...args),
        page,
        perPage,
      );
    },

    /** Deletes rollouts that ended by then, with their plans. */
    async expire(before: number): Promise<void> {
      const old = 'SELECT id FROM rollout WHERE settled_at <= ?';
      await db.batch([
        sql(
          `DELETE FROM rollout_plan_item WHERE plan_id IN (SELECT plan_id FROM rollout WHERE id IN (${old}))`,
          before,
        ),
        sql(`DELETE FROM rollout WHERE settled_at <= ?`, before),
        sql(
          `DELETE FROM rollout_plan WHERE expires_at <= ? AND NOT EXISTS (SELECT 1 FROM rollout r WHERE r.plan_id = rollout_plan.id)`,
          before,
        ),
      ]);
    },
  };
}

function wavesOf(id: string): Statement {
  return sql('SELECT * FROM rollout_wave WHERE rollout_id = ? ORDER BY wave', id);
}

function haltsOf(id: string): Statement {
  return sql(
    'SELECT type, slug, version, site_id, at FROM rollout_halt WHERE rollout_id = ? ORDER BY at, type, slug, version',
    id,
  );
}

function countsOf(id: string): Statement {
  return sql(`SELECT p.wave, ${STATE} AS state, count(*) AS n FROM ${ITEMS} WHERE r.id = ? GROUP BY 1, 2`, id);
}

function suspectsOf(id: string): Statement {
  return sql(`SELECT count(*) AS n FROM ${ITEMS} ${CHANGE} WHERE r.id = ? AND ${SUSPECT}`, id);
}

function suspectsFrom([row]: readonly Row[]): number {
  return Number(row?.n ?? 0);
}

function countsFrom(rows: readonly Row[]): Map<number, Counts> {
  const waves = new Map<number, Counts>();
  for (const row of rows) {
    const counts = waves.get(Number(row.wave)) ?? {};
    counts[String(row.state) as RolloutItemState] = Number(row.n);
    waves.set(Number(row.wave), counts);
  }
  return waves;
}
