/** Plans of updates as they were shown, and what is known of the updates that one is made of. */

import type { Db, Reads, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { insertRow } from '../driver/rows.js';
import { IN } from '../driver/sql-fragments.js';
import type { ChangeRow } from '../safety/changes.js';
import type { VersionKey } from '../safety/quarantine.js';
import { idList } from '../sites/filter.js';
import { DOWN } from '../updates/plan.js';
import { ITEMS, TROUBLED } from './items.js';

export interface PlanRow extends Row {
  id: string;
  digest: string;
  /** The credential that made it, and its name then. */
  maker: string;
  maker_name: string;
  created_at: number;
  expires_at: number;
  /** JSON. */
  rules: string;
}

export interface PlanItem
  extends Pick<ChangeRow, 'site_id' | 'type' | 'slug' | 'name' | 'old_version' | 'new_version' | 'protection'> {
  level: number | null;
  /** From 1. */
  wave: number;
}

/** Plans of one maker that started no rollout; its older ones are deleted. */
const MOST_UNUSED = 20;
/** Nor made by a policy: such a plan may wait for a person. */
const FREE = 'NOT EXISTS (SELECT 1 FROM policy p WHERE p.plan_id = rollout_plan.id)';
/** Nor to be started by a call that waits for a person, or that a person has approved. */
const NOT_ASKED = `NOT EXISTS (SELECT 1 FROM approval a WHERE a.state IN ('waiting', 'approved') AND a.expires_at > ?
  AND CASE WHEN json_valid(a.input) THEN a.input ->> 'plan_id' END = rollout_plan.id)`;
const UNUSED = 'NOT EXISTS (SELECT 1 FROM rollout r WHERE r.plan_id = rollout_plan.id)';

/** When a version was first seen on offer, and where; and when on another site, null = on none. */
export interface FirstSeen extends VersionKey {
  first_seen: number;
  first_site: number;
  second_seen: number | null;
}

/**
 * @param aside for what reads all items of many rollouts
 * @param recorded for what is a change: a plan is only a note of a reading call, but another caller may still need it
 */
export function createRolloutPlans(db: Db, aside: Reads, recorded: Db) {
  return {
    /**
     * One with this digest that lives at least until then, and has started nothing. Of the same maker: another one may
     * push it out.
     */
    alike({ digest, maker }: Pick<PlanRow, 'digest' | 'maker'>, until: number): Promise<PlanRow | undefined> {
      return db.one<PlanRow>(
        `SELECT * FROM rollout_plan WHERE digest = ? AND maker = ? AND expires_at >= ? AND ${UNUSED}
         ORDER BY expires_at DESC LIMIT 1`,
        [digest, maker, until],
      );
    },

    /** Stores a plan, and deletes those that lapsed unused, and the oldest of its maker. */
    async save(plan: PlanRow, items: readonly PlanItem[]): Promise<void> {
      await db.batch([
        sql(
          `DELETE FROM rollout_plan WHERE ${UNUSED} AND ${FREE} AND (expires_at <= ? OR (maker = ? AND ${NOT_ASKED} AND id NOT IN
             (SELECT id FROM rollout_plan WHERE maker = ? AND ${UNUSED} ORDER BY created_at DESC, id LIMIT ${MOST_UNUSED - 1})))`,
          plan.created_at,
          plan.maker,
          plan.created_at,
          plan.maker,
        ),
        insertRow('rollout_plan', { ...plan }),
        sql(
          `INSERT INTO rollout_plan_item (plan_id, site_id, type, slug, name, old_version, new_version, level, protection, wave)
           SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8
           FROM json_each(?)`,
          plan.id,
          JSON.stringify(
            items.map((i) => [
              i.site_id,
              i.type,
              i.slug,
              i.name,
              i.old_version,
              i.new_version,
              i.level,
              i.protection,
              i.wave,
            ]),
          ),
        ),
      ]);
    },

    /** Those that can still be started, newest first, one page, with what their items come to. */
    async waiting(now: number, items: number, page: number, perPage: number) {
      const where = `WHERE expires_at > ? AND ${UNUSED} AND ${FREE}
        AND EXISTS (SELECT 1 FROM rollout_plan_item i WHERE i.plan_id = rollout_plan.id)`;
      const { items: plans, total } = await readPage<PlanRow>(
        db,
        sql(`SELECT * FROM rollout_plan ${where} ORDER BY created_at DESC, id`, now),
        sql(`SELECT count(*) AS n FROM rollout_plan ${where}`, now),
        page,
        perPage,
      );
      const ids = JSON.stringify(plans.map(({ id }) => id));
      const [waves = [], versions = []] = await db.read([
        sql(
          `SELECT plan_id, wave, count(DISTINCT site_id) AS sites, count(*) AS updates FROM rollout_plan_item
           WHERE plan_id ${IN} GROUP BY plan_id, wave ORDER BY wave`,
          ids,
        ),
        sql(
          `SELECT * FROM (SELECT plan_id, type, slug, new_version, count(*) AS sites, count(*) OVER (PARTITION BY plan_id) AS versions,
             row_number() OVER (PARTITION BY plan_id ORDER BY count(*) DESC, type, slug, new_version) AS nth
           FROM rollout_plan_item WHERE plan_id ${IN} GROUP BY plan_id, type, slug, new_version) WHERE nth <= ? ORDER BY nth`,
          ids,
          items,
        ),
      ]);
      return {
        plans,
        total,
        waves: waves as unknown as { plan_id: string; wave: number; sites: number; updates: number }[],
        versions: versions as unknown as (VersionKey & {
          plan_id: string;
          new_version: string;
          sites: number;
          versions: number;
        })[],
      };
    },

    /** Deletes one that can be listed as waiting, unless a person was asked to let it start. */
    async discard(id: string, now: number): Promise<'discarded' | 'asked' | 'unknown'> {
      const plan = `FROM rollout_plan WHERE id = ? AND ${UNUSED} AND ${FREE}`;
      // What is not done is no change that is recorded.
      const found = await db.one(`SELECT ${NOT_ASKED} AS free ${plan}`, [now, id]);
      if (found?.free !== 1) return found === undefined ? 'unknown' : 'asked';
      const { changes } = await recorded.run(`DELETE ${plan} AND ${NOT_ASKED}`, [id, now]);
      return changes === 1 ? 'discarded' : 'asked';
    },

    find(id: string): Promise<PlanRow | undefined> {
      return db.one<PlanRow>('SELECT * FROM rollout_plan WHERE id = ?', [id]);
    },

    /** By wave, site and type. */
    items(id: string): Promise<PlanItem[]> {
      return db.all(
        `SELECT site_id, type, slug, name, old_version, new_version, level, protection, wave FROM rollout_plan_item
         WHERE plan_id = ? ORDER BY wave, site_id, type, slug`,
        [id],
      ) as Promise<unknown[]> as Promise<PlanItem[]>;
    },

    /** When versions were first seen on offer, on one site and on the others; those that are not known are missing. */
    async firstSeen(): Promise<FirstSeen[]> {
      const rows = await db.all(
        `SELECT o.type, o.slug, o.version, o.first_seen, o.first_site, o.second_seen FROM offered_version o WHERE EXISTS
           (SELECT 1 FROM site_update u WHERE u.slug = o.slug AND u.type = o.type AND u.new_version = o.version)`,
      );
      return rows as unknown as FirstSeen[];
    },

    /** Versions that are quarantined on some site. */
    async quarantined(): Promise<VersionKey[]> {
      const rows = await db.all('SELECT type, slug, version FROM quarantined_version WHERE lifted_at IS NULL');
      return rows as unknown as VersionKey[];
    },

    /** Those of the sites that were last found down. */
    async down(siteIds: readonly number[]): Promise<Set<number>> {
      const rows = await db.all(`SELECT s.id FROM site s WHERE s.id ${IN} AND (${DOWN})`, [idList(siteIds)]);
      return new Set(rows.map((row) => Number(row.id)));
    },

    /** Sites with an update that was in trouble in a rollout since then, if it was on no other site. */
    async troubled(since: number): Promise<Set<number>> {
      const rows = await aside.all(
        `SELECT min(p.site_id) AS site_id FROM ${ITEMS} WHERE r.started_at >= ? AND ${TROUBLED}
         GROUP BY p.type, p.slug, p.new_version HAVING count(DISTINCT p.site_id) = 1`,
        [since],
      );
      return new Set(rows.map((row) => Number(row.site_id)));
    },

    /** Deletes the dates of versions that no site offers, from before then. */
    async forgetVersions(before: number): Promise<void> {
      await db.run(
        `DELETE FROM offered_version WHERE first_seen < ? AND NOT EXISTS (SELECT 1 FROM site_update u
           WHERE u.slug = offered_version.slug AND u.type = offered_version.type AND u.new_version = offered_version.version)`,
        [before],
      );
    },
  };
}
