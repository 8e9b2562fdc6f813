/** Policies, and what became of the newest time at which each was due. Every step is one conditional write. */

import { PLAN_OF_POLICY } from '../../../schemas/approval.js';
import type { POLICY_SOURCES, POLICY_STATES } from '../../../schemas/policy.js';
import { type Db, type Row, type Statement, sql } from '../driver/db.js';
import { countOf } from '../driver/lists.js';
import { IN } from '../driver/sql-fragments.js';
import { DONE_LOG, windows, within } from '../driver/windows.js';
import { idList } from '../sites/filter.js';

export type PolicyState = (typeof POLICY_STATES)[number];

export interface PolicyRow extends Row {
  id: number;
  source: (typeof POLICY_SOURCES)[number];
  name: string;
  enabled: number;
  /** JSON. */
  definition: string;
  /** JSON: ids. */
  agreed_sites: string;
  changed_by: string;
  changed_at: number;
  due_at: number;
  state: '' | 'begun' | 'planned' | PolicyState;
  detail: string;
  plan_id: string | null;
  digest: string | null;
  approval_id: string | null;
}

/** What a person sets. */
export interface PolicyWrite extends Pick<PolicyRow, 'name' | 'enabled' | 'definition' | 'changed_by' | 'changed_at'> {
  name_key: string;
  /** Absent = as they are; none for a new one. */
  agreed_sites?: string | undefined;
}

export interface PolicyPlan {
  plan_id: string;
  digest: string;
}

interface Finished {
  state: PolicyState;
  detail: string;
  approval_id?: string | undefined;
  /** That a person was asked for; absent = the one that it was bound to. */
  plan?: PolicyPlan | undefined;
}

/** Which sites a policy chooses, by id. */
export interface Choice {
  site_ids_or_domains: readonly number[];
  tag_ids: readonly number[];
  client_ids: readonly number[];
  exclude_sites: readonly number[];
  exclude_tag_ids: readonly number[];
  exclude_client_ids: readonly number[];
  /** Present: only those that take automatic updates. */
  trusted?: unknown;
}

interface UpdatedRow extends Row {
  context: string;
  slug: string;
  new_version: string;
  site_id: number;
  at: number;
}

const DAY_MS = 86_400_000;
/** In a change: a plan that has not begun is made again. */
const REPLANNED = "state = CASE policy.state WHEN 'planned' THEN 'begun' ELSE policy.state END";

export function createPolicies(db: Db) {
  return {
    find: (id: number) => db.one<PolicyRow>('SELECT * FROM policy WHERE id = ?', [id]),

    /** By name, after the one of the settings. */
    some: (offset: number, limit: number) =>
      db.all<PolicyRow>("SELECT * FROM policy ORDER BY source <> 'settings', name_key LIMIT ? OFFSET ?", [
        limit,
        offset,
      ]),

    ofSettings: () => db.one<PolicyRow>("SELECT * FROM policy WHERE source = 'settings'"),

    count: () => countOf(db, 'SELECT count(*) AS n FROM policy', []),

    enabled: () => db.all<PolicyRow>('SELECT * FROM policy WHERE enabled = 1 ORDER BY id'),

    /** Makes the policy of the settings, changes it if it is another one, or removes it. */
    settingsStatement(write: PolicyWrite | null): Statement {
      if (write === null) return sql("DELETE FROM policy WHERE source = 'settings'");
      const { name, name_key, enabled, definition, agreed_sites = '[]', changed_by, changed_at } = write;
      return sql(
        `INSERT INTO policy (source, name, name_key, enabled, definition, agreed_sites, changed_by, changed_at, due_at)
         VALUES ('settings', ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (name_key) DO UPDATE SET definition = excluded.definition, agreed_sites = excluded.agreed_sites,
           changed_by = excluded.changed_by, changed_at = excluded.changed_at, ${REPLANNED},
           due_at = CASE WHEN policy.definition ->> '$.schedule' = excluded.definition ->> '$.schedule' THEN policy.due_at
             ELSE max(policy.due_at, excluded.due_at) END
         WHERE policy.source = 'settings' AND policy.definition <> excluded.definition`,
        ...[name, name_key, enabled, definition, agreed_sites, changed_by, changed_at, changed_at],
      );
    },

    /** The id of the new policy; undefined if the name is taken. */
    async add(write: PolicyWrite): Promise<number | undefined> {
      const { name, name_key, enabled, definition, agreed_sites = '[]', changed_by, changed_at } = write;
      const row = await db.one(
        `INSERT INTO policy (name, name_key, enabled, definition, agreed_sites, changed_by, changed_at, due_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
        [name, name_key, enabled, definition, agreed_sites, changed_by, changed_at, changed_at],
      );
      return row === undefined ? undefined : Number(row.id);
    },

    /** False if another policy has the name. @param rescheduled what was due before now is not made up for */
    async change(id: number, write: PolicyWrite, rescheduled: boolean): Promise<boolean> {
      const { name, name_key, enabled, definition, agreed_sites, changed_by, changed_at } = write;
      const values = [name, name_key, enabled, definition, agreed_sites ?? null, changed_by, changed_at];
      const { changes } = await db.run(
        `UPDATE policy SET name = ?, name_key = ?, enabled = ?, definition = ?,
           agreed_sites = coalesce(?, agreed_sites), changed_by = ?, changed_at = ?, ${REPLANNED},
           due_at = CASE WHEN ? THEN max(due_at, ?) ELSE due_at END
         WHERE id = ? AND NOT EXISTS (SELECT 1 FROM policy o WHERE o.name_key = ? AND o.id <> policy.id)`,
        [...values, Number(rescheduled), changed_at, id, name_key],
      );
      return changes === 1;
    },

    async remove(id: number): Promise<boolean> {
      return (await db.run('DELETE FROM policy WHERE id = ?', [id])).changes === 1;
    },

    /** Ids of the sites that are chosen now, whatever is on offer there; a suspended one is chosen by nothing. */
    async chosen({ trusted, ...of }: Choice): Promise<number[]> {
      const tagged = `s.id IN (SELECT site_id FROM site_tag WHERE tag_id ${IN})`;
      const lists: [readonly number[], string][] = [
        [of.site_ids_or_domains, `s.id ${IN}`],
        [of.tag_ids, tagged],
        [of.client_ids, `s.client_id ${IN}`],
        [of.exclude_sites, `NOT s.id ${IN}`],
        [of.exclude_tag_ids, `NOT ${tagged}`],
        [of.exclude_client_ids, `NOT coalesce(s.client_id, 0) ${IN}`],
      ];
      const given = lists.filter(([ids]) => ids.length > 0);
      const willing = 's.id IN (SELECT site_id FROM site_detail WHERE automatic_update = 1)';
      const where = ['s.suspended = 0', ...given.map(([, text]) => text), ...(trusted === undefined ? [] : [willing])];
      const rows = await db.all(
        `SELECT s.id FROM site s WHERE ${where.join(' AND ')} ORDER BY s.id`,
        given.map(([ids]) => idList(ids)),
      );
      return rows.map(({ id }) => Number(id));
    },

    /** Those to whose sites a person has agreed. */
    agreed: () => db.all<PolicyRow>("SELECT * FROM policy WHERE agreed_sites <> '[]'"),

    /** Unless others were agreed to meanwhile. */
    async narrow({ id, agreed_sites }: PolicyRow, left: readonly number[]): Promise<void> {
      await db.run('UPDATE policy SET agreed_sites = ? WHERE id = ? AND agreed_sites = ?', [
        JSON.stringify(left),
        id,
        agreed_sites,
      ]);
    },

    /** A person has agreed to a plan of it: it may act on the sites of that plan from now on. */
    async agree(id: number, planId: string): Promise<void> {
      await db.run(
        `UPDATE policy SET agreed_sites = (SELECT json_group_array(site) FROM (
           SELECT value AS site FROM json_each(policy.agreed_sites)
           UNION SELECT site_id FROM rollout_plan_item WHERE plan_id = ? ORDER BY 1)) WHERE id = ?`,
        [planId, id],
      );
    },

    /** After a clock that was far ahead: what it took up counts as taken up until now. */
    async settle(now: number): Promise<void> {
      await db.run('UPDATE policy SET due_at = ? WHERE due_at > ?', [now, now + DAY_MS]);
    },

    /** Takes up a time at which it is due, as it is set now; false if that, or a later one, was taken up. */
    async claim({ id, changed_at }: PolicyRow, due: number): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE policy SET due_at = ?, state = 'begun', detail = '', approval_id = NULL
         WHERE id = ? AND enabled = 1 AND changed_at = ? AND due_at < ?`,
        [due, id, changed_at, due],
      );
      return changes === 1;
    },

    /**
     * Binds the time that was taken up to a plan, and to the request for what is not in it; false if another process was
     * faster, or it was changed meanwhile.
     */
    async planned(
      { id, due_at, changed_at }: PolicyRow,
      plan: PolicyPlan,
      approvalId: string | null,
    ): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE policy SET state = 'planned', plan_id = ?, digest = ?, approval_id = ?
         WHERE id = ? AND due_at = ? AND state = 'begun' AND enabled = 1 AND changed_at = ?`,
        [plan.plan_id, plan.digest, approvalId, id, due_at, changed_at],
      );
      return changes === 1;
    },

    /** Whether this plan of it may begin: it was not changed, switched off or deleted since. */
    async mayBegin({ id, due_at }: PolicyRow, { plan_id }: PolicyPlan): Promise<boolean> {
      const row = await db.one(
        "SELECT id FROM policy WHERE id = ? AND due_at = ? AND state = 'planned' AND enabled = 1 AND plan_id = ?",
        [id, due_at, plan_id],
      );
      return row !== undefined;
    },

    /** A rollout of it that has not ended: of its newest plan, or of one that a person was asked for. */
    async openRollout({ plan_id }: PolicyRow, asker: string): Promise<string | undefined> {
      const row = await db.one(
        `SELECT id FROM rollout WHERE settled_at IS NULL AND (plan_id = ? OR plan_id IN (
           SELECT input ->> 'plan_id' FROM approval WHERE asker = ? AND operation = ? AND json_valid(input))) LIMIT 1`,
        [plan_id, asker, PLAN_OF_POLICY],
      );
      return row === undefined ? undefined : String(row.id);
    },

    /** Tells what became of it; false if another process did. */
    async finish({ id, due_at }: PolicyRow, { state, detail, approval_id, plan }: Finished): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE policy SET state = ?, detail = ?, approval_id = ?, plan_id = coalesce(?, plan_id), digest = coalesce(?, digest)
         WHERE id = ? AND due_at = ? AND state IN ('begun', 'planned')`,
        [state, detail, approval_id ?? null, plan?.plan_id ?? null, plan?.digest ?? null, id, due_at],
      );
      return changes === 1;
    },

    /** Sites that take the automatic updates of the settings. */
    async willingSites(): Promise<Set<number>> {
      const rows = await db.all('SELECT site_id FROM site_detail WHERE automatic_update = 1');
      return new Set(rows.map(({ site_id }) => Number(site_id)));
    },

    /** Names of tags and clients by id. */
    async owners(tags: readonly number[], clients: readonly number[]) {
      const [tagRows = [], clientRows = []] = await db.read([
        sql(`SELECT id, name FROM tag WHERE id ${IN}`, idList(tags)),
        sql(`SELECT id, name FROM client WHERE id ${IN}`, idList(clients)),
      ]);
      const named = (rows: readonly Row[]) => new Map(rows.map(({ id, name }) => [Number(id), String(name)]));
      return { tags: named(tagRows), clients: named(clientRows) };
    },

    /** Versions that were first on offer since then, with the sites of these that still have them on offer. */
    async offeredSince(since: number, siteIds: readonly number[]) {
      const rows = await db.all(
        `SELECT o.type, o.slug, o.version, coalesce(o.second_seen, o.first_seen) AS first_seen, u.site_id, u.level FROM offered_version o
         LEFT JOIN site_update u ON u.type = o.type AND u.slug = o.slug AND u.new_version = o.version AND u.site_id ${IN}
         WHERE coalesce(o.second_seen, o.first_seen) >= ?`,
        [idList(siteIds), since],
      );
      return rows as unknown as {
        type: number;
        slug: string;
        version: string;
        first_seen: number;
        site_id: number | null;
        level: number | null;
      }[];
    },

    /** Updates of these sites since then, by the log: each with its first time. */
    async updatedSince(since: number, siteIds: readonly number[]): Promise<UpdatedRow[]> {
      const found = new Map<string, UpdatedRow>();
      const ids = idList(siteIds);
      for await (const span of windows(db, [DONE_LOG], { since, before: Number.MAX_SAFE_INTEGER })) {
        const { text, args } = within(DONE_LOG, span);
        const rows = await db.all<UpdatedRow>(
          `SELECT context, slug, new_version, site_id, min(at) AS at FROM action_log
           WHERE ${text} AND action = 'updated' AND code = '' AND context IN ('core', 'plugin', 'theme', 'translation') AND site_id ${IN}
           GROUP BY context, slug, new_version, site_id`,
          [...args, ids],
        );
        // Newest first: what is read later was earlier.
        for (const row of rows) found.set(JSON.stringify([row.context, row.slug, row.new_version, row.site_id]), row);
      }
      return [...found.values()];
    },
  };
}
