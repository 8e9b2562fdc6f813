/** Cost records and their targets. */

import type { Db, Reads, Row, Statement, Value } from '../driver/db.js';
import { StorageError, sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { insertRow, only, updateRow } from '../driver/rows.js';
import type { CostFields } from './fields.js';
import { createCostShares } from './shares.js';

/** Ids of the targets of a cost. `groups` are tags. */
export interface CostTargets {
  sites: readonly number[];
  groups: readonly number[];
  clients: readonly number[];
}
export type TargetField = keyof CostTargets;

export interface CostRow extends CostFields, CostTargets {
  id: number;
  created_at: number;
  updated_at: number;
}

/** `missing`: the first target that does not exist; then nothing was written. */
export type CostWrite =
  | { outcome: 'stored'; cost: CostRow }
  | { outcome: 'no_cost' }
  | { outcome: 'no_target'; missing: { field: TargetField; id: number } };

const COLUMNS = [
  'kind',
  'name',
  'url',
  'type',
  'product_type',
  'license_type',
  'cost_status',
  'payment_method',
  'price',
  'renewal_type',
  'last_renewal',
  'note',
] as const satisfies readonly (keyof CostFields)[];

const TARGETS: Record<TargetField, { column: string; table: string }> = {
  sites: { column: 'site_id', table: 'site' },
  groups: { column: 'tag_id', table: 'tag' },
  clients: { column: 'client_id', table: 'client' },
};
const TARGET_FIELDS = Object.keys(TARGETS) as TargetField[];

/** Names of the targets of a cost, in the order of their ids. */
export type CostNames = { [Field in TargetField]: string[] };

function targetInserts(cost: string, targets: Partial<CostTargets>): Statement[] {
  return TARGET_FIELDS.flatMap((field) => {
    const ids = targets[field];
    if (ids === undefined || ids.length === 0) return [];
    const { column } = TARGETS[field];
    // OR IGNORE allows a target to be named twice; an unknown one still violates the foreign key.
    return sql(
      `INSERT OR IGNORE INTO cost_target (cost_id, ${column}) SELECT ${cost}, value FROM json_each(?)`,
      JSON.stringify(ids),
    );
  });
}

export function createCosts(db: Db, aside: Reads) {
  const idsOf = (field: TargetField) => {
    const { column } = TARGETS[field];
    return `(SELECT json_group_array(${column}) FROM cost_target WHERE cost_id = c.id AND ${column} IS NOT NULL) AS ${field}`;
  };

  const select = (tail: string, ...args: Value[]): Statement => {
    const columns = ['id', ...COLUMNS, 'created_at', 'updated_at'].map((column) => `c.${column}`);
    return sql(`SELECT ${[...columns, ...TARGET_FIELDS.map(idsOf)].join(', ')} FROM cost c ${tail}`, ...args);
  };

  /** Runs a write whose only foreign keys are the targets and the cost itself. */
  const write = async (statements: Statement[], targets: Partial<CostTargets>): Promise<CostWrite> => {
    try {
      const results = await db.batch(statements);
      const row = results.at(-1)?.rows[0];
      return row === undefined ? { outcome: 'no_cost' } : { outcome: 'stored', cost: toCost(row) };
    } catch (error) {
      if (!(error instanceof StorageError) || error.kind !== 'foreign_key') throw error;
      const missing = await firstMissing(db, targets);
      return missing === undefined ? { outcome: 'no_cost' } : { outcome: 'no_target', missing };
    }
  };

  return {
    ...createCostShares(aside),

    /** One page in name order with the true total, in one snapshot. */
    async list(page: number, perPage: number): Promise<{ items: CostRow[]; total: number }> {
      const rows = select('ORDER BY c.name COLLATE NOCASE, c.id');
      const { items, total } = await readPage(db, rows, sql('SELECT count(*) AS n FROM cost'), page, perPage);
      return { items: items.map(toCost), total };
    },

    /** The first names of the targets of each of these costs. */
    async namesOf(ids: readonly number[], most: number): Promise<Map<number, CostNames>> {
      const names = TARGET_FIELDS.map((field) => {
        const { column, table } = TARGETS[field];
        return `(SELECT json_group_array(name) FROM (SELECT n.name FROM cost_target t JOIN ${table} n ON n.id = t.${column}
          WHERE t.cost_id = c.value ORDER BY n.id LIMIT ?2)) AS ${field}`;
      });
      const rows = await db.all(`SELECT c.value AS id, ${names.join(', ')} FROM json_each(?1) c`, [
        JSON.stringify(ids),
        most,
      ]);
      const of = (row: Row, field: TargetField) => JSON.parse(String(row[field])) as string[];
      return new Map(
        rows.map((row) => [
          Number(row.id),
          { sites: of(row, 'sites'), groups: of(row, 'groups'), clients: of(row, 'clients') },
        ]),
      );
    },

    async find(id: number): Promise<CostRow | undefined> {
      const query = select('WHERE c.id = ?', id);
      const row = await db.one(query.sql, query.args);
      return row === undefined ? undefined : toCost(row);
    },

    /** Costs by id; missing ones are left out. */
    async findMany(ids: readonly number[]): Promise<CostRow[]> {
      const query = select('WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id', JSON.stringify(ids));
      return (await db.all(query.sql, query.args)).map(toCost);
    },

    add(fields: CostFields, targets: Partial<CostTargets>, now: number): Promise<CostWrite> {
      // AUTOINCREMENT: within the batch the new cost has the highest id of all.
      const newest = '(SELECT max(id) FROM cost)';
      const insert = insertRow('cost', { ...only(COLUMNS, fields), created_at: now, updated_at: now });
      return write([insert, ...targetInserts(newest, targets), select(`WHERE c.id = ${newest}`)], targets);
    },

    /** All fields are written; given targets replace the stored ones. */
    update(id: number, fields: CostFields, targets: Partial<CostTargets>, now: number): Promise<CostWrite> {
      const statements = updateRow('cost', 'id', id, { ...only(COLUMNS, fields), updated_at: now });
      for (const field of TARGET_FIELDS) {
        if (targets[field] === undefined) continue;
        const { column } = TARGETS[field];
        statements.push(sql(`DELETE FROM cost_target WHERE cost_id = ? AND ${column} IS NOT NULL`, id));
      }
      // The id is our own number, never a caller's text.
      statements.push(...targetInserts(String(id), targets), select('WHERE c.id = ?', id));
      return write(statements, targets);
    },

    /** False if it no longer existed. */
    async remove(id: number): Promise<boolean> {
      const { changes } = await db.run('DELETE FROM cost WHERE id = ?', [id]);
      return changes > 0;
    },
  };
}

async function firstMissing(db: Db, targets: Partial<CostTargets>) {
  const selects = TARGET_FIELDS.map(
    (field) =>
      `SELECT '${field}' AS field, value AS id FROM json_each(?) WHERE value NOT IN (SELECT id FROM ${TARGETS[field].table})`,
  );
  const row = await db.one(
    `${selects.join(' UNION ALL ')} LIMIT 1`,
    TARGET_FIELDS.map((field) => JSON.stringify(targets[field] ?? [])),
  );
  return row === undefined ? undefined : { field: row.field as TargetField, id: Number(row.id) };
}

function toCost(row: Row): CostRow {
  const ids = (field: TargetField) => (JSON.parse(String(row[field])) as number[]).sort((a, b) => a - b);
  return { ...(row as unknown as CostRow), sites: ids('sites'), groups: ids('groups'), clients: ids('clients') };
}
