/**
 * Services that read from a replica, as processes: which data they show and when, through failures of the server and of
 * themselves.
 */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createService } from '../../src/app/service.js';
import { asServiceError } from '../../src/core/errors.js';
import { openEmbedded } from '../../src/store/driver/embedded.js';
import { hashPassword } from '../../src/store/vault/vault.js';
import { everyOperation } from '../operations/cases.js';
import { endProcess, tempFolder } from '../support/cleanup.js';
import { ADMIN, type Answer, type TestApp, testApp, testConfig } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { type Commands, commands, type Served, type Started } from '../support/processes/commands.js';
import { pause, random } from '../support/processes/program.js';
import { type Sqld, sqldBinary, sqldMissing, startSqld } from '../support/sqld.js';
import { copyOf, replicaProgram, type Wire, wireTo } from './replica-parts.js';
import { shortOrLong } from './soak.js';

const SITES = 4;
/** Each is created and then changed. */
const TAGS = shortOrLong(18, 1000);
const KILLS = shortOrLong(3, 40);
const RESTARTS = shortOrLong(1, 10);
/** All change in each transaction, which spans some twenty pages. */
const ROWS = 100;
const PASSWORD = 'correct horse';
const SECRET = 'ab'.repeat(32);
const skip = !sqldBinary();

/** The only child is the process that syncs. */
function childrenOf({ child: { pid } }: Started<Served>): number[] {
  return (readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []).map(Number);
}

describe.skipIf(skip)(skip ? `a service with a replica — skipped, ${sqldMissing}` : 'a service with a replica', () => {
  const folder = tempFolder('replicas');
  let server: Sqld;
  let wire: Wire;
  /** To the service, this is another process on the same server. */
  let other: TestApp;
  let shell: Commands;
  let program: URL;

  beforeAll(async () => {
    server = await startSqld();
    [wire, shell, program] = await Promise.all([wireTo(server.host, 2), commands(), replicaProgram()]);
    other = await testApp({
      sites: SITES,
      jobs: false,
      realClock: true,
      config: { db: `http://${server.host}`, secret_key: SECRET, job_chunk: 5, job_delay_ms: 0, batch_threshold: 3 },
    });
    for (let i = 0; i < SITES; i++) await other.connect(i);
  });
  // A process left running by a failed test would lock its file for the retry.
  afterEach(() => shell.close());
  afterAll(async () => {
    await other?.close();
    await wire?.close();
    await server?.stop();
  });

  const environment = (file: string, change: Record<string, string> = {}) => ({
    SITEFLEET_DB: `http://${wire.host}`,
    SITEFLEET_DB_REPLICA: join(folder, file),
    SITEFLEET_SECRET_KEY: SECRET,
    SITEFLEET_ADMIN_PASSWORD: PASSWORD,
    SITEFLEET_ALLOW_PRIVATE_SITES: '1',
    ...change,
  });
  const metric = async ({ said }: Started<Served>, line: string): Promise<number> => {
    const text = await (await fetch(`${said.url}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((each) => each.startsWith(`${line} `))
        ?.split(' ')[1] ?? Number.NaN,
    );
  };
  const live = (service: Started<Served>) =>
    expect
      .poll(() => metric(service, 'sitefleet_db_replica_state{state="live"}'), { interval: 100 })
      .toBe(1)
      .catch((error: unknown) => {
        throw new Error(`The replica was not made:\n${service.errors()}`, { cause: error });
      });
  let token = '';
  async function serve(file: string, change: Record<string, string> = {}): Promise<Started<Served>> {
    const service = await shell.serve(environment(file, change));
    token ||= service.said.api_key ?? '';
    await live(service);
    return service;
  }

  const bearer = () => ({ authorization: `Bearer ${token}` });
  const json = { 'content-type': 'application/json' };
  async function send(url: string, init: RequestInit = {}): Promise<{ status: number; body: Answer }> {
    const response = await fetch(url, { ...init, headers: { ...bearer(), ...(init.headers ?? {}) } });
    return { status: response.status, body: await response.json() };
  }
  const addTag = (to: Served, name: string) =>
    send(`${to.v2}/tags/add`, { method: 'POST', headers: json, body: JSON.stringify({ name }) });
  const readTag = (from: Served, id: number, headers: Record<string, string> = {}) =>
    send(`${from.v2}/tags/${id}`, { headers });

  type Ask = (name: string, input: Record<string, unknown>) => Promise<Answer>;
  const login = { authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}` };
  const byRun =
    (to: Served): Ask =>
    async (name, input) => {
      const url = `${to.abilities}/svc/${name}-v1/run`;
      const query = Object.entries(input).map(([key, value]) => `input[${key}]=${encodeURIComponent(String(value))}`);
      const { body } = name.startsWith('get-')
        ? await send(`${url}?${query.join('&')}`, { headers: login })
        : await send(url, { method: 'POST', headers: { ...login, ...json }, body: JSON.stringify({ input }) });
      return body;
    };
  const byMcp =
    (to: Served): Ask =>
    async (name, input) => {
      const tool = `svc-${name}-v1`;
      const version = '2026-07-28';
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const { body } = await send(to.mcp, {
        method: 'POST',
        headers: {
          ...json,
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': version,
          'mcp-method': 'tools/call',
          'mcp-name': tool,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: tool, arguments: input, _meta },
        }),
      });
      return body.result?.structuredContent ?? body;
    };
  const byRest =
    (to: Served): Ask =>
    async (name, { tag_id, ...input }) => {
      if (name === 'add-tag') return (await addTag(to, String(input.name))).body.data;
      if (name === 'get-tag') return (await readTag(to, Number(tag_id))).body.data;
      const change = { method: 'PUT', headers: json, body: JSON.stringify(input) };
      return (await send(`${to.v2}/tags/${tag_id}/edit`, change)).body;
    };

  it('answers every reading operation without a word to the server, and as the server would', async () => {
    const service = await createService({
      config: testConfig({
        db: `http://${wire.host}`,
        secret_key: SECRET,
        db_replica: join(folder, 'every.db'),
        db_replica_sync_ms: 100,
      }),
      replicaProgram: program,
    });
    try {
      const metrics = async () => (await (await service.http()).request('http://127.0.0.1:8787/metrics')).text();
      await expect.poll(metrics, { interval: 20 }).toContain('replica_state{state="live"} 1');
      const reads = new Map(
        service.operations
          .filter(({ effect, engine }) => effect === 'read' && !engine)
          .map((operation) => [operation.id.replace(/^svc\/|-v1$/g, ''), operation]),
      );
      const local = async (name: string, input: object) => {
        const operation = reads.get(name);
        if (operation === undefined) throw new Error(`${name} does not only read`);
        const caller = { actor: ADMIN, request_id: 'test', signal: new AbortController().signal };
        return service.invoke(operation, input, caller).catch(asServiceError);
      };
      const [queries, syncs] = [wire.queries(), wire.syncs()];
      const compared = new Set<string>();
      await everyOperation(other, SITES, async ({ name, input }) => {
        const asked = () => other.call(name, input).catch(asServiceError);
        let answer = await asked();
        if (reads.has(name)) {
          const compare = async () => {
            const own = await local(name, input);
            // Some answers contain the time of their request, in seconds.
            if (!isDeepStrictEqual(own, answer)) answer = await asked();
            expect(own).toEqual(answer);
          };
          await vi.waitFor(compare, { interval: 20, timeout: 120_000 });
          compared.add(name);
        }
        if (answer instanceof Error) throw answer;
        return answer;
      });
      expect([...reads.keys()].filter((name) => !compared.has(name))).toEqual([]);
      expect(wire.queries() - queries).toBe(0);
      expect(wire.syncs() - syncs).toBeGreaterThan(0);
      expect(await metrics()).toContain('sitefleet_db_replica_server_reads_total 0');
    } finally {
      await service.stop();
    }
  });

  it(`shows ${2 * TAGS} writes to who wrote them, over all ways in, and others within its interval`, async () => {
    // The first part only passes if the service syncs after its own writes: the interval is far too long.
    const service = await serve('own.db', { SITEFLEET_DB_REPLICA_SYNC_MS: '600000' });
    const ways = [byMcp, byRun, byRest].map((way) => way(service.said));
    for (let i = 0; i < TAGS; i++) {
      const [write, read] = [ways[i % 3], ways[(i + (i >> 2)) % 3]];
      const added = await write?.('add-tag', { name: `tag ${i}` });
      const tag_id = Number(added?.id ?? added?.tag_id);
      expect(await read?.('get-tag', { tag_id })).toMatchObject({ name: `tag ${i}` });
      await write?.('update-tag', { tag_id, name: `label ${i}` });
      expect(await read?.('get-tag', { tag_id })).toMatchObject({ name: `label ${i}` });
    }
    // A sync that takes over half a second, as on a busy machine, sends its reads to the server: that is correct. Half
    // of them at the most, so that a copy that is never used does not pass.
    expect(await metric(service, 'sitefleet_db_replica_server_reads_total')).toBeLessThan(TAGS);
    expect(await endProcess(service.child)).toBe(0);

    const polling = await serve('others.db', { SITEFLEET_DB_REPLICA_SYNC_MS: '300' });
    for (let i = 0; i < 3; i++) {
      const { id } = await other.call('add-tag', { name: `foreign ${i}` });
      await expect.poll(async () => (await readTag(polling.said, Number(id))).status, { interval: 10 }).toBe(200);
    }
    expect(await endProcess(polling.child)).toBe(0);
    expect(readdirSync(folder).filter((file) => file.startsWith('others.db'))).toEqual(['others.db-lock']);
  }, 400_000);

  it('refuses a key and a login that another process took away, long before its interval', async () => {
    const service = await serve('keys.db', { SITEFLEET_DB_REPLICA_SYNC_MS: '600000' });
    const { keys, users } = other.service.store;
    const { key, token: fresh } = await newKey(keys, { scope: 'read' });
    const status = async () =>
      (await fetch(`${service.said.v2}/tags`, { headers: { authorization: `Bearer ${fresh}` } })).status;
    expect(await status()).toBe(200);
    await keys.change(key.id, { enabled: false });
    await expect.poll(status, { interval: 10 }).toBe(401);

    const run = async () => (await fetch(`${service.said.abilities}/svc/list-tags-v1/run`, { headers: login })).status;
    expect(await run()).toBe(200);
    const stored = await users.login('admin');
    await users.change('admin', { password_hash: await hashPassword('another one') });
    await expect.poll(run, { interval: 10 }).toBe(401);
    await users.change('admin', { password_hash: stored?.proof ?? '' });
    expect(await endProcess(service.child)).toBe(0);
  });

  it(`reads on while the server is away, says so, and finds back by itself, ${RESTARTS} times`, async () => {
    const service = await serve('away.db');
    const { said } = service;
    const ready = async () => {
      const response = await fetch(`${said.url}/readyz`);
      return { status: response.status, text: await response.text() };
    };
    for (let i = 0; i < RESTARTS; i++) {
      const added = await addTag(said, `before ${i}`);
      const id = Number(added.body.data.id);
      expect(await readTag(said, id)).toMatchObject({ status: 200 });
      await server.kill();
      for (let n = 0; n < 5; n++) {
        expect(await readTag(said, id)).toMatchObject({ status: 200, body: { data: { name: `before ${i}` } } });
        await pause(100);
      }
      expect(await addTag(said, `lost ${i}`)).toMatchObject({ status: 503, body: { code: 'svc_storage_unavailable' } });
      await expect
        .poll(ready)
        .toMatchObject({ status: 503, text: expect.stringMatching(/reads come from the replica of \d+ s ago/) });
      expect(await metric(service, 'sitefleet_db_replica_state{state="away"}')).toBe(1);
      await server.start();
      await expect.poll(ready, { interval: 50 }).toMatchObject({ status: 200 });
      await live(service);
      const after = await addTag(said, `after ${i}`);
      expect(await readTag(said, Number(after.body.data.id))).toMatchObject({ status: 200 });
    }
    expect(service.errors()).toContain('the database server does not answer; reads come from the replica as it is');
    expect(await endProcess(service.child)).toBe(0);
  }, 400_000);

  it('does not start on the file of somebody else, nor on that of another process', async () => {
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    const foreign = await shell.run(environment('mine.txt'), ['serve', '--port', '0']);
    expect(foreign).toMatchObject({ code: 1, err: expect.stringMatching(/SITEFLEET_DB_REPLICA: .*is no replica/) });
    expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe('mine');
    const service = await serve('shared.db');
    const second = await shell.run(environment('shared.db'), ['serve', '--port', '0']);
    expect(second).toMatchObject({
      code: 1,
      err: expect.stringMatching(/SITEFLEET_DB_REPLICA: .*in use by another process/),
    });
    // Commands that do not serve read from the server.
    const called = await shell.run(environment('shared.db'), ['call', 'count-sites', '{}']);
    expect(JSON.parse(called.out)).toEqual(await other.call('count-sites'));
    expect(await endProcess(service.child)).toBe(0);
  });

  it(`is whole after ${KILLS} kills in the middle of syncs, of the service and of the process that syncs`, async () => {
    const chance = random(11);
    let writing = true;
    let turn = 0;
    const db = other.db;
    await db.run('CREATE TABLE IF NOT EXISTS filler (id INTEGER PRIMARY KEY, turn INTEGER, text TEXT)');
    await db.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
                  INSERT INTO filler SELECT i, 0, hex(randomblob(300)) FROM n`);
    // Not at full speed: after each 200 MB of log the server refuses replicas for some seconds.
    const writer = (async () => {
      for (; writing; await pause(40)) await db.run('UPDATE filler SET turn = ?', [++turn]);
    })();
    mkdirSync(join(folder, 'killed'), { recursive: true });
    const file = join('killed', 'r.db');
    for (let i = 0; i < KILLS; i++) {
      const service = await serve(file, { SITEFLEET_DB_REPLICA_SYNC_MS: '100' });
      await pause(chance() * 300);
      if (i % 3 < 2) {
        for (const child of childrenOf(service)) process.kill(child, 'SIGKILL');
        await pause(chance() * 200);
        await live(service);
        const now = turn;
        const copy = openEmbedded(`file:${copyOf(join(folder, file))}`, { mode: 'reader' });
        await expect
          .poll(async () => Number((await copy.one('SELECT turn FROM filler'))?.turn), { interval: 20 })
          .toBeGreaterThanOrEqual(now);
        const [spread] = await copy.all('SELECT min(turn) AS low, max(turn) AS high, count(*) AS n FROM filler');
        expect([spread?.low, spread?.n]).toEqual([spread?.high, ROWS]);
        expect(await copy.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
        await copy.close();
      }
      await endProcess(service.child, 'SIGKILL');
    }
    writing = false;
    await writer;
    const last = await serve(file);
    const everything = 'SELECT count(*) AS n, sum(turn) AS turns, sum(length(text) * id) AS sizes FROM filler';
    const copy = openEmbedded(`file:${copyOf(join(folder, file))}`, { mode: 'reader' });
    expect(await copy.one(everything)).toEqual(await db.one(everything));
    expect(await copy.all('SELECT * FROM site')).toEqual(await db.all('SELECT * FROM site'));
    expect(await copy.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    await copy.close();
    expect(await endProcess(last.child)).toBe(0);
    await db.run('DROP TABLE filler');
  }, 600_000);
});
