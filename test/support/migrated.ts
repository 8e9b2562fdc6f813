/**
 * A database in memory with today's schema: its pages are copied from one that went through all migrations, in a tenth of their
 * time. Tests make more than a thousand. `test/store/migrate.test.ts` holds the copy against the migrations.
 */

import type { Db, Statement } from '../../src/store/driver/db.js';
import { openEmbedded } from '../../src/store/driver/embedded.js';
import { migrate } from '../../src/store/driver/migrate.js';
import { migrations } from '../../src/store/migrations/index.js';

interface Template {
  /** Makes an empty database as large as the template, with the number of its schema. */
  grow: string;
  /** Writes its pages. */
  write: Statement[];
  /** Makes SQLite read the schema again. */
  renew: string;
}

let template: Promise<Template> | undefined;

/** Fills an empty database in memory as `migrate` would. */
export async function fillMigrated(db: Db): Promise<void> {
  template ??= makeTemplate();
  const { grow, write, renew } = await template;
  await db.script(grow);
  await db.batch(write);
  // SQLite remembers where the rows of the first two pages were. What is rolled back, it looks at again.
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
  // One page is the schema, one the table; each of the others holds its size of the value, less a reference of four bytes.
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
