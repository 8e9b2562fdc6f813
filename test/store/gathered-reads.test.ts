/** Reads started together are sent together, but stay independent: in their answers, and in their failures. */

import { beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../src/store/driver/db.js';
import { gatherReads } from '../../src/store/driver/gathered-reads.js';
import { openDb } from '../../src/store/driver/open.js';
import { closing } from '../support/cleanup.js';
import { type CountingDb, countingDb } from '../support/counting-db.js';

describe('reads that begin together', () => {
  let counted: CountingDb;
  let db: ReturnType<typeof gatherReads>;
  beforeEach(async () => {
    counted = countingDb(await openDb(':memory:', { mode: 'writer' }));
    db = closing(gatherReads(counted));
    await db.script('CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2), (3)');
    counted.reset();
  });

  it('leave as one call, and each gets its own rows', async () => {
    const found = await Promise.all([
      db.one('SELECT max(n) AS n FROM t'),
      db.all('SELECT n FROM t WHERE n < ? ORDER BY n', [3]),
      db.read([sql('SELECT count(*) AS n FROM t'), sql('SELECT n FROM t WHERE n = ?', 9)]),
      // Started a few steps later in the same turn.
      Promise.resolve().then(() => db.one('SELECT min(n) AS n FROM t')),
      db.one('SELECT n FROM t WHERE n = ?', [9]),
      db.read([]),
    ]);
    expect(found).toEqual([{ n: 3 }, [{ n: 1 }, { n: 2 }], [[{ n: 3 }], []], { n: 1 }, undefined, []]);
    expect(counted.counts).toEqual({ calls: 1, statements: 6 });
  });

  it('leave in several calls when there are many', async () => {
    const found = await Promise.all(Array.from({ length: 100 }, (_, n) => db.one('SELECT ? AS n', [n])));
    expect(found).toEqual(Array.from({ length: 100 }, (_, n) => ({ n })));
    expect(counted.counts.calls).toBe(5);
  });

  it('fail alone', async () => {
    const [good, bad, other] = await Promise.allSettled([
      db.one('SELECT max(n) AS n FROM t'),
      db.all('SELECT n FROM nowhere'),
      db.read([sql('SELECT 1 AS n')]),
    ]);
    expect(good).toEqual({ status: 'fulfilled', value: { n: 3 } });
    expect(bad).toMatchObject({ status: 'rejected', reason: { name: 'StorageError' } });
    expect(other).toEqual({ status: 'fulfilled', value: [[{ n: 1 }]] });
  });

  it('see what was written before they began, and a statement that writes is none of them', async () => {
    expect(await db.all('INSERT INTO t VALUES (4) RETURNING n')).toEqual([{ n: 4 }]);
    expect(await db.one('UPDATE t SET n = 5 WHERE n = 4 RETURNING n')).toEqual({ n: 5 });
    expect(await db.one('SELECT max(n) AS n FROM t')).toEqual({ n: 5 });
    expect(counted.counts).toEqual({ calls: 3, statements: 3 });
  });
});
