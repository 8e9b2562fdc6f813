import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Db, sql } from '../../src/store/driver/db.js';
import { backup, openEmbedded } from '../../src/store/driver/embedded.js';
import { openDb } from '../../src/store/driver/open.js';
import { closing, tempFolder } from '../support/cleanup.js';
import { withoutRoot } from '../support/without-root.js';

const root = tempFolder('embedded');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, 't-'));
});
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
const path = (...names: string[]) => join(folder, ...names);

async function filled(file: string, rows = 3) {
  const db = closing(openEmbedded(`file:${file}`, { mode: 'writer' }));
  await db.script('CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE)');
  for (let i = 1; i <= rows; i++) await db.run('INSERT INTO t (v) VALUES (?)', [`v${i}`]);
  return db;
}

describe('a database in a file', () => {
  it('is created with its folder, for the owner only, log included', async () => {
    const file = path('data', 'deep', 'fleet.db');
    await filled(file);
    expect(mode(path('data'))).toBe('700');
    expect(mode(path('data', 'deep'))).toBe('700');
    expect(mode(file)).toBe('600');
    expect(mode(`${file}-wal`)).toBe('600');
  });

  it('is one file again after close', async () => {
    const file = path('one.db');
    const db = await filled(file);
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    await db.close();
    expect(existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0).toBe(0);
    writeFileSync(path('copy.db'), readFileSync(file));
    const copy = closing(openEmbedded(`file:${path('copy.db')}`, { mode: 'reader' }));
    expect(await copy.one('SELECT count(*) AS n FROM t')).toEqual({ n: 3 });
  });

  it('runs with the settings the measurements ask for', async () => {
    const db = await filled(path('p.db'));
    const reader = closing(openEmbedded(`file:${path('p.db')}`, { mode: 'reader' }));
    const pragma = async (from: typeof db, name: string) => Object.values((await from.one(`PRAGMA ${name}`)) ?? {})[0];
    for (const each of [db, reader]) {
      expect(await pragma(each, 'journal_mode')).toBe('wal');
      expect(await pragma(each, 'synchronous')).toBe(1);
      expect(await pragma(each, 'foreign_keys')).toBe(1);
      expect(await pragma(each, 'temp_store')).toBe(2);
      expect(await pragma(each, 'cache_size')).toBe(-65536);
      expect(await pragma(each, 'mmap_size')).toBe(268435456);
      expect(await pragma(each, 'journal_size_limit')).toBe(67108864);
    }
    expect(await pragma(db, 'busy_timeout')).toBe(5000);
    expect(await pragma(reader, 'busy_timeout')).toBe(200);
  });

  it('takes file: URLs relative, absolute, with slashes and percent signs', async () => {
    await (await filled(path('a b%25.db'))).close();
    const names = [
      `file://${folder}/a%20b%25.db`,
      `file:${folder}/a%20b%25.db`,
      `file:${relative(process.cwd(), folder)}/a b%25.db`,
    ];
    for (const url of names) {
      const db = await openDb(url, { mode: 'reader' });
      expect(await db.one('SELECT count(*) AS n FROM t')).toEqual({ n: 3 });
      await db.close();
    }
  });

  it.each([
    ['file:', /no path/],
    ['file:/x.db?mode=ro', /no options/],
    ['file:100%.db', /%25/],
    ['file://elsewhere/x.db', /not valid/],
    ['x.db', /must begin with file:/],
    ['ftp://host/x', /must begin with file:/],
    ['', /must begin with file:/],
  ])('refuses the URL "%s"', async (url, words) => {
    await expect(openDb(url)).rejects.toThrow(words);
  });

  it('says what is wrong with a file that is no database, or cannot be opened', async () => {
    writeFileSync(path('text.db'), 'This is a letter, not a database. '.repeat(100));
    expect(() => openEmbedded(`file:${path('text.db')}`, { mode: 'writer' })).toThrow(
      expect.objectContaining({ kind: 'corrupt', message: expect.stringContaining('text.db') }),
    );
    expect(() => openEmbedded(`file:${path('text.db', 'x.db')}`, { mode: 'writer' })).toThrow(
      expect.objectContaining({ kind: 'unavailable', message: expect.stringContaining('cannot be created') }),
    );
    expect(() => openEmbedded(`file:${folder}`, { mode: 'writer' })).toThrow(
      expect.objectContaining({ kind: 'unavailable' }),
    );
  });

  it('says so at the first write when the file may not be written, and can be read', async () => {
    await (await filled(path('ro.db'))).close();
    for (const open of [root, folder, ...readdirSync(folder).map((name) => path(name))]) chmodSync(open, 0o777);
    chmodSync(path('ro.db'), 0o444);
    const db = closing(withoutRoot(() => openEmbedded(`file:${path('ro.db')}`, { mode: 'writer' })));
    expect(await db.one('SELECT count(*) AS n FROM t')).toEqual({ n: 3 });
    await expect(db.run('DELETE FROM t')).rejects.toMatchObject({ name: 'StorageError', kind: 'readonly' });
    expect(await db.one('SELECT count(*) AS n FROM t')).toEqual({ n: 3 });
  });
});

describe('a reader', () => {
  it('does not create a file, and there is none of a database in memory', () => {
    expect(() => openEmbedded(`file:${path('new.db')}`, { mode: 'reader' })).toThrow(/does not exist yet/);
    expect(readdirSync(folder)).toEqual([]);
    expect(() => openEmbedded(':memory:', { mode: 'reader' })).toThrow(/one connection/);
  });

  it('sees what the writer has committed, and cannot write', async () => {
    const writer = await filled(path('r.db'));
    const reader = openEmbedded(`file:${path('r.db')}`, { mode: 'reader' });
    await writer.run('INSERT INTO t (v) VALUES (?)', ['new']);
    expect(await reader.one('SELECT count(*) AS n FROM t')).toEqual({ n: 4 });
    for (const call of [
      () => reader.run('DELETE FROM t'),
      () => reader.all("INSERT INTO t (v) VALUES ('x') RETURNING id"),
      () => reader.batch([sql('DELETE FROM t')]),
      () => reader.script('DROP TABLE t'),
    ]) {
      await expect(call()).rejects.toMatchObject({ kind: 'readonly' });
    }
    await writer.script('ALTER TABLE t ADD COLUMN extra DEFAULT 7');
    expect(await reader.one('SELECT * FROM t WHERE id = 1')).toEqual({ id: 1, v: 'v1', extra: 7 });
    await reader.close();
    await writer.close();
  });

  it('leaves no lock and no snapshot behind, whatever it was asked', async () => {
    const writer = await filled(path('l.db'), 250);
    const reader = openEmbedded(`file:${path('l.db')}`, { mode: 'reader' });
    await reader.run('SELECT * FROM t');
    await reader.one('SELECT * FROM t');
    await reader.read([sql('SELECT * FROM t'), sql('SELECT 1')]);
    await expect(reader.read([sql('SELECT * FROM t'), sql('SELECT * FROM nowhere')])).rejects.toThrow(/nowhere/);
    await expect(reader.all('SELECT json(v) FROM t WHERE id > 120')).rejects.toThrow(/malformed JSON/);
    await expect(reader.all('SELECT id, 1e300 AS big FROM t')).rejects.toThrow(/2\^53/);
    await writer.run('UPDATE t SET v = v || ?', ['!']);
    // A checkpoint is only complete (busy 0, all pages written back) when no reader holds an older state.
    const [state] = await writer.all('PRAGMA wal_checkpoint(TRUNCATE)');
    expect(state).toEqual({ busy: 0, log: 0, checkpointed: 0 });
    await reader.close();
    await writer.close();
  });
});

describe('a second writer', () => {
  it('gets the error that the database is busy, and works afterwards', async () => {
    const one = await filled(path('b.db'));
    const two = openEmbedded(`file:${path('b.db')}`, { mode: 'writer' });
    await two.all('PRAGMA busy_timeout=30');
    const second = () => two.run('INSERT INTO t (v) VALUES (?)', ['two']);
    // A batch cannot be interrupted, so the lock is held by a bare connection.
    const { default: Native } = await import('libsql');
    const native = new Native(path('b.db'));
    native.exec("BEGIN IMMEDIATE; INSERT INTO t (v) VALUES ('held')");
    await expect(second()).rejects.toMatchObject({ kind: 'busy' });
    await expect(two.batch([sql('DELETE FROM t'), sql('SELECT 1')])).rejects.toMatchObject({ kind: 'busy' });
    // The lock is taken before the first statement, so it is also held when a read turns out to need a write.
    await expect(two.batch([sql('SELECT 1'), sql('SELECT 1')])).rejects.toMatchObject({ kind: 'busy' });
    await expect(two.all("INSERT INTO t (v) VALUES ('x') RETURNING id")).rejects.toMatchObject({ kind: 'busy' });
    expect(await one.one('SELECT count(*) AS n FROM t')).toEqual({ n: 3 });
    await expect(two.script('CREATE TABLE x (y)')).rejects.toMatchObject({ kind: 'busy' });
    await expect(two.run('CREATE TABLE x (y)')).rejects.toMatchObject({ kind: 'busy' });
    native.exec('ROLLBACK');
    native.close();
    // None of the refused statements is left in progress: that would block the commit here and every checkpoint.
    expect(await two.batch([sql('SELECT 1 AS one'), sql('SELECT 1 AS one')])).toHaveLength(2);
    expect(await one.all('PRAGMA wal_checkpoint(TRUNCATE)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
    expect(await second()).toEqual({ changes: 1, lastId: 4 });
    expect(await two.batch([sql("DELETE FROM t WHERE v = 'two'"), sql('SELECT count(*) AS n FROM t')])).toEqual([
      { rows: [], changes: 1, lastId: 0 },
      { rows: [{ n: 3 }], changes: 0, lastId: 0 },
    ]);
    for (const db of [one, two]) await db.close();
  });

  it('waits for its turn to switch a new file to WAL, which SQLite itself does not', async () => {
    const holder = new Worker(
      `const { workerData, parentPort } = require('node:worker_threads');
       const Native = require('node:module').createRequire(workerData.from)('libsql');
       const native = new Native(workerData.file);
       // Its commit, too, meets the other one, who looks at the file.
       native.exec('PRAGMA busy_timeout=5000; CREATE TABLE first (x); BEGIN IMMEDIATE; INSERT INTO first VALUES (1)');
       parentPort.postMessage('locked');
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
       native.exec('COMMIT');
       native.close();`,
      { eval: true, workerData: { from: import.meta.url, file: path('turn.db') } },
    );
    await once(holder, 'message');
    const ended = once(holder, 'exit');
    const db = openEmbedded(`file:${path('turn.db')}`, { mode: 'writer' });
    expect(await db.one('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
    expect(await db.all('SELECT x FROM first')).toEqual([{ x: 1 }]);
    await db.close();
    // Native code that returns into a terminated thread would abort this process.
    await ended;
  });

  it('can go on after the disk was full in the middle of a batch', async () => {
    const db = await filled(path('f.db'));
    const pages = Number((await db.one('PRAGMA page_count'))?.page_count);
    await db.all(`PRAGMA max_page_count=${pages + 2}`);
    const big = sql('INSERT INTO t (v) VALUES (?)', 'x'.repeat(50_000));
    await expect(db.batch([sql('DELETE FROM t WHERE id = 1'), big])).rejects.toMatchObject({ kind: 'full' });
    expect(await db.one('SELECT count(*) AS n FROM t')).toEqual({ n: 3 });
    expect(await db.batch([sql('DELETE FROM t WHERE id = 1'), sql('SELECT 1 AS one')])).toHaveLength(2);
  });

  it('rolls back when only the commit fails', async () => {
    const db = await filled(path('d.db'));
    await db.script('CREATE TABLE c (t_id REFERENCES t DEFERRABLE INITIALLY DEFERRED)');
    const orphan = sql('INSERT INTO c VALUES (?)', 99);
    await expect(db.batch([orphan, sql('SELECT 1')])).rejects.toMatchObject({ kind: 'foreign_key' });
    expect(await db.one('SELECT count(*) AS n FROM c')).toEqual({ n: 0 });
    expect(await db.batch([orphan, sql('DELETE FROM c')])).toHaveLength(2);
  });
});

it('keeps working when more statements pass than it keeps', async () => {
  const db = closing(openEmbedded(':memory:', { mode: 'writer', cacheStatements: 3 }));
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 10; i++) expect(await db.one(`SELECT ? + ${i} AS v`, [round])).toEqual({ v: round + i });
  }
  expect(() => openEmbedded(':memory:', { mode: 'writer', cacheStatements: 0 })).toThrow(/at least one/);
});

describe('backup', () => {
  it('copies a database in use, for the owner only', async () => {
    const db = await filled(path('live.db'));
    await backup(db, path('copy.db'));
    await db.run('DELETE FROM t');
    expect(mode(path('copy.db'))).toBe('600');
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
    const copy = closing(openEmbedded(`file:${path('copy.db')}`, { mode: 'writer' }));
    expect(await copy.one('SELECT count(*) AS n FROM t')).toEqual({ n: 3 });
    expect(await copy.one('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
  });

  it('needs a writer, which may be in memory', async () => {
    const writer = await filled(path('w.db'));
    const reader = openEmbedded(`file:${path('w.db')}`, { mode: 'reader' });
    const memory = openEmbedded(':memory:', { mode: 'writer' });
    await memory.script('CREATE TABLE m (x)');
    await expect(backup(reader, path('r-copy.db'))).rejects.toMatchObject({ kind: 'readonly' });
    expect(existsSync(path('r-copy.db'))).toBe(false);
    await backup(memory, path('m-copy.db'));
    const copy = openEmbedded(`file:${path('m-copy.db')}`, { mode: 'reader' });
    expect(await copy.all('SELECT * FROM m')).toEqual([]);
    for (const db of [copy, reader, writer, memory]) await db.close();
  });

  it('never overwrites, and leaves nothing when it fails', async () => {
    const db = await filled(path('n.db'));
    writeFileSync(path('mine.txt'), 'mine');
    await expect(backup(db, path('mine.txt'))).rejects.toThrow(/exists already/);
    // While it is being written, as when the process is killed, its name is not there yet; and it takes no name that
    // another process was given meanwhile.
    const during = (work: () => void) =>
      ({
        kind: db.kind,
        run: (...args: Parameters<Db['run']>) => {
          work();
          return db.run(...args);
        },
      }) as Db;
    const target = path('killed.db');
    let there: boolean | undefined;
    await backup(
      during(() => {
        there = existsSync(target);
      }),
      target,
    );
    expect([there, existsSync(target)]).toEqual([false, true]);
    const rival = path('rival.db');
    await expect(
      backup(
        during(() => writeFileSync(rival, 'mine')),
        rival,
      ),
    ).rejects.toThrow(/exists already/);
    expect(readFileSync(rival, 'utf8')).toBe('mine');
    expect(existsSync(`${rival}.partial`)).toBe(false);
    // Left by a process that was killed.
    writeFileSync(`${path('left.db')}.partial`, '');
    await expect(backup(db, path('left.db'))).rejects.toThrow(/left\.db\.partial was left unfinished/);
    expect(readFileSync(path('mine.txt'), 'utf8')).toBe('mine');
    await expect(backup(db, path('no', 'folder.db'))).rejects.toThrow(/cannot be created/);
    await db.close();
    await expect(backup(db, path('closed.db'))).rejects.toMatchObject({ kind: 'unavailable' });
    expect(existsSync(path('closed.db'))).toBe(false);
    expect(existsSync(path('closed.db.partial'))).toBe(false);
  });
});
