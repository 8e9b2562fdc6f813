/**
 * An in-memory database with the current schema: its pages are copied from one that was made by its steps, in a
 * tenth of the time. Tests create more than a thousand. `test/store/migrate.test.ts` compares the copy with the
 * migrations.
 */

import type { Db, Statement } from '../../src/store/driver/db.js';
import { openEmbedded } from '../../src/store/driver/embedded.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { migrations } from '../../src/store/schema/index.js';

interface Template {
  /** Grows an empty database to the size of the template, with its schema version. */
  grow: string;
  /** Writes its pages. */
  write: Statement[];
  /** Makes SQLite read the schema again. */
  renew: string;
}

let template: Promise<Template> | undefined;

/** Fills an empty in-memory database as `migrate` would. */
export async function fillMigrated(db: Db): Promise<void> {
  template ??= makeTemplate();
  const { grow, write, renew } = await template;
  await db.script(grow);
  await db.batch(write);
  // SQLite caches the row positions of the first two pages. Rolling back makes it read them again.
  const refused = { sql: "UPDATE sqlite_dbpage SET data = '' WHERE pgno = 1", args: [] };
  await db.batch([...write.slice(0, 2), refused]).catch(() => undefined);
  await db.run(renew);
}

async function makeTemplate(): Promise<Template> {
  const db = openEmbedded(':memory:', { mode: 'writer' });
  await migrate(db, migrations);
  const pages = await db.all<{ pgno: number; data: Uint8Array }>('SELECT pgno, data FROM sqlite_dbpage ORDER BY pgno');
  const { schema_version: number } = (await db.one('PRAGMA schema_version')) as { schema_version: number };
  await db.close();
  // One page is the schema, one the table; each of the others holds its size of the value, minus a four-byte reference.
  const length = (pages.length - 2) * ((pages[0]?.data.length ?? 0) - 4);
  return {
    grow: `CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(${length})); PRAGMA schema_version=${number}`,
    write: pages.map(({ pgno, data }) => ({
      sql: 'UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?',
      args: [data, pgno],
    })),
    renew: `PRAGMA schema_version=${number + 1}`,
  };
}
