/** Changes that wait for a person, and what became of them. */

import type { ApprovalState, ChangeKind } from '../../../schemas/approval.js';
import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { countOf, type Listed, readPage } from '../driver/lists.js';
import { equal, fragment, join } from '../driver/sql-fragments.js';
import type { Vault } from '../vault/vault.js';

/** What a request is bound to, besides its plan. */
export interface ApprovalCall {
  asker: string;
  operation: string;
  input_digest: string;
}

export interface NewApproval extends ApprovalCall {
  id: string;
  asker_name: string;
  via: string;
  client: string;
  title: string;
  kind: ChangeKind;
  sites: number | null;
  /** JSON of `{ kind, sites }[]`. */
  changes: string;
  plan_digest: string;
  /** JSON, without secrets. */
  input: string;
  plan: string;
  /** Milliseconds, as all times. */
  asked_at: number;
  expires_at: number;
}

export interface ApprovalRow extends Row, NewApproval {
  state: ApprovalState;
  decided_at: number | null;
  decided_by: string | null;
  note: string;
  used_at: number | null;
  /** Id of the rollout of the plan, if others have started it while this waited. */
  started: string | null;
}

export interface ApprovalFilter {
  /** Undefined = of everyone. */
  asker?: string | undefined;
  states: readonly ApprovalState[];
}

/** Of the plan that it asks to start: the rollout that somebody else has started meanwhile. */
const STARTED = `(SELECT r.id FROM rollout r WHERE r.plan_id = CASE WHEN json_valid(approval.input) THEN approval.input ->> 'plan_id' END)`;
/** Its state at a time: nothing runs when a request expires, or when its plan is started by others. */
const STATE = `CASE WHEN state IN ('waiting', 'approved') AND expires_at <= ? THEN 'expired'
  WHEN state = 'waiting' AND ${STARTED} IS NOT NULL THEN 'not_needed' ELSE state END`;
const COLUMNS = `id, asker, asker_name, via, client, operation, title, kind, sites, changes, input_digest, plan_digest, input, plan,
  ${STATE} AS state, asked_at, expires_at, decided_at, decided_by, note, used_at,
  CASE WHEN state = 'waiting' THEN ${STARTED} END AS started`;

/** Ends approvals that were given, and may have been used since this copy was made; returns how many. */
export async function endGivenApprovals(db: Db): Promise<number> {
  return (await db.run("UPDATE approval SET state = 'replaced' WHERE state = 'approved'")).changes;
}

export function createApprovals(db: Db, vault: Vault) {
  /** An input may hold a password, which could be guessed by its digest alone. */
  const keyed = (input_digest: string) => vault.derive(`approval:${input_digest}`);

  return {
    find: (id: string, now: number) => db.one<ApprovalRow>(`SELECT ${COLUMNS} FROM approval WHERE id = ?`, [now, id]),

    /** The newest request of a call. */
    latest: ({ asker, operation, input_digest }: ApprovalCall, now: number) =>
      db.one<ApprovalRow>(
        `SELECT ${COLUMNS} FROM approval WHERE asker = ? AND operation = ? AND input_digest = ?
         ORDER BY asked_at DESC, rowid DESC LIMIT 1`,
        [now, asker, operation, keyed(input_digest)],
      ),

    /** How many of one asker wait, or of all. */
    waiting: (asker: string | undefined, now: number) =>
      countOf(
        db,
        `SELECT count(*) AS n FROM approval WHERE (?1 IS NULL OR asker = ?1) AND state = 'waiting' AND expires_at > ?2
           AND ${STARTED} IS NULL`,
        [asker ?? null, now],
      ),

    /** Those of this operation that wait, newest first. */
    waitingFor: (operation: string, now: number, most: number) =>
      db.all<Pick<ApprovalRow, 'id' | 'title' | 'sites'>>(
        `SELECT id, title, sites FROM approval WHERE operation = ? AND state = 'waiting' AND expires_at > ? AND ${STARTED} IS NULL
         ORDER BY asked_at DESC, rowid DESC LIMIT ?`,
        [operation, now, most],
      ),

    /** Number of requests that one asker has made since a time and no person has decided: waiting, withdrawn or replaced. */
    undecided: (asker: string, since: number) =>
      countOf(
        db,
        `SELECT count(*) AS n FROM approval WHERE asker = ? AND asked_at > ? AND state IN ('waiting', 'withdrawn', 'replaced')`,
        [asker, since],
      ),

    /**
     * Stores a request, and ends an open one of the same call, which has expired or whose plan has changed. False if
     * another one was stored at the same time.
     */
    async add(request: NewApproval, ends: Pick<ApprovalRow, 'id' | 'state'> | undefined): Promise<boolean> {
      const columns = Object.entries({ ...request, input_digest: keyed(request.input_digest) });
      const end = sql(
        `UPDATE approval SET state = CASE WHEN expires_at <= ? THEN 'expired' ELSE 'replaced' END
         WHERE id = ? AND state IN ('waiting', 'approved')`,
        request.asked_at,
        ends?.id ?? '',
      );
      const add = sql(
        `INSERT INTO approval (${columns.map(([name]) => name).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
         ON CONFLICT DO NOTHING`,
        ...columns.map(([, value]) => value),
      );
      const results = await db.batch(ends === undefined ? [add] : [end, add]);
      return (results.at(-1)?.changes ?? 0) > 0;
    },

    /** Decides a request that waits. False if it does not wait any more. */
    async decide(
      id: string,
      {
        state,
        by,
        note,
        now,
        expires_at,
      }: { state: 'approved' | 'refused'; by: string; note: string; now: number; expires_at: number },
    ): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE approval SET state = ?, decided_by = ?, note = ?, decided_at = ?, expires_at = ?
         WHERE id = ? AND state = 'waiting' AND expires_at > ? AND ${STARTED} IS NULL`,
        [state, by, note, now, expires_at, id, now],
      );
      return changes > 0;
    },

    /** Uses up an approval. False if it does not hold any more, or another call was faster. */
    async use(id: string, plan_digest: string, now: number): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE approval SET state = 'used', used_at = ? WHERE id = ? AND state = 'approved' AND plan_digest = ? AND expires_at > ?`,
        [now, id, plan_digest, now],
      );
      return changes > 0;
    },

    /** Withdraws a request of an asker that is open. False if it is not any more. */
    async withdrawOne(id: string, asker: string, now: number): Promise<boolean> {
      const { changes } = await db.run(
        `UPDATE approval SET state = 'withdrawn', decided_at = ?
         WHERE id = ? AND asker = ? AND state IN ('waiting', 'approved') AND expires_at > ? AND ${STARTED} IS NULL`,
        [now, id, asker, now],
      );
      return changes > 0;
    },

    /** Ends what an asker does not want any more. @param kept the input of a request that stays */
    async withdraw(asker: string, kept = ''): Promise<void> {
      await db.run(
        "UPDATE approval SET state = 'replaced' WHERE asker = ? AND input_digest <> ? AND state IN ('waiting', 'approved')",
        [asker, keyed(kept)],
      );
    },

    /** One page, newest first. */
    list({ asker, states }: ApprovalFilter, now: number, page: number, perPage: number): Promise<Listed<ApprovalRow>> {
      const { text, args } = join([
        fragment('1'),
        equal('asker', asker),
        states.length === 0
          ? fragment('')
          : fragment(` AND ${STATE} IN (SELECT value FROM json_each(?))`, now, JSON.stringify(states)),
      ]);
      const rows = sql(
        `SELECT ${COLUMNS} FROM approval WHERE ${text} ORDER BY asked_at DESC, rowid DESC`,
        now,
        ...args,
      );
      return readPage(db, rows, sql(`SELECT count(*) AS n FROM approval WHERE ${text}`, ...args), page, perPage);
    },

    /** Deletes requests that were made before this time and are closed. */
    async prune(before: number): Promise<void> {
      await db.run('DELETE FROM approval WHERE asked_at < ? AND expires_at < ?', [before, before]);
    },

    /** How many of these sites have no guard that answered. */
    unguarded: (ids: readonly number[]) =>
      countOf(
        db,
        `SELECT count(*) AS n FROM json_each(?) WHERE NOT EXISTS
           (SELECT 1 FROM site_guard g WHERE g.site_id = value AND g.present = 1)`,
        [JSON.stringify(ids)],
      ),
  };
}
