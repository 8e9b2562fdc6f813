import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Db, Value } from '../../src/store/driver/db.js';
import { sql } from '../../src/store/driver/db.js';
import { openDb } from '../../src/store/driver/open.js';
import { tempFolder } from '../support/cleanup.js';
import { countingDb } from '../support/counting-db.js';
import { has, needs } from '../support/needs.js';
import { type Sqld, startSqld } from '../support/sqld.js';

/** The contract of every driver: a caller may rely on it without knowing which driver is used. */
const folder = tempFolder('driver');
let server: Sqld | undefined;
beforeAll(async () => {
  if (has('sqld')) server = await startSqld();
});
afterAll(async () => {
  await server?.stop();
});

const targets = {
  'embedded, in memory': () => openDb(':memory:'),
  'embedded, in a file': () => openDb(`file:${join(folder, 'contract.db')}`),
  'remote, over HTTP': () => openDb(`http://${server?.host}`),
  'remote, over WebSocket': () => openDb(`ws://${server?.host}`),
};

for (const [name, open] of Object.entries(targets)) {
  describe(name, name.startsWith('remote') ? needs('sqld') : {}, () => {
    let db: Db;
    beforeAll(async () => {
      db = await open();
    });
    afterAll(() => db.close());
    beforeEach(async () => {
      await db.script(`
        DROP TABLE IF EXISTS visit; DROP TABLE IF EXISTS site;
        CREATE TABLE site (id INTEGER PRIMARY KEY, url TEXT UNIQUE NOT NULL, n INTEGER DEFAULT 0 CHECK (n < 100), x);
        CREATE TABLE visit (site_id INTEGER NOT NULL REFERENCES site ON DELETE CASCADE);
      `);
    });
    contract(() => db);
  });
}

function contract(db: () => Db): void {
  const insert = 'INSERT INTO site (url, n) VALUES (?, ?)';
  const kind = (promise: Promise<unknown>) =>
    promise.then(
      () => 'no error',
      (error) => error.kind ?? error,
    );

  it('returns rows as plain objects, one row or undefined', async () => {
    await db().run(insert, ['a', 1]);
    await db().run(insert, ['b', 2]);
    expect(await db().all('SELECT id, url, n FROM site ORDER BY id')).toStrictEqual([
      { id: 1, url: 'a', n: 1 },
      { id: 2, url: 'b', n: 2 },
    ]);
    expect(await db().one('SELECT url FROM site WHERE id = ?', [2])).toStrictEqual({ url: 'b' });
    expect(await db().one('SELECT url FROM site WHERE id = ?', [3])).toBeUndefined();
    expect(await db().all('SELECT url FROM site WHERE id = ?', [3])).toEqual([]);
  });

  it('forgets the arguments of the call before, whatever it was', async () => {
    for (const url of ['a', 'b', 'c']) await db().run(insert, [url, 0]);
    const byId = 'SELECT url FROM site WHERE id = ?';
    expect(await db().all(byId, [1])).toEqual([{ url: 'a' }]);
    expect(await db().one(byId, [2])).toEqual({ url: 'b' });
    expect(await kind(db().run(insert, ['a', 0]))).toBe('unique');
    expect(await db().run(insert, ['d', 0])).toEqual({ changes: 1, lastId: 4 });
    await db().run(byId, [3]);
    expect(await db().one(byId, [4])).toEqual({ url: 'd' });
  });

  it('keeps every value that it takes', async () => {
    const values: Value[] = ['', 'ü 🦊', 0, -1, 1.5, 2 ** 53 - 1, null, 'x'.repeat(100_000)];
    for (const value of values) {
      expect((await db().one('SELECT ? AS v', [value]))?.v, String(value).slice(0, 20)).toBe(value);
    }
    expect(await db().one('SELECT ? AS a, ? AS b', [true, false])).toEqual({ a: 1, b: 0 });
    expect((await db().one('SELECT ? AS v', [12n]))?.v).toBe(12);
    const bytes = new Uint8Array([9, 0, 255, 7]);
    for (const given of [bytes, Buffer.from(bytes), new Uint8Array(0), new Uint8Array([1, 9, 0, 255, 7]).subarray(1)]) {
      const back = (await db().one('SELECT ? AS v', [given]))?.v;
      expect(back).toBeInstanceOf(Uint8Array);
      expect([...(back as Uint8Array)]).toEqual([...given]);
    }
    expect((await db().one('SELECT ? AS v', ['half \ud83e']))?.v).toBe('half \ufffd');
  });

  it('stores whole numbers as integers, also in text and JSON', async () => {
    await db().run('INSERT INTO site (url, x) VALUES (?, ?)', [5, 5]);
    const row = await db().one(
      'SELECT url, typeof(x) AS t, json_array(?) AS j, ? / 2 AS half, 7 AS n FROM site LIMIT ?',
      [5, 5, 1],
    );
    expect(row).toEqual({ url: '5', t: 'integer', j: '[5]', half: 2, n: 7 });
  });

  it('takes 64-bit integers and gives them as text only', async () => {
    const big = 2n ** 63n - 1n;
    expect(await db().one('SELECT CAST(? AS TEXT) AS v', [big])).toEqual({ v: String(big) });
    expect(await db().one('SELECT CAST(? AS TEXT) AS v', [-big - 1n])).toEqual({ v: String(-big - 1n) });
    await expect(db().one('SELECT ? AS v', [big])).rejects.toThrow(/beyond 2\^53.*CAST/);
    await expect(db().one('SELECT 1e300 AS v')).rejects.toThrow(/"v".*beyond 2\^53/);
  });

  const refusals: Array<[what: string, value: unknown, words: RegExp]> = [
    ['undefined', undefined, /Argument 2 is undefined; bind null/],
    ['NaN', Number.NaN, /Argument 2 is NaN/],
    ['Infinity', Number.POSITIVE_INFINITY, /Argument 2 is Infinity/],
    ['an unsafe number', 2 ** 53, /bind a bigint/],
    ['a bigint over 64 bits', 2n ** 63n, /beyond 64 bits/],
    ['a bigint under 64 bits', -(2n ** 63n) - 1n, /beyond 64 bits/],
    ['a Date', new Date(0), /Date; bind its time/],
    ['an object', { a: 1 }, /object; bind JSON/],
    ['an array', [1], /object; bind JSON/],
    ['an ArrayBuffer', new ArrayBuffer(3), /object/],
    ['another typed array', new Uint16Array([1]), /object/],
    ['a function', () => 1, /function/],
    ['a symbol', Symbol('s'), /symbol/],
    ['text with NUL', 'a\0b', /NUL/],
  ];
  it.each(refusals)('refuses %s as an argument and goes on working', async (_what, value, words) => {
    const args = ['a', value] as Value[];
    await expect(db().run(insert, args)).rejects.toThrow(words);
    await expect(db().all('SELECT ?, ?', args)).rejects.toThrow(TypeError);
    await expect(db().batch([{ sql: insert, args }])).rejects.toThrow(words);
    await expect(db().read([{ sql: 'SELECT ?, ?', args }])).rejects.toThrow(words);
    expect(await db().one('SELECT count(*) AS n FROM site')).toEqual({ n: 0 });
  });

  it('takes half a surrogate pair as U+FFFD, also from JSON, of which it would make bytes that are no text', async () => {
    const texts = ['\ud800', 'a\udfffb', '\ud83d\ude00', 'no escape: \\ud800', 'é'];
    const each = await db().all('SELECT value AS text FROM json_each(?)', [JSON.stringify(texts)]);
    expect(each).toEqual(texts.map((text) => ({ text: text.toWellFormed() })));
    const escaped = '["\\ud83d\\ude00", "\\uD800"]';
    expect(await db().all('SELECT value AS text FROM json_each(?)', [escaped])).toEqual([
      { text: '\ud83d\ude00' },
      { text: '\ufffd' },
    ]);
  });

  it('refuses too few, too many and named arguments, and arguments that are no array', async () => {
    await expect(db().all('SELECT ?, ?', [1])).rejects.toThrow(/2 arguments needed, 1 given/);
    await expect(db().all('SELECT ?', [1, 2])).rejects.toThrow(/1 arguments needed, 2 given/);
    await expect(db().all('SELECT :a', [1])).rejects.toThrow(/positional/);
    for (const args of [{ 0: 1, length: 1 }, null, new Uint8Array(1), 'x']) {
      await expect(db().all('SELECT ?', args as unknown as Value[])).rejects.toThrow(/must be an array/);
    }
    expect(await db().one("SELECT ?2 AS b, ?1 AS a, '?' AS q, ? AS c", [1, 2, 3])).toEqual({
      a: 1,
      b: 2,
      c: 3,
      q: '?',
    });
  });

  it('refuses transaction control, a second statement and no statement', async () => {
    for (const text of ['BEGIN', ' /* x */ commit', 'ROLLBACK', '-- y\nSAVEPOINT a', 'END', 'RELEASE a']) {
      await expect(db().run(text)).rejects.toThrow(/Use batch, read or script/);
    }
    await expect(db().run('DELETE FROM site; DELETE FROM visit')).rejects.toThrow(/One statement at a time/);
    await expect(db().run(' -- nothing')).rejects.toThrow(/empty/);
    await expect(db().script('CREATE TABLE q (x); COMMIT')).rejects.toThrow(/may not contain COMMIT/);
    expect(await db().all("SELECT 'a;b' AS v; -- the end")).toEqual([{ v: 'a;b' }]);
  });

  it('reports changes and the id of an inserted row, and 0 for anything else', async () => {
    expect(await db().run(insert, ['a', 1])).toEqual({ changes: 1, lastId: 1 });
    expect(await db().run(`${insert}, (?, ?)`, ['b', 1, 'c', 1])).toEqual({ changes: 2, lastId: 3 });
    expect(await db().run('UPDATE site SET n = 2 WHERE id > ?', [1])).toEqual({ changes: 2, lastId: 0 });
    expect(await db().run(`${insert} ON CONFLICT DO NOTHING`, ['a', 1])).toEqual({ changes: 0, lastId: 0 });
    expect(await db().run('SELECT 1')).toEqual({ changes: 0, lastId: 0 });
    expect(await db().run('CREATE TABLE IF NOT EXISTS visit (x)')).toEqual({ changes: 0, lastId: 0 });
    await db().run('INSERT INTO visit (site_id) VALUES (1), (1)');
    expect(await db().run('WITH old AS (SELECT 1 AS id) DELETE FROM site WHERE id IN (SELECT id FROM old)')).toEqual({
      changes: 1,
      lastId: 0,
    });
    expect(await db().one('SELECT count(*) AS n FROM visit')).toEqual({ n: 0 });
  });

  it('gives the rows of RETURNING, many of them, and releases its lock', async () => {
    const rows = await db().all(
      `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 250)
       INSERT INTO site (url) SELECT 'u' || i FROM c WHERE true RETURNING id`,
    );
    expect(rows).toHaveLength(250);
    expect(await db().run('UPDATE site SET n = 1 WHERE id <= 3 RETURNING id')).toEqual({ changes: 3, lastId: 0 });
    expect(await db().one('INSERT INTO site (url) VALUES (?) RETURNING id, url', ['z'])).toEqual({ id: 251, url: 'z' });
    await db().script('CREATE TABLE IF NOT EXISTS lock_probe (x); DROP TABLE lock_probe');
  });

  it('does all of a batch, with a result for each', async () => {
    const results = await db().batch([
      sql(insert, 'a', 1),
      sql('SELECT url FROM site'),
      sql('UPDATE site SET n = 2 RETURNING id, n'),
      sql('DELETE FROM site WHERE id = ?', 99),
    ]);
    expect(results).toEqual([
      { rows: [], changes: 1, lastId: 1 },
      { rows: [{ url: 'a' }], changes: 0, lastId: 0 },
      { rows: [{ id: 1, n: 2 }], changes: 1, lastId: 0 },
      { rows: [], changes: 0, lastId: 0 },
    ]);
    expect(await db().batch([])).toEqual([]);
  });

  it('does nothing of a batch that fails at the first, a middle or the last statement', async () => {
    const good = (url: string) => sql(insert, url, 1);
    const bad = sql(insert, 'dup', 100);
    for (const statements of [
      [bad, good('a')],
      [good('a'), bad, good('b')],
      [good('a'), sql('SELECT nothing FROM nowhere')],
    ]) {
      await expect(db().batch(statements)).rejects.toMatchObject({ name: 'StorageError' });
      expect(await db().one('SELECT count(*) AS n FROM site')).toEqual({ n: 0 });
    }
    expect((await db().batch([good('a'), good('b')])).map((result) => result.changes)).toEqual([1, 1]);
  });

  it('keeps batches apart that are started at once', async () => {
    await db().run(insert, ['counter', 0]);
    const bump = [
      sql("UPDATE site SET n = n + 1 WHERE url = 'counter'"),
      sql("SELECT n FROM site WHERE url = 'counter'"),
    ];
    const results = await Promise.all(Array.from({ length: 20 }, () => db().batch(bump)));
    const seen = results.map((result) => Number(result[1]?.rows[0]?.n)).sort((a, b) => a - b);
    expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it('reads several statements at once and writes nothing doing so', async () => {
    await db().batch([sql(insert, 'a', 1), sql(insert, 'b', 2)]);
    expect(
      await db().read([
        sql('SELECT url FROM site WHERE n = ?', 2),
        sql('WITH s AS (SELECT id FROM site) SELECT count(*) AS n FROM s'),
        sql('SELECT 1 AS x WHERE 0'),
      ]),
    ).toEqual([[{ url: 'b' }], [{ n: 2 }], []]);
    expect(await db().read([])).toEqual([]);
    for (const text of ['DELETE FROM site', "INSERT INTO site (url) VALUES ('c') RETURNING id"]) {
      await expect(db().read([sql('SELECT 1'), sql(text)])).rejects.toThrow(/reading statements only/);
    }
    expect(await db().one('SELECT count(*) AS n FROM site')).toEqual({ n: 2 });
  });

  it('types its errors', async () => {
    await db().run(insert, ['a', 1]);
    expect(await kind(db().run(insert, ['a', 1]))).toBe('unique');
    expect(await kind(db().run('INSERT INTO site (id, url) VALUES (1, ?)', ['b']))).toBe('unique');
    expect(await kind(db().run('INSERT INTO visit (site_id) VALUES (77)'))).toBe('foreign_key');
    expect(await kind(db().batch([sql('INSERT INTO visit (site_id) VALUES (77)')]))).toBe('foreign_key');
    expect(await kind(db().run(insert, ['b', 100]))).toBe('check');
    expect(await kind(db().run(insert, [null, 1]))).toBe('check');
    expect(await kind(db().all('SELECT * FROM nowhere'))).toBe('other');
    await expect(db().all('SELEC 1')).rejects.toThrow(/SELEC 1/);
    await expect(db().run(insert, ['a', 1])).rejects.toThrow('UNIQUE constraint failed: site.url');
    await expect(db().run(insert, ['secret-value', 100])).rejects.not.toThrow(/secret-value/);
  });

  it('runs a script whole or not at all, triggers included', async () => {
    const failing = "INSERT INTO site (url) VALUES ('left'); CREATE TABLE other (x); CREATE TABLE site (y); SELECT 1";
    await expect(db().script(failing)).rejects.toMatchObject({ name: 'StorageError' });
    expect(await db().one("SELECT count(*) AS n FROM site WHERE url = 'left'")).toEqual({ n: 0 });
    expect(await db().all("SELECT name FROM sqlite_schema WHERE name = 'other'")).toEqual([]);
    await db().script(`
      CREATE TRIGGER loud AFTER INSERT ON site BEGIN
        INSERT INTO visit (site_id) VALUES (CASE WHEN 1 THEN new.id END);
        UPDATE site SET n = 9 WHERE id = new.id;
      END;
      INSERT INTO site (url) VALUES ('it''s; BEGIN'); -- COMMIT
    `);
    expect(await db().one('SELECT url, n, (SELECT count(*) FROM visit) AS visits FROM site')).toEqual({
      url: "it's; BEGIN",
      n: 9,
      visits: 1,
    });
  });

  it('sees the columns of a table after they changed', async () => {
    await db().run(insert, ['a', 1]);
    const columns = async () => Object.keys((await db().one('SELECT * FROM site')) ?? {});
    expect(await columns()).toEqual(['id', 'url', 'n', 'x']);
    await db().script('ALTER TABLE site RENAME COLUMN x TO y');
    expect(await columns()).toEqual(['id', 'url', 'n', 'y']);
    await db().run('ALTER TABLE site ADD COLUMN z');
    expect(await columns()).toEqual(['id', 'url', 'n', 'y', 'z']);
  });

  it('lets the later of two columns of one name win, whatever the name', async () => {
    expect(await db().one('SELECT 1 AS a, 2 AS a')).toEqual({ a: 2 });
    const row = await db().one(`SELECT 1 AS "it's ""x""", NULL AS "__proto__", 3 AS "constructor"`);
    expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
    expect(Object.entries(row ?? {})).toContainEqual(['__proto__', null]);
    expect(row?.constructor).toBe(3);
    expect(row?.[`it's "x"`]).toBe(1);
  });

  it('is counted by countingDb', async () => {
    const counting = countingDb(db());
    await counting.run(insert, ['a', 1]);
    await counting.read([sql('SELECT 1'), sql('SELECT 2')]);
    expect(counting.counts).toEqual({ calls: 2, statements: 3 });
    expect(counting.log).toEqual([insert, 'SELECT 1', 'SELECT 2']);
    counting.reset();
    expect(await counting.one('SELECT count(*) AS n FROM site')).toEqual({ n: 1 });
    expect(counting.counts).toEqual({ calls: 1, statements: 1 });
  });

  it('is of no use after close, which may be repeated', async () => {
    const own = await (db().kind === 'embedded' ? openDb(':memory:') : openDb(`http://${server?.host}`));
    await own.run('SELECT 1');
    await own.close();
    await own.close();
    for (const call of [
      () => own.all('SELECT 1'),
      () => own.one('SELECT 1'),
      () => own.run('SELECT 1'),
      () => own.batch([sql('SELECT 1')]),
      () => own.read([sql('SELECT 1')]),
      () => own.read([sql('SELECT 1'), sql('SELECT 1')]),
      () => own.script('SELECT 1'),
    ]) {
      await expect(call()).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('closed') });
    }
  });
}
