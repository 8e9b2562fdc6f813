/** A database of every earlier schema, with rows in every table, is migrated to the newest one without loss. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Db, Row } from '../../src/store/driver/db.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { openDb } from '../../src/store/driver/open.js';
import { migrations } from '../../src/store/migrations/index.js';
import { tempFolder } from '../support/cleanup.js';
import { testApp } from '../support/harness.js';

const folder = tempFolder('schemas');

interface Table {
  name: string;
  sql: string;
  columns: { name: string; type: string; notnull: boolean }[];
  refs: Map<string, { table: string; column: string }>;
}

/** Tables that hold our data; the search index maintains itself. */
async function tablesOf(db: Db): Promise<Table[]> {
  const rows = await db.all(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name NOT LIKE 'site!_search%' ESCAPE '!' AND name <> 'migration' ORDER BY rowid",
  );
  return Promise.all(
    rows.map(async ({ name, sql }) => {
      const columns = await db.all(`PRAGMA table_xinfo("${name}")`);
      const refs = await db.all(`PRAGMA foreign_key_list("${name}")`);
      return {
        name: String(name),
        sql: String(sql),
        columns: columns
          .filter(({ hidden }) => hidden === 0)
          .map((c) => ({ name: String(c.name), type: String(c.type), notnull: c.notnull === 1 || Number(c.pk) > 0 })),
        refs: new Map(refs.map((r) => [String(r.from), { table: String(r.table), column: String(r.to ?? 'id') }])),
      };
    }),
  );
}

function sample(table: Table, column: string, n: number, all: ReadonlyMap<string, Table>): string | number {
  const ref = table.refs.get(column);
  if (ref !== undefined) {
    const parent = all.get(ref.table);
    if (parent !== undefined && parent !== table) return sample(parent, ref.column, n, all);
    return n;
  }
  const listed = new RegExp(`\\b${column} IN \\(([^)]*)\\)`).exec(table.sql)?.[1]?.split(',')[0]?.trim();
  if (listed !== undefined) return listed.startsWith("'") ? listed.slice(1, -1) : Number(listed);
  const { type = '' } = table.columns.find(({ name }) => name === column) ?? {};
  if (type === 'INTEGER') return n;
  if (type === 'REAL') return n + 0.5;
  // Valid JSON, for all columns that store JSON.
  return `["${column}${n}"]`;
}

async function fill(db: Db): Promise<void> {
  const tables = await tablesOf(db);
  const all = new Map(tables.map((table) => [table.name, table]));
  await db.all('PRAGMA foreign_keys=OFF');
  for (const table of tables) {
    // Counters, and rows already written by triggers.
    if ((await db.one(`SELECT 1 AS found FROM "${table.name}" LIMIT 1`)) !== undefined) continue;
    const needed = table.columns.filter(({ notnull }) => notnull);
    const optional = table.columns.filter(({ notnull }) => !notnull);
    // A table may require exactly one of several columns.
    const choices = [table.columns, needed, ...optional.map((column) => [...needed, column])];
    for (const n of [1, 2]) {
      for (const columns of choices) {
        const names = columns.map(({ name }) => `"${name}"`).join(', ');
        const marks = columns.map(() => '?').join(', ');
        const values = columns.map(({ name }) => sample(table, name, n, all));
        const { changes } = await db.run(`INSERT OR IGNORE INTO "${table.name}" (${names}) VALUES (${marks})`, values);
        if (changes > 0) break;
      }
    }
    const [count] = await db.all(`SELECT count(*) AS n FROM "${table.name}"`);
    expect([table.name, Number(count?.n) > 0]).toEqual([table.name, true]);
  }
  await db.all('PRAGMA foreign_keys=ON');
  expect(await db.all('PRAGMA foreign_key_check')).toEqual([]);
}

async function contents(db: Db): Promise<Map<string, Row[]>> {
  const found = new Map<string, Row[]>();
  for (const { name } of await tablesOf(db)) found.set(name, await db.all(`SELECT * FROM "${name}"`));
  return found;
}

describe.each(migrations.slice(0, -1).map(({ id, name }) => [id, name] as const))('schema %i (%s) with data', (id) => {
  it('moves to the newest without losing a row or a value', async () => {
    const url = `file:${join(folder, `from${id}.db`)}`;
    const db = await openDb(url);
    await migrate(
      db,
      migrations.filter((migration) => migration.id <= id),
    );
    await fill(db);
    const before = await contents(db);
    // One by one, like a user who installs every release.
    for (const { id: to } of migrations.filter((migration) => migration.id > id)) {
      await migrate(
        db,
        migrations.filter((migration) => migration.id <= to),
      );
      expect(await db.all('PRAGMA foreign_key_check')).toEqual([]);
    }
    expect(await db.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    const after = await contents(db);
    for (const [table, rows] of before) {
      const now = after.get(table);
      // A revision mark of lists: it may change after any step.
      if (now === undefined || table === 'revision') continue;
      expect([table, now.length >= rows.length]).toEqual([table, true]);
      for (const row of rows) {
        const same = now.some((each) => Object.entries(row).every(([k, v]) => !(k in each) || Object.is(each[k], v)));
        expect([table, row, same]).toEqual([table, row, true]);
      }
    }
    await db.close();

    const app = await testApp({ sites: 1, jobs: false, realClock: true, config: { db: url } });
    expect((await app.call('list-sites', {})).total).toBe(2);
    expect((await app.call('list-clients', {})).total).toBe(2);
    await app.call('list-updates', {});
    await app.connect(0);
    expect((await app.call('count-sites', {})).total).toBe(3);
  });
});
