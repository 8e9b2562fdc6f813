import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcp, type Socket } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../src/store/driver/db.js';
import { openDb } from '../../src/store/driver/open.js';
import { openRemote } from '../../src/store/driver/remote.js';
import { closing } from '../support/cleanup.js';
import { listenLocally } from '../support/local-server.js';
import { needs } from '../support/needs.js';
import { type Sqld, startSqld } from '../support/sqld.js';

/** How the loopback server handles the next requests, in order; after the last, it answers normally. */
type Manner = 'drop' | 'silence' | 'late' | 'together' | { status: number } | { body: string };

/** A server's answer to a write that waited too long for another one. */
const BUSY: Manner = {
  body: JSON.stringify({
    baton: null,
    base_url: null,
    results: [
      { type: 'error', error: { message: 'SQLite error: database is locked', code: 'SQLITE_BUSY' } },
      { type: 'ok', response: { type: 'close' } },
    ],
  }),
};

/** Implements just enough of the protocol (version 2) to answer every statement with one row `{ n: 1 }`. */
class Puppet {
  manners: Manner[] = [];
  /** SQL of the requests that arrived, including those that got no answer. */
  seen: string[] = [];
  /** Maximum number of concurrent requests. */
  most = 0;
  #open = 0;
  readonly #server: Server;
  url = '';
  close = async (): Promise<void> => undefined;

  constructor() {
    this.#server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { requests } = JSON.parse(body) as { requests: Array<{ type: string; stmt?: { sql: string } }> };
      this.seen.push(...requests.flatMap((each) => each.stmt?.sql ?? []));
      this.most = Math.max(this.most, ++this.#open);
      const manner = this.manners.shift();
      if (manner === 'silence') return void response.once('close', () => this.#open--);
      if (manner === 'late') await new Promise((done) => setTimeout(done, 50));
      // Answered when another one has come as well.
      if (manner === 'together') await expect.poll(() => this.most).toBe(2);
      // Before the answer: the next request may come before this one is known to be closed.
      this.#open--;
      if (manner === 'drop') return void request.socket.destroy();
      if (typeof manner === 'object' && 'status' in manner)
        return void response.writeHead(manner.status).end('token=hunter2');
      response.setHeader('content-type', 'application/json');
      const told = typeof manner === 'object' ? manner.body : undefined;
      response.end(told ?? JSON.stringify({ baton: null, base_url: null, results: requests.map(reply) }));
    });
  }

  async listen(): Promise<void> {
    const { url, close } = await listenLocally(this.#server);
    this.url = url;
    this.close = close;
  }
}

function reply({ type }: { type: string }) {
  const result = {
    cols: [{ name: 'n', decltype: null }],
    rows: [[{ type: 'integer', value: '1' }]],
    affected_row_count: 0,
    last_insert_rowid: null,
  };
  return { type: 'ok', response: type === 'execute' ? { type, result } : { type } };
}

describe('a server that misbehaves', () => {
  let puppet: Puppet;
  beforeEach(async () => {
    puppet = new Puppet();
    await puppet.listen();
  });

  it('is asked a second time for a read whose connection broke, not a third time', async () => {
    const db = closing(openRemote(puppet.url));
    puppet.manners = ['drop'];
    expect(await db.one('SELECT 1 AS n')).toEqual({ n: 1 });
    expect(puppet.seen).toHaveLength(2);
    puppet.manners = ['drop', 'drop'];
    await expect(db.one('SELECT 1 AS n')).rejects.toMatchObject({ name: 'StorageError', kind: 'unavailable' });
    expect(puppet.seen).toHaveLength(4);
  });

  it('is never asked twice to write', async () => {
    const db = closing(openRemote(puppet.url));
    for (const text of [
      'DELETE FROM t',
      'INSERT INTO t VALUES (1) RETURNING n',
      'WITH x AS (SELECT 1) UPDATE t SET n = 1',
    ]) {
      puppet.manners = ['drop'];
      puppet.seen = [];
      await expect(db.all(text)).rejects.toMatchObject({ kind: 'unavailable' });
      expect(puppet.seen).toEqual([text]);
    }
  });

  it('is asked again for a write that it refused for another one, until the time limit', async () => {
    const db = openRemote(puppet.url, undefined, { timeoutMs: 5_000 });
    puppet.manners = [BUSY, BUSY];
    await db.run('DELETE FROM t');
    expect(puppet.seen).toHaveLength(3);
    await db.close();
    const impatient = closing(openRemote(puppet.url, undefined, { timeoutMs: 400 }));
    puppet.manners = Array<Manner>(100).fill(BUSY);
    await expect(impatient.run('DELETE FROM t')).rejects.toMatchObject({ name: 'StorageError', kind: 'busy' });
    expect(puppet.seen.length).toBeLessThan(3 + 100);
  });

  it('has one write at a time to order, whatever is begun at once', async () => {
    const db = openRemote(puppet.url);
    puppet.manners = Array<Manner>(20).fill('late');
    await Promise.all(Array.from({ length: 20 }, () => db.run('DELETE FROM t')));
    expect([puppet.seen.length, puppet.most]).toEqual([20, 1]);
    puppet.manners = ['together', 'together'];
    await Promise.all([db.all('SELECT n FROM t'), db.all('SELECT n FROM t')]);
    expect(puppet.most).toBe(2);
  });

  it('that stays silent holds up a write no longer than the time limit, those behind it included', async () => {
    const db = closing(openRemote(puppet.url, undefined, { timeoutMs: 100 }));
    puppet.manners = Array<Manner>(20).fill('silence');
    const ends = await Promise.allSettled(Array.from({ length: 20 }, () => db.run('DELETE FROM t')));
    expect(ends.map(({ status }) => status)).toEqual(Array(20).fill('rejected'));
    expect(puppet.seen.length).toBeLessThan(20);
  });

  it('is given up after the time limit, also for a read', async () => {
    const impatient = closing(openRemote(puppet.url, undefined, { timeoutMs: 100 }));
    puppet.manners = ['silence'];
    await expect(impatient.one('SELECT 1 AS n')).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'The storage server did not answer within 100 ms.',
    });
    // It is not asked again. On a busy machine the limit may pass before it was asked at all.
    expect(puppet.seen.length).toBeLessThanOrEqual(1);
    puppet.manners = [];
    // Its limit has passed for this connection only: the next one is answered.
    const patient = closing(openRemote(puppet.url));
    expect(await patient.one('SELECT 1 AS n')).toEqual({ n: 1 });
  });

  it('that refuses the token and one that is out of order get different errors, which do not repeat what they sent', async () => {
    const db = closing(openRemote(puppet.url, 'secret-token'));
    for (const [status, words] of [
      [401, /refused the access token/],
      [403, /refused the access token/],
      [503, /status 503/],
    ] as const) {
      puppet.manners = [{ status }];
      const error: unknown = await db.one('SELECT 1 AS n').catch((caught: unknown) => caught);
      expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringMatching(words) });
      expect(String(error)).not.toMatch(/hunter2|secret-token/);
    }
  });

  it('that answers nonsense gives an error, not rows', async () => {
    const db = closing(openRemote(puppet.url));
    for (const body of ['<html>', '{}', '{"results":[]}']) {
      puppet.manners = [{ body }];
      await expect(db.one('SELECT 1 AS n')).rejects.toMatchObject({
        name: 'StorageError',
        message: expect.stringContaining('not lead to a libSQL server'),
      });
    }
    expect(await db.one('SELECT 1 AS n')).toEqual({ n: 1 });
  });

  it('is not asked at all by a reader that would write', async () => {
    const db = closing(await openDb(puppet.url, { mode: 'reader' }));
    for (const call of [
      () => db.run('DELETE FROM t'),
      () => db.all('INSERT INTO t VALUES (1) RETURNING n'),
      () => db.batch([sql('DELETE FROM t')]),
      () => db.script('DROP TABLE t'),
    ]) {
      await expect(call()).rejects.toMatchObject({ kind: 'readonly' });
    }
    expect(puppet.seen).toEqual([]);
    expect(await db.one('SELECT 1 AS n')).toEqual({ n: 1 });
  });

  it.each(['http', 'ws'])('is reported as unavailable when no server listens (%s)', async (scheme) => {
    const { host } = new URL(puppet.url);
    await puppet.close();
    const db = closing(openRemote(`${scheme}://${host}`));
    await expect(db.one('SELECT 1')).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(db.run('DELETE FROM t')).rejects.toMatchObject({ kind: 'unavailable' });
    await db.close();
    await puppet.listen();
  });
});

it.each(['http://', 'https://host?x=1&authToken=hunter2', 'ws://host?tls=1'])('refuses the URL %s', async (url) => {
  const error: unknown = await openDb(url).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).not.toContain('hunter2');
});

describe('a real server', needs('sqld'), () => {
  let server: Sqld | undefined;
  afterAll(() => server?.stop());

  it.each(['http', 'ws'])('may be restarted, and the connection recovers on its own (%s)', async (scheme) => {
    server ??= await startSqld();
    const db = openRemote(`${scheme}://${server.host}`);
    await db.script('CREATE TABLE IF NOT EXISTS kept (n INTEGER)');
    await db.run('INSERT INTO kept VALUES (?)', [1]);
    await server.kill();
    await expect(db.all('SELECT n FROM kept')).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(db.run('DELETE FROM kept')).rejects.toMatchObject({ kind: 'unavailable' });
    await server.start();
    expect((await db.all('SELECT n FROM kept')).length).toBeGreaterThan(0);
  });

  it.each(['http', 'ws'])('may fall silent: later calls take a new connection (%s)', async (scheme) => {
    server ??= await startSqld();
    const door = await freezable(server.host);
    const db = closing(openRemote(`${scheme}://127.0.0.1:${door.port}`, undefined, { timeoutMs: 1500 }));
    expect(await db.one('SELECT 1 AS n')).toEqual({ n: 1 });
    door.freeze();
    await expect(db.one('SELECT 2 AS n')).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('1500 ms'),
    });
    expect(await db.one('SELECT 3 AS n')).toEqual({ n: 3 });
  });

  it('accepts a valid token only', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64url');
    const locked = await startSqld({ SQLD_AUTH_JWT_KEY: raw });
    try {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claim = `${part({ alg: 'EdDSA', typ: 'JWT' })}.${part({ a: 'rw' })}`;
      const token = `${claim}.${sign(null, Buffer.from(claim), privateKey).toString('base64url')}`;
      for (const scheme of ['http', 'ws']) {
        const inside = await openDb(`${scheme}://${locked.host}`, { token });
        expect(await inside.one('SELECT 1 AS n')).toEqual({ n: 1 });
        await inside.close();
        for (const wrong of [undefined, `${claim}.AAAA`]) {
          const outside = await openDb(`${scheme}://${locked.host}`, { token: wrong });
          await expect(outside.one('SELECT 1 AS n')).rejects.toMatchObject({ kind: 'unavailable' });
          await outside.close();
        }
      }
    } finally {
      await locked.stop();
    }
  });
});

/** A proxy to the server that can freeze connections: they stay open, but no data passes. */
async function freezable(host: string) {
  const [name, port] = host.split(':');
  const pairs = new Set<[Socket, Socket]>();
  const server = createTcp((near) => {
    const far = connect(Number(port), name);
    pairs.add([near, far]);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far);
    far.pipe(near);
  });
  const { port: ownPort } = await listenLocally(server);
  return {
    port: ownPort,
    freeze() {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.pause();
        far.pause();
      }
    },
  };
}
