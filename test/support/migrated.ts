/**
 * A database in memory with today's schema: copied from one that went through all migrations, which takes a quarter of their
 * time. Tests make hundreds. `test/store/migrate.test.ts` holds the copy against the migrations.
 */

import type { Db } from '../../src/store/driver/db.js';
import { openEmbedded } from '../../src/store/driver/embedded.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { migrations } from '../../src/store/migrations/index.js';

let script: Promise<string> | undefined;

/** Fills an empty database as `migrate` would. */
export async function fillMigrated(db: Db): Promise<void> {
  script ??= scriptOfAll();
  await db.script(await script);
}

/** What every migration together leaves, as a script. */
async function scriptOfAll(): Promise<string> {
  const db = openEmbedded(':memory:', { mode: 'writer' });
  await migrate(db, migrations);
  // The tables behind a full-text index come with it.
  const objects = await db.all<{ type: string; name: string; sql: string }>(
    `SELECT s.type, s.name, s.sql FROM sqlite_schema s LEFT JOIN pragma_table_list l ON l.schema = 'main' AND l.name = s.name
     WHERE s.sql IS NOT NULL AND s.name NOT GLOB 'sqlite_*' AND coalesce(l.type, '') <> 'shadow' ORDER BY s.rowid`,
  );
  const tables = objects.filter(({ type }) => type === 'table');
  const rows: string[] = ['DELETE FROM sqlite_sequence'];
  const plain = tables.filter(({ sql }) => !sql.startsWith('CREATE VIRTUAL')).map(({ name }) => name);
  for (const name of [...plain, 'sqlite_sequence']) {
    const columns = await db.all<{ name: string }>(`SELECT name FROM pragma_table_info('${name}')`);
    const values = columns.map((column) => `quote("${column.name}")`).join(" || ', ' || ");
    const found = await db.all<{ row: string }>(`SELECT ${values} AS row FROM "${name}"`);
    rows.push(...found.map(({ row }) => `INSERT INTO "${name}" VALUES (${row})`));
  }
  await db.close();
  // Triggers would count rows that are counted already.
  const others = objects.filter(({ type }) => type !== 'table');
  return [...tables.map(({ sql }) => sql), ...rows, ...others.map(({ sql }) => sql)]
    .map((each) => `${each};\n`)
    .join('');
}
