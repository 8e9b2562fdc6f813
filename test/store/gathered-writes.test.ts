/**
 * Writes ready at the same time are stored together, but stay independent: in their answers, and in their failures.
 */

import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Db, StorageError, sql } from '../../src/store/driver/db.js';
import { gatherWrites } from '../../src/store/driver/gathered-writes.js';
import { openDb } from '../../src/store/driver/open.js';
import { closing, tempFolder } from '../support/cleanup.js';
import { type CountingDb, countingDb } from '../support/counting-db.js';

describe('writes that are ready together', () => {
  let counted: CountingDb;
  let reader: Db;
  let db: Db;
  let failing: StorageError | null;
  let slow: Promise<void> | null;
  beforeEach(async () => {
    const url = `file:${join(tempFolder('gathered-writes'), 'a.db')}`;
    const real = await openDb(url, { mode: 'writer' });
    failing = null;
    slow = null;
    const faulty: Db = {
      ...countingDb(real),
      batch: async (statements) => {
        await slow;
        if (failing !== null) throw failing;
        return real.batch(statements);
      },
    };
    counted = countingDb(faulty);
    db = closing(gatherWrites(counted));
    await db.script('CREATE TABLE t (n INTEGER PRIMARY KEY, note TEXT)');
    reader = closing(await openDb(url, { mode: 'reader' }));
    counted.reset();
  });
  const insert = (n: number) => sql('INSERT INTO t (n) VALUES (?)', n);
  const stored = async () => (await reader.all('SELECT n FROM t ORDER BY n')).map(({ n }) => n);

  it('share a transaction, in their order, and each gets its own results', async () => {
    const results = await Promise.all([
      db.batch([insert(1), insert(2)]),
      db.batch([]),
      db.batch([sql("UPDATE t SET note = 'seen'")]),
      // Started a few steps later in the same turn.
      Promise.resolve().then(() => db.batch([insert(3), sql('SELECT n, note FROM t ORDER BY n')])),
    ]);
    expect(results.map((each) => each.map(({ changes, lastId }) => [changes, lastId]))).toEqual([
      [
        [1, 1],
        [1, 2],
      ],
      [],
      [[2, 0]],
      [
        [1, 3],
        [0, 0],
      ],
    ]);
    expect(results[3]?.[1]?.rows).toEqual([
      { n: 1, note: 'seen' },
      { n: 2, note: 'seen' },
      { n: 3, note: null },
    ]);
    expect(counted.counts).toEqual({ calls: 1, statements: 5 });
  });

  it('are answered when others can read them', async () => {
    const seen = await Promise.all([1, 2, 3].map((n) => db.batch([insert(n)]).then(stored)));
    expect(seen).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  it('share several transactions when there are many', async () => {
    await Promise.all(Array.from({ length: 45 }, (_, n) => db.batch([insert(n)])));
    expect(await stored()).toEqual(Array.from({ length: 45 }, (_, n) => n));
    expect(counted.counts.calls).toBe(3);
  });

  it('wait for a transaction under way and then share the next one, single statements too', async () => {
    let go = () => {};
    slow = new Promise((resolve) => {
      go = resolve;
    });
    const first = db.batch([insert(1)]);
    await expect.poll(() => counted.counts.calls).toBe(1);
    slow = null;
    const later = [db.batch([insert(2), insert(3)]), db.run('INSERT INTO t (n) VALUES (?)', [7])];
    const changed = db.run("UPDATE t SET note = 'seen'");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([counted.counts.calls, await stored()]).toEqual([1, []]);
    go();
    await first;
    expect(await Promise.all(later)).toMatchObject([[{ lastId: 2 }, { lastId: 3 }], { changes: 1, lastId: 7 }]);
    expect(await changed).toEqual({ changes: 4, lastId: 0 });
    expect(counted.counts).toEqual({ calls: 2, statements: 5 });
  });

  it('fail alone, and whole', async () => {
    const outcomes = await Promise.allSettled([
      db.batch([insert(1)]),
      db.batch([insert(2), insert(1)]),
      db.batch([insert(3), sql('INSERT INTO nowhere VALUES (1)')]),
      db.batch([insert(4)]),
    ]);
    expect(outcomes).toMatchObject([
      { status: 'fulfilled', value: [{ changes: 1, lastId: 1 }] },
      { status: 'rejected', reason: { name: 'StorageError', kind: 'unique' } },
      { status: 'rejected', reason: { name: 'StorageError' } },
      { status: 'fulfilled', value: [{ changes: 1, lastId: 4 }] },
    ]);
    expect(await stored()).toEqual([1, 4]);
  });

  it('fail together where each would wait for the same lock again', async () => {
    failing = new StorageError('busy', 'database is locked');
    const outcomes = await Promise.allSettled([db.batch([insert(1)]), db.batch([insert(2)])]);
    expect(outcomes).toEqual([
      { status: 'rejected', reason: failing },
      { status: 'rejected', reason: failing },
    ]);
    expect(counted.counts.calls).toBe(1);
    failing = null;
    await db.batch([insert(3)]);
    expect(await stored()).toEqual([3]);
  });

  it('are stored before the database is closed', async () => {
    const waiting = [db.batch([insert(1)]), db.batch([insert(2), insert(1)]), db.batch([insert(3)])];
    const [outcomes] = await Promise.all([Promise.allSettled(waiting), db.close()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await stored()).toEqual([1, 3]);
  });

  it('do not wait for their turn without end', async () => {
    let go = () => {};
    slow = new Promise((resolve) => {
      go = resolve;
    });
    const first = db.batch([insert(1)]);
    await expect.poll(() => counted.counts.calls).toBe(1);
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() - 31_000);
    const late = db.batch([insert(2)]);
    now.mockRestore();
    const later = db.batch([insert(3)]);
    go();
    expect(await Promise.allSettled([first, late, later])).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { name: 'StorageError', kind: 'busy' } },
      { status: 'fulfilled' },
    ]);
    expect(await stored()).toEqual([1, 3]);
  });
});
