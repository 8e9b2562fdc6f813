/** A replica on a real server: which reads it answers, and its behaviour when the server or the file fails. */

import { generateKeyPairSync, sign } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Db } from '../../src/store/driver/db.js';
import { openRemote } from '../../src/store/driver/remote.js';
import { Freshness } from '../../src/store/replica/freshness.js';
import { openReplica, type Replica, type ReplicaOptions } from '../../src/store/replica/replica.js';
import { copyOf, replicaProgram, type Wire, wireTo } from '../robustness/replica-parts.js';
import { tempFolder } from '../support/cleanup.js';
import { pause, random } from '../support/processes/program.js';
import { type Sqld, sqldBinary, sqldMissing, startSqld } from '../support/sqld.js';

describe('freshness', () => {
  function counted(everyMs = 60_000) {
    const syncs: { end: () => void; fail: () => void }[] = [];
    const freshness = new Freshness({
      sync: () => new Promise((end, fail) => syncs.push({ end, fail: () => fail(new Error('no')) })),
      ended: () => Promise.resolve(),
      everyMs,
      retryMs: 60_000,
    });
    freshness.start();
    return { syncs, freshness };
  }
  const soon = () => new Promise((done) => setImmediate(done));

  it('lets a read wait for a sync that began after the write, and many for the same', async () => {
    const { syncs, freshness } = counted();
    freshness.mark();
    const reads = Array.from({ length: 50 }, () => freshness.reached(60_000));
    let read = false;
    void reads[0]?.then(() => (read = true));
    syncs[0]?.end();
    await soon();
    expect([read, freshness.fresh, syncs.length]).toEqual([false, false, 2]);
    syncs[1]?.end();
    expect(new Set(await Promise.all(reads))).toEqual(new Set([true]));
    expect([freshness.fresh, syncs.length]).toEqual([true, 2]);
  });

  it('answers at once when nothing is missing, and says no when the sync fails or takes too long', async () => {
    const { syncs, freshness } = counted();
    syncs[0]?.end();
    await soon();
    expect(await freshness.reached(0)).toBe(true);
    freshness.mark();
    expect(await freshness.reached(5)).toBe(false);
    const waits = freshness.reached(60_000);
    syncs[1]?.fail();
    expect(await waits).toBe(false);
    await soon();
    expect([freshness.fresh, await freshness.reached(60_000)]).toEqual([false, false]);
  });

  it('ends with a sync under way', async () => {
    const { syncs, freshness } = counted();
    freshness.mark();
    const waits = freshness.reached(60_000);
    await freshness.stop(async () => syncs[0]?.fail());
    expect([await waits, syncs.length]).toEqual([false, 1]);
  });
});

const skip = !sqldBinary();

describe.skipIf(skip)(skip ? `a replica — skipped, ${sqldMissing}` : 'a replica', () => {
  let server: Sqld;
  let wire: Wire;
  let writer: Db;
  let program: URL;
  const folder = tempFolder('replica');
  let files = 0;

  beforeAll(async () => {
    [server, program] = await Promise.all([startSqld(), replicaProgram()]);
    wire = await wireTo(server.host);
    writer = openRemote(`http://${server.host}`);
    await writer.run('CREATE TABLE item (id INTEGER PRIMARY KEY, turn INTEGER NOT NULL, text TEXT NOT NULL)');
    await writer.run('CREATE TABLE turn (n INTEGER NOT NULL)');
    await writer.batch([
      { sql: 'INSERT INTO turn VALUES (0)', args: [] },
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
              INSERT INTO item SELECT i, 0, hex(randomblob(200)) FROM n`,
        args: [],
      },
    ]);
  });
  afterAll(async () => {
    await writer?.close();
    await wire?.close();
    await server?.stop();
  });

  interface Opened extends Replica {
    file: string;
    states: string[];
  }
  function open(change: Partial<ReplicaOptions> & { at?: string; scheme?: string } = {}): Opened {
    const { at = wire.host, scheme = 'http', ...options } = change;
    const states: string[] = [];
    const file = options.file ?? join(folder, 'made', `r${files++}.db`);
    const replica = openReplica(`${scheme}://${at}`, {
      file,
      syncMs: 60_000,
      program: program,
      changed: (state) => states.push(state),
      ...options,
    });
    return Object.assign(replica, { file, states });
  }
  const left = ({ file }: Opened) => readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)));
  const live = (replica: Replica) =>
    expect.poll(() => replica.status().state, { timeout: 25_000, interval: 5 }).toBe('live');
  const turnOf = async (db: Db) => (await db.one<{ n: number }>('SELECT n FROM turn'))?.n;
  const nextTurn = async () => {
    const n = Number(await turnOf(writer)) + 1;
    // Every page changes: a copy with half of the transaction shows two turns.
    await writer.batch([
      { sql: 'UPDATE item SET turn = ?', args: [n] },
      { sql: 'UPDATE turn SET n = ?', args: [n] },
    ]);
    return n;
  };

  it('answers from the server until it is there, then by itself, and refuses to write', async () => {
    const replica = open();
    try {
      expect(await turnOf(replica.db)).toBe(await turnOf(writer));
      expect(replica.status()).toMatchObject({ state: 'building', server_reads: 1 });
      await live(replica);
      expect(await turnOf(replica.db)).toBe(0);
      const [queries, syncs] = [wire.queries(), wire.syncs()];
      expect([queries, syncs].every((count) => count > 0)).toBe(true);
      for (let i = 0; i < 50; i++) {
        expect(await replica.db.all('SELECT id FROM item')).toHaveLength(2000);
        expect(await replica.db.read([{ sql: 'SELECT n FROM turn', args: [] }])).toEqual([[{ n: 0 }]]);
      }
      expect([wire.queries() - queries, wire.syncs() - syncs]).toEqual([0, 0]);
      for (const write of [
        () => replica.db.run('DELETE FROM turn'),
        () => replica.db.all('DELETE FROM turn RETURNING n'),
        () => replica.db.batch([{ sql: 'DELETE FROM turn', args: [] }]),
        () => replica.db.script('DELETE FROM turn'),
        () => replica.current.one('DELETE FROM turn RETURNING n'),
      ])
        await expect(write()).rejects.toMatchObject({ name: 'StorageError', kind: 'readonly' });
      expect(await turnOf(writer)).toBe(0);
      // The database, its log, its index and libSQL's metadata, besides the lock: no other user may read any of them.
      const modes = left(replica).map((file) => statSync(join(dirname(replica.file), file)).mode & 0o777);
      expect(modes.length).toBeGreaterThan(4);
      expect(new Set(modes)).toEqual(new Set([0o600]));
    } finally {
      await replica.close();
    }
    expect(left(replica)).toEqual([`${basename(replica.file)}-lock`]);
  });

  it('shows own writes at once, what others wrote after its interval, and both at once to logins', async () => {
    const [slow, quick] = [open(), open({ syncMs: 150 })];
    try {
      await Promise.all([live(slow), live(quick)]);
      await slow.db.one('SELECT 1');
      const before = await turnOf(slow.db);
      const turn = await nextTurn();
      expect(await turnOf(slow.db)).toBe(before);
      await expect.poll(() => turnOf(quick.db), { timeout: 20_000, interval: 10 }).toBe(turn);
      expect(await turnOf(slow.current)).toBe(turn);
      for (let i = 0; i < 20; i++) {
        const own = await nextTurn();
        slow.wrote();
        expect(await turnOf(slow.db)).toBe(own);
      }
      // The server is only asked when the replica took too long to catch up, as it may on a busy machine.
      expect(slow.status().server_reads).toBeLessThan(10);
    } finally {
      await Promise.all([slow.close(), quick.close()]);
    }
  });

  it('never shows half a transaction, whatever syncs meanwhile', async () => {
    const replica = open({ syncMs: 1 });
    try {
      await live(replica);
      let done = false;
      let [reads, last] = [0, -1];
      const writing = (async () => {
        for (let i = 0; i < 15 || reads < 50; i++) await nextTurn();
        done = true;
      })();
      while (!done) {
        const [row] = await replica.db.all<{ low: number; high: number; n: number }>(
          'SELECT min(turn) AS low, max(turn) AS high, (SELECT n FROM turn) AS n FROM item',
        );
        expect([row?.low, row?.high]).toEqual([row?.n, row?.n]);
        expect(row?.n).toBeGreaterThanOrEqual(last);
        last = row?.n ?? last;
        reads++;
        await pause(1);
      }
      await writing;
    } finally {
      await replica.close();
    }
  });

  it('goes on alone when the server is away or silent, and comes back by itself', async () => {
    const replica = open({ stuckMs: 2000, syncMs: 200 });
    try {
      await live(replica);
      const before = await turnOf(replica.db);
      wire.hold(true);
      replica.wrote();
      const began = performance.now();
      const answers = await Promise.all(Array.from({ length: 20 }, () => turnOf(replica.current)));
      expect(new Set(answers)).toEqual(new Set([before]));
      expect(performance.now() - began).toBeLessThan(10_000);
      expect(replica.status().state).toBe('away');
      const again = performance.now();
      expect(await turnOf(replica.current)).toBe(before);
      expect(performance.now() - again).toBeLessThan(1000);
      wire.hold(false);
      await live(replica);
      await server.kill();
      expect(await turnOf(replica.current)).toBe(before);
      expect(replica.status().state).toBe('away');
      await server.start();
      await live(replica);
      const turn = await nextTurn();
      expect(await turnOf(replica.current)).toBe(turn);
    } finally {
      await replica.close();
    }
  }, 80_000);

  it.each(['a read', 'a sync'])(
    'is made anew when %s finds its file damaged; the server answers meanwhile',
    async (finder) => {
      const replica = open();
      try {
        await live(replica);
        // In place, like a failing disk: both the file and its log, behind their headers.
        for (const file of [copyOf(replica.file), `${copyOf(replica.file)}-wal`]) {
          const handle = openSync(file, 'r+');
          writeSync(handle, Buffer.alloc(Math.max(0, statSync(file).size - 4200), 0x5a), 0, undefined, 4200);
          closeSync(handle);
        }
        if (finder === 'a sync') {
          await writer.run('UPDATE turn SET n = n + 1');
          replica.wrote();
        }
        const turn = await turnOf(writer);
        const rows = await replica.db.all('SELECT text FROM item WHERE length(text) = 400');
        expect([rows.length, await turnOf(replica.db)]).toEqual([2000, turn]);
        expect(replica.states.slice(0, 2)).toEqual(['live', 'building']);
        await live(replica);
        expect(await replica.db.all('SELECT text FROM item WHERE length(text) = 400')).toEqual(rows);
        expect(await replica.db.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      } finally {
        await replica.close();
      }
    },
  );

  it('leaves reads to a server that does not let it sync, and is rebuilt when that lasts', async () => {
    const replica = open({ syncMs: 100, rebuildAfterMs: 300 });
    try {
      await live(replica);
      wire.replicate(false);
      const turn = await nextTurn();
      replica.wrote();
      expect(await turnOf(replica.db)).toBe(turn);
      await expect.poll(() => replica.states.at(-1), { timeout: 15_000, interval: 20 }).toBe('building');
      expect(replica.states).toEqual(['live', 'behind', 'building']);
      const next = await nextTurn();
      expect(await turnOf(replica.db)).toBe(next);
      wire.replicate(true);
      await live(replica);
      expect(await turnOf(replica.db)).toBe(next);
    } finally {
      wire.replicate(true);
      await replica.close();
    }
  }, 80_000);

  it('follows a server that has another database, in place', async () => {
    const other = await startSqld();
    const at = await wireTo(server.host);
    const replica = open({ at: at.host, syncMs: 100, stuckMs: 2000 });
    let moved: Wire | undefined;
    try {
      await live(replica);
      const otherWriter = openRemote(`http://${other.host}`);
      await otherWriter.run('CREATE TABLE turn (n INTEGER NOT NULL)');
      await otherWriter.run('INSERT INTO turn VALUES (7777)');
      await otherWriter.close();
      const port = Number(at.host.split(':')[1]);
      await at.close();
      moved = await wireTo(other.host, 0, port);
      await expect.poll(() => turnOf(replica.db), { timeout: 20_000, interval: 20 }).toBe(7777);
      await live(replica);
      expect(await turnOf(replica.db)).toBe(7777);
    } finally {
      await replica.close();
      await moved?.close();
      await other.stop();
    }
  }, 80_000);

  it('has its file to itself, and leaves the files of others alone', async () => {
    const foreign = join(folder, 'precious.db');
    writeFileSync(foreign, 'precious');
    expect(() => open({ file: foreign })).toThrow(/^SITEFLEET_DB_REPLICA: .*precious\.db exists, and is no replica/);
    expect(readFileSync(foreign, 'utf8')).toBe('precious');
    expect(() => open({ file: folder })).toThrow(/SITEFLEET_DB_REPLICA/);
    const replica = open();
    await live(replica);
    expect(() => open({ file: replica.file })).toThrow(/in use by another process/);
    expect(await turnOf(replica.db)).toBe(await turnOf(writer));
    await replica.close();
    // Files left behind by a killed process, in any state.
    for (const ending of ['', '-wal', '-client_wal_index', '-journal'])
      writeFileSync(`${replica.file}-0123abcd${ending}`, 'left behind');
    writeFileSync(`${replica.file}-mine`, 'of somebody else');
    const next = open({ file: replica.file });
    await live(next);
    expect(await turnOf(next.db)).toBe(await turnOf(writer));
    await next.close();
    expect(left(next)).toEqual([`${basename(next.file)}-lock`, `${basename(next.file)}-mine`]);
  });

  it('says what is wrong when the program or the server cannot replicate, and reads on from the server', async () => {
    const reasons: (string | null)[] = [];
    const replica = open({
      program: new URL('file:///nowhere.mjs'),
      changed: (_state, reason) => reasons.push(reason),
    });
    expect(await turnOf(replica.db)).toBe(await turnOf(writer));
    await expect.poll(() => replica.status().failures, { timeout: 5000 }).toBeGreaterThan(0);
    expect(await turnOf(replica.current)).toBe(await turnOf(writer));
    expect(replica.status().state).toBe('building');
    await replica.close();
  });

  it.each(['http', 'ws'])('shows its token to a server behind %s://', async (scheme) => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ format: 'jwk' }).x ?? '';
    const locked = await startSqld({ SQLD_AUTH_JWT_KEY: raw });
    try {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claim = `${part({ alg: 'EdDSA', typ: 'JWT' })}.${part({ a: 'rw' })}`;
      const token = `${claim}.${sign(null, Buffer.from(claim), privateKey).toString('base64url')}`;
      const inside = openRemote(`${scheme}://${locked.host}`, token);
      await inside.run('CREATE TABLE turn (n INTEGER NOT NULL)');
      await inside.run('INSERT INTO turn VALUES (5)');
      await inside.close();
      for (const [suffix, given] of [
        ['', token],
        [`?authToken=${token}`, undefined],
      ] as const) {
        const replica = open({ at: `${locked.host}${suffix}`, scheme, token: given });
        await live(replica);
        expect([await turnOf(replica.db), replica.status().server_reads]).toEqual([5, 0]);
        await replica.close();
      }
      const reasons: (string | null)[] = [];
      const outside = open({
        at: locked.host,
        scheme,
        token: `${claim}.AAAA`,
        changed: (_state, reason) => reasons.push(reason),
      });
      await expect.poll(() => reasons.length, { timeout: 10_000 }).toBeGreaterThan(0);
      expect(outside.status().state).toBe('building');
      expect(reasons.join()).not.toContain(claim);
      await outside.close();
    } finally {
      await locked.stop();
    }
  });

  it('is closed at any moment', async () => {
    const chance = random(3);
    for (let i = 0; i < 8; i++) {
      const replica = open({ syncMs: 1 });
      const reading = (async () => {
        for (;;) await turnOf(replica.current);
      })().catch((error: unknown) => error);
      await pause(chance() * 250);
      await replica.close();
      expect(await reading).toMatchObject({ kind: 'unavailable' });
      expect(left(replica)).toEqual([`${basename(replica.file)}-lock`]);
    }
  });
});
