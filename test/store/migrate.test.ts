import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Db } from '../../src/store/driver/db.js';
import { type Migration, migrate } from '../../src/store/driver/migrate.js';
import { openDb } from '../../src/store/driver/open.js';
import { migrations } from '../../src/store/schema/index.js';
import { closing, tempFolder, tracked } from '../support/cleanup.js';
import { fillMigrated } from '../support/migrated.js';
import { has, needs } from '../support/needs.js';
import { bundledPrograms } from '../support/processes/bundle.js';
import { type Sqld, startSqld } from '../support/sqld.js';
import { manyMigrations } from './migrate-list.js';

const folder = tempFolder('migrate');
let server: Sqld | undefined;
beforeAll(async () => {
  if (has('sqld')) server = await startSqld();
});
afterAll(async () => {
  await server?.stop();
});

const first: Migration = {
  id: 1,
  name: "the fleet's start",
  sql: 'CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)',
};
const second: Migration = { id: 2, name: 'more', sql: 'ALTER TABLE a ADD COLUMN y DEFAULT 5' };
const rows = (db: Db) => db.all('SELECT id, name FROM migration ORDER BY id');
let files = 0;

const targets: Record<string, () => Promise<Db>> = {
  'in memory': () => openDb(':memory:'),
  'in a file': () => openDb(`file:${join(folder, `m${++files}.db`)}`),
  'on a server': async () => {
    const db = await openDb(`http://${server?.host}`);
    for (const { name } of await db.all(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%!_%' ESCAPE '!'",
    )) {
      await db.run(`DROP TABLE "${name}"`);
    }
    return db;
  },
};

for (const [name, open] of Object.entries(targets)) {
  describe(name, name === 'on a server' ? needs('sqld') : {}, () => {
    it('applies what is missing, in order, once', async () => {
      const db = closing(await open());
      expect(await migrate(db, [])).toEqual({ from: 0, to: 0 });
      expect(await migrate(db, [first])).toEqual({ from: 0, to: 1 });
      expect(await migrate(db, [first, second])).toEqual({ from: 1, to: 2 });
      expect(await migrate(db, [first, second])).toEqual({ from: 2, to: 2 });
      expect(await db.all('SELECT x, y FROM a')).toEqual([{ x: 1, y: 5 }]);
      expect(await rows(db)).toEqual([
        { id: 1, name: "the fleet's start" },
        { id: 2, name: 'more' },
      ]);
      expect(await db.one('SELECT count(*) AS n FROM migration WHERE abs(applied_at - unixepoch()) < 60')).toEqual({
        n: 2,
      });
    });

    it('leaves nothing of a step that fails, and goes on there the next time', async () => {
      const db = closing(await open());
      const broken = { ...second, sql: `${second.sql}; INSERT INTO a VALUES (2, 2); INSERT INTO nowhere VALUES (1)` };
      await expect(migrate(db, [first, broken])).rejects.toMatchObject({ name: 'StorageError' });
      expect(await rows(db)).toEqual([{ id: 1, name: "the fleet's start" }]);
      expect(await db.all('SELECT * FROM a')).toEqual([{ x: 1 }]);
      expect(await migrate(db, [first, second])).toEqual({ from: 1, to: 2 });
    });

    it('does not take a constraint that a step runs into for a step done by another process', async () => {
      const db = closing(await open());
      const twins = 'INSERT INTO a (x) VALUES (7), (7); CREATE UNIQUE INDEX twins ON a (x)';
      await expect(migrate(db, [first, { id: 2, name: 'twins', sql: twins }])).rejects.toMatchObject({
        kind: 'unique',
      });
      expect(await rows(db)).toHaveLength(1);
      expect(await db.all('SELECT x FROM a')).toEqual([{ x: 1 }]);
    });

    it('refuses a database that is newer than the program', async () => {
      const db = await open();
      await migrate(db, [first, second]);
      await expect(migrate(db, [first])).rejects.toThrow(/migration 2.*up to 1.*newer version: upgrade/);
      expect(await rows(db)).toHaveLength(2);
    });

    it('refuses a database from before its first step', async () => {
      const db = closing(await open());
      await migrate(db, [first, second]);
      const released = { id: 100, name: 'schema', sql: 'CREATE TABLE b (x INTEGER)' };
      await expect(migrate(db, [released])).rejects.toThrow(
        /migration 2, .*from 100 on.*before the first release.*sitefleet export.*into a new database/,
      );
      expect(await rows(db)).toHaveLength(2);
      expect(await db.all('SELECT x, y FROM a')).toEqual([{ x: 1, y: 5 }]);
    });

    it('refuses a list that is out of order, before it does anything', async () => {
      const db = closing(await open());
      for (const list of [[second, first], [first, first], [{ ...first, id: 0 }], [{ ...first, id: 1.5 }]]) {
        await expect(migrate(db, list)).rejects.toThrow(/ids are whole numbers that ascend/);
      }
      expect(await db.all("SELECT 1 FROM sqlite_schema WHERE name = 'migration'")).toEqual([]);
    });
  });
}

/** Runs processes that start at the same moment. */
async function together(url: string, count: number): Promise<string[]> {
  const child = join(await bundledPrograms(), 'migrate-child.js');
  const start = String(Date.now() + 1500);
  const runs = Array.from({ length: count }, () => {
    const process_ = tracked(spawn(process.execPath, [child, url, start]));
    let out = '';
    for (const stream of [process_.stdout, process_.stderr]) {
      stream.on('data', (chunk) => {
        out += chunk;
      });
    }
    return new Promise<string>((done) => process_.once('close', () => done(out)));
  });
  return Promise.all(runs);
}

describe('several processes at once', () => {
  const check = async (url: string) => {
    const results = await together(url, 3);
    for (const result of results) expect(JSON.parse(result)).toMatchObject({ to: 10 });
    const db = await openDb(url);
    expect(await rows(db)).toHaveLength(10);
    const steps = await db.all('SELECT id FROM step ORDER BY rowid');
    expect(steps.map((row) => row.id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await db.close();
  };

  it('do each step once, in a new file', () => check(`file:${join(folder, 'together.db')}`));

  it('do each step once, on a server', needs('sqld'), () => check(`http://${server?.host}`));

  it('do each step once, when calls of two connections alternate', async () => {
    const url = `file:${join(folder, 'alternate.db')}`;
    const [one, two] = [await openDb(url), await openDb(url)];
    await Promise.all([migrate(one, manyMigrations), migrate(two, manyMigrations)]);
    expect((await one.all('SELECT id FROM step')).length).toBe(10);
    await one.close();
    await two.close();
  });
});

it('the copy that other tests begin with is what the migrations leave', async () => {
  /** The whole contents of a database, except the time its schema was created and its random mark. */
  const all = async (db: Db) => {
    const schema = await db.all<{ type: string; name: string }>('SELECT type, name, tbl_name, sql FROM sqlite_schema');
    const contents: Record<string, unknown> = {};
    for (const { type, name } of schema) if (type === 'table') contents[name] = await db.all(`SELECT * FROM "${name}"`);
    contents.migration = await rows(db);
    contents.revision = await db.all('SELECT name, length(mark) AS length FROM revision');
    const text = (each: object) => JSON.stringify(each);
    return { schema: schema.map(text).sort(), contents };
  };
  const [made, copied] = await Promise.all([openDb(':memory:'), openDb(':memory:')]);
  await migrate(made, migrations);
  await fillMigrated(copied);
  expect(await all(copied)).toEqual(await all(made));
  expect(await copied.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(await migrate(copied, migrations)).toEqual({ from: migrations.at(-1)?.id, to: migrations.at(-1)?.id });
  await made.close();
  await copied.close();
});
