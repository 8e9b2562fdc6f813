/**
 * Data protection over commands and interfaces: a lost key, a moved or damaged file, a foreign schema, the last login.
 */

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDb } from '../../src/store/driver/open.js';
import { keyId, loadKey } from '../../src/store/vault/vault.js';
import { endProcess, tempFolder } from '../support/cleanup.js';
import { INITIALIZE } from '../support/mcp-messages.js';
import { type Commands, commands, type Served, type Started } from '../support/processes/commands.js';

const folder = tempFolder('guards');
let program: Commands;
beforeAll(async () => {
  program = await commands();
});

/** A separate data folder. */
function place(name: string) {
  const data = join(folder, name);
  mkdirSync(data, { recursive: true });
  const db = join(data, 'fleet.db');
  return { data, db, key: join(data, 'secret.key'), env: { SITEFLEET_DB: `file:${db}`, SITEFLEET_LOG_LEVEL: 'error' } };
}

interface Login {
  url: string;
  token: string;
  basic: string;
}
const loginOf = ({ said }: Started<Served>): Login => ({
  url: said.url,
  token: `Bearer ${said.api_key}`,
  basic: `Basic ${Buffer.from(`${said.user}:${said.password}`).toString('base64')}`,
});

interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into by the tests
  body: any;
}

async function ask(method: string, url: string, authorization: string, body?: unknown): Promise<Reply> {
  const reply = await fetch(url, {
    method,
    headers: {
      Authorization: authorization,
      Accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const data = text.startsWith('event:') || text.startsWith('data:') ? (/^data: (.*)$/m.exec(text)?.[1] ?? '') : text;
  return { status: reply.status, body: JSON.parse(data) };
}

const rest = (login: Login, row: string, body?: unknown) => {
  const [method = '', path = ''] = row.split(' ');
  return ask(method, `${login.url}/v2${path}`, login.token, body);
};
const runEndpoint = (login: Login, name: string, input: object) =>
  ask('POST', `${login.url}/wp-json/wp-abilities/v1/abilities/svc/${name}-v1/run`, login.basic, { input });
const hello = JSON.stringify(INITIALIZE);
const listTags = JSON.stringify({
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'svc-list-tags-v1', arguments: {} },
});

async function mcp({ url, token }: Login, tool: string, input: object): Promise<Reply> {
  const headers = {
    Authorization: token,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
  const opened = await fetch(`${url}/mcp`, { method: 'POST', headers, body: hello });
  await opened.text();
  const session = { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  const params = { name: `svc-${tool}-v1`, arguments: input };
  const reply = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: session,
    body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params }),
  });
  const text = await reply.text();
  return { status: reply.status, body: JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) };
}

const ready = (login: Login) => ask('GET', `${login.url}/readyz`, '');

describe('a lost secret key', () => {
  const { data, db, key, env } = place('lost');
  const own = { ...env, SITEFLEET_ALLOW_PRIVATE_SITES: '1' };
  let id = '';
  let text = '';

  beforeAll(async () => {
    const server = await program.serve(own);
    const fleet = await program.fleet({ sites: 1 });
    const [site] = fleet.said.sites;
    const { url, admin, password, unique_id } = site ?? { url: '', admin: '', password: '', unique_id: '' };
    const input = JSON.stringify({ url, admin, admin_password: password, unique_id });
    expect((await program.run(own, ['call', 'add-site', '-'], input)).code).toBe(0);
    await endProcess(server.child);
    await endProcess(fleet.child, 'SIGKILL');
    text = readFileSync(key, 'utf8');
    id = keyId(loadKey(text));
    expect((await program.run(own, ['backup', join(data, 'backup.db')])).code).toBe(0);
    rmSync(key);
  });

  it.each([
    ['serve', ['serve', '--port', '0', '--json']],
    ['work', ['work', '--json']],
    ['stdio', ['stdio']],
    ['call', ['call', 'list-sites-v1']],
    ['restore', ['restore', join(data, 'backup.db')]],
    ['rotate-key', ['rotate-key']],
  ])('%s makes none, does not start, and names the key that is needed and its place', async (name, args) => {
    const before = readFileSync(db);
    const { code, out, err } = await program.run(own, args, name === 'stdio' ? `${hello}\n${listTags}\n` : '');
    expect([code, out === '' || name === 'stdio', err]).toEqual([1, true, expect.stringContaining(id)]);
    expect(err).toContain(key);
    expect(err).toContain('SITEFLEET_SECRET_KEY');
    expect(err).not.toMatch(/^ {4}at /m);
    expect([existsSync(key), existsSync(`${key}.next`)]).toEqual([false, false]);
    expect(readFileSync(db).equals(before)).toBe(true);
  });

  it('a wrong key is refused too, in a file and in the environment, and named', async () => {
    const wrong = randomBytes(32).toString('hex');
    const file = join(data, 'other.key');
    writeFileSync(file, wrong, { mode: 0o600 });
    for (const given of [{ SITEFLEET_SECRET_KEY: wrong }, { SITEFLEET_SECRET_KEY_FILE: file }]) {
      const { code, err } = await program.run({ ...own, ...given }, ['serve', '--port', '0']);
      expect(code).toBe(1);
      expect(err).toContain(id);
      expect(err).toContain(keyId(loadKey(wrong)));
      expect(err).not.toContain(wrong);
    }
  });

  it('check and backup tell which key is missing, and do not make one', async () => {
    const { code, out } = await program.run(own, ['check', '--json']);
    const { secrets } = JSON.parse(out);
    expect([code, secrets.keys]).toEqual([1, [{ id, sealed: secrets.sealed, unreadable: secrets.sealed }]]);
    expect(secrets.places).toContain('site_secret:1:private_key');
    const copied = await program.run(own, ['backup', join(data, 'second.db')]);
    expect([copied.code, copied.err.split(id).length - 1]).toEqual([0, 2]);
    const told = await program.run(own, ['backup', join(data, 'third.db'), '--json']);
    expect(JSON.parse(told.out)).toEqual({ file: join(data, 'third.db'), key_ids: [id] });
    expect(existsSync(key)).toBe(false);
  });

  it('put back, everything goes on', async () => {
    writeFileSync(key, text, { mode: 0o600 });
    const server = await program.serve(own);
    expect((await ready(loginOf(server))).status).toBe(200);
    await endProcess(server.child);
    expect((await program.run(own, ['check', '--json'])).code).toBe(0);
  });
});

describe('a database file that is moved while the service runs', () => {
  const { data, db, env } = place('moved');
  let server: Started<Served>;
  let login: Login;
  let tags = 0;

  beforeAll(async () => {
    server = await program.serve(env);
    login = loginOf(server);
    expect(await writes()).toEqual([200, 200, 'stored']);
  });

  /** Results of a write through REST, the run endpoint and MCP. */
  async function writes(): Promise<unknown[]> {
    const name = () => ({ name: `tag ${tags++}` });
    const stored = (reply: Reply) =>
      reply.status === 200 ? 200 : `${reply.status} ${reply.body.code} ${reply.body.message}`;
    const byRest = stored(await rest(login, 'POST /tags/add', name()));
    const byRun = stored(await runEndpoint(login, 'add-tag', name()));
    const { result } = (await mcp(login, 'add-tag', name())).body;
    return [byRest, byRun, result.isError === true ? result.content[0].text : 'stored'];
  }

  async function refused(words: string): Promise<void> {
    const seen = await writes();
    expect(seen).toEqual([
      expect.stringMatching(new RegExp(`^503 svc_storage_unavailable .*${words}`)),
      expect.stringMatching(new RegExp(`^503 svc_storage_unavailable .*${words}`)),
      expect.stringMatching(new RegExp(`svc_storage_unavailable[\\s\\S]*${words}`)),
    ]);
    const { status, body } = await ready(login);
    expect([status, body.reasons.join(' ')]).toEqual([503, expect.stringContaining(words)]);
    // Anonymous clients can read that, too.
    expect(JSON.stringify(body)).not.toContain(data);
    await expect.poll(() => server.errors()).toContain(`${words} while the service is running`);
    expect(server.child.exitCode).toBeNull();
    expect((await rest(login, 'GET /tags')).status).toBe(200);
  }

  it('refuses to write while it is away, says so, and goes on when it is back', async () => {
    renameSync(db, `${db}.away`);
    await refused('was removed or moved away');
    expect(existsSync(db)).toBe(false);
    renameSync(`${db}.away`, db);
    expect(await writes()).toEqual([200, 200, 'stored']);
    await expect.poll(async () => (await ready(login)).status).toBe(200);
  });

  it('refuses to write into a file that was replaced', async () => {
    renameSync(db, `${db}.old`);
    copyFileSync(`${db}.old`, db);
    await refused('was replaced by another file');
    renameSync(`${db}.old`, db);
    expect(await writes()).toEqual([200, 200, 'stored']);
  });

  it('refuses to write when the log beside it is gone', async () => {
    renameSync(`${db}-wal`, `${db}-wal.away`);
    // The log is checked every second.
    await expect.poll(async () => (await ready(login)).status).toBe(503);
    await expect.poll(async () => (await writes())[0]).toMatch(/^503 .*fleet\.db-wal was removed/);
    renameSync(`${db}-wal.away`, `${db}-wal`);
    expect(await writes()).toEqual([200, 200, 'stored']);
  });

  it('other commands beside it are no reason', async () => {
    expect((await program.run(env, ['user', 'add', 'second'])).code).toBe(0);
    expect((await program.run(env, ['backup', join(data, 'backup.db')])).code).toBe(0);
    expect(await writes()).toEqual([200, 200, 'stored']);
    expect(await endProcess(server.child)).toBe(0);
    const kept = await openDb(`file:${db}`, { mode: 'reader' });
    const { n } = (await kept.one("SELECT count(*) AS n FROM tag WHERE name LIKE 'tag %'")) ?? {};
    await kept.close();
    // All acknowledged writes are there: five rounds of three, and those the last poll stored before the missing log
    // was noticed.
    expect(Number(n)).toBeGreaterThanOrEqual(15);
  });
});

/** Overwrites the first page of a table with garbage. */
async function damage(db: string, table: string): Promise<void> {
  const open = await openDb(`file:${db}`);
  const [size] = await open.all('PRAGMA page_size');
  const found = await open.one('SELECT rootpage FROM sqlite_schema WHERE name = ?', [table]);
  await open.close();
  const bytes = Number(size?.page_size);
  const handle = openSync(db, 'r+');
  writeSync(handle, Buffer.alloc(bytes, 0xff), 0, bytes, (Number(found?.rootpage) - 1) * bytes);
  closeSync(handle);
}

describe('a damaged page', () => {
  const { data, db, env } = place('damaged');
  let first: Login;

  beforeAll(async () => {
    const server = await program.serve(env);
    first = loginOf(server);
    for (const name of ['Shops', 'Blogs']) expect((await rest(first, 'POST /tags/add', { name })).status).toBe(200);
    await endProcess(server.child);
    expect((await program.run(env, ['backup', join(data, 'good.db')])).code).toBe(0);
    await damage(db, 'tag');
  });

  it('makes the service not ready, even without a request for the table', async () => {
    const server = await program.serve(env);
    const login = { ...first, url: server.said.url };
    await expect.poll(async () => (await ready(login)).status, { interval: 250 }).toBe(503);
    const { reasons } = (await ready(login)).body;
    expect(reasons).toEqual([expect.stringMatching(/damaged.*: table tag\. .*sitefleet check.*sitefleet restore/)]);
    await endProcess(server.child);
  });

  it('is reported by every way in, with the file and what to do', async () => {
    const server = await program.serve(env);
    const login = { ...first, url: server.said.url };
    const words = /database file fleet\.db is damaged/;
    for (const reply of [
      await rest(login, 'GET /tags'),
      await ask('GET', `${login.url}/wp-json/wp-abilities/v1/abilities/svc/list-tags-v1/run`, login.basic),
      await runEndpoint(login, 'add-tag', { name: 'x' }),
    ]) {
      expect([reply.status, reply.body.code]).toEqual([503, 'svc_storage_unavailable']);
      expect(reply.body.message).toMatch(words);
      expect(reply.body.data.advice).toContain('sitefleet check');
    }
    const { result } = (await mcp(login, 'list-tags', {})).body;
    expect([result.isError, result.content[0].text]).toEqual([true, expect.stringMatching(words)]);
    // Readable data can still be read.
    expect((await rest(login, 'GET /clients')).status).toBe(200);
    await endProcess(server.child);
    const called = await program.run(env, ['call', 'list-tags-v1']);
    expect([called.code, JSON.parse(called.err.trim().split('\n').at(-1) ?? '')]).toMatchObject([
      1,
      { code: 'svc_storage_unavailable', message: expect.stringMatching(words) },
    ]);
  });

  it('check reports it with what is still known, and backup and restore name the file', async () => {
    const checked = await program.run(env, ['check', '--json']);
    const report = JSON.parse(checked.out);
    expect([checked.code, report.ok, report.secrets]).toMatchObject([1, false, { sealed: 0 }]);
    expect(report.integrity.join()).not.toBe('ok');
    const copied = await program.run(env, ['backup', join(data, 'bad.db')]);
    expect([copied.code, copied.err]).toEqual([1, expect.stringContaining(`${db} is damaged`)]);
    expect(copied.err).toContain('sitefleet restore');
    expect(existsSync(join(data, 'bad.db'))).toBe(false);

    copyFileSync(db, join(data, 'copy.db'));
    const refused = await program.run(env, ['restore', join(data, 'copy.db')]);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('The backup is damaged')]);
    const other = join(data, 'other.db');
    for (const content of ['not a database '.repeat(1000), `SQLite format 3\0${'x'.repeat(10_000)}`]) {
      writeFileSync(other, content);
      const { code, err } = await program.run(env, ['restore', other]);
      expect([code, err]).toEqual([1, expect.stringContaining(`The backup ${other} cannot be read as a database`)]);
      expect(err).toContain('nothing was changed');
      expect(err).not.toContain('.restoring');
    }
    const folder = await program.run(env, ['restore', data]);
    expect([folder.code, folder.err]).toEqual([1, expect.stringContaining(`${data} is not a file.`)]);
    expect((await program.run(env, ['restore', join(data, 'good.db')])).code).toBe(0);
    expect((await program.run(env, ['check'])).code).toBe(0);
  });
});

describe('sessions of browsers in a backup', () => {
  it('do not come back with it: they may have been ended since', async () => {
    const { data, db, env } = place('sessions');
    expect((await program.run(env, ['user', 'add', 'ada'])).code).toBe(0);
    expect((await program.run(env, ['login-link'])).code).toBe(0);
    const count = async (file: string) => {
      const opened = await openDb(`file:${file}`, { mode: 'writer' });
      const row = await opened.one(
        'SELECT (SELECT count(*) FROM web_session) AS s, (SELECT count(*) FROM login_link) AS l',
      );
      await opened.close();
      return [row?.s, row?.l];
    };
    const opened = await openDb(`file:${db}`, { mode: 'writer' });
    await opened.run(
      "INSERT INTO web_session (id, token_hash, user_id, created_at, rotated_at, used_at) VALUES ('a', 'b', 1, 1, 1, 1)",
    );
    await opened.close();
    const backup = join(data, 'backup.db');
    expect((await program.run(env, ['backup', backup])).code).toBe(0);
    expect(await count(backup)).toEqual([1, 1]);
    expect((await program.run(env, ['restore', backup])).code).toBe(0);
    expect(await count(db)).toEqual([0, 0]);
  });
});

describe('a schema that is not ours', () => {
  const { data, db, env } = place('schema');
  const backup = join(data, 'backup.db');

  it('is refused by restore and reported by check, with the names', async () => {
    expect((await program.run(env, ['migrate'])).code).toBe(0);
    expect((await program.run(env, ['backup', backup])).code).toBe(0);
    const good = readFileSync(backup);
    const strange: [string, string][] = [
      ['CREATE TRIGGER helper AFTER INSERT ON api_key BEGIN DELETE FROM site; END', 'not of Sitefleet: trigger helper'],
      ['CREATE VIEW everything AS SELECT * FROM site_secret', 'not of Sitefleet: view everything'],
      ['DROP INDEX client_by_name', 'missing: index client_by_name'],
      [
        'DROP TRIGGER time_setting_of_client; CREATE TRIGGER time_setting_of_client AFTER DELETE ON client BEGIN DELETE FROM site; END',
        'changed: trigger time_setting_of_client',
      ],
    ];
    for (const [at, [sql, words]] of strange.entries()) {
      const copy = join(data, `strange${at}.db`);
      writeFileSync(copy, good);
      const changed = await openDb(`file:${copy}`);
      await changed.script(sql);
      await changed.close();
      const before = statSync(db).ino;
      const { code, err } = await program.run(env, ['restore', copy]);
      expect([code, err]).toEqual([1, expect.stringContaining(words)]);
      expect([statSync(db).ino, existsSync(`${db}.restoring`)]).toEqual([before, false]);
      const checked = await program.run({ ...env, SITEFLEET_DB: `file:${copy}` }, ['check']);
      expect([checked.code, checked.out]).toEqual([1, expect.stringContaining(words)]);
    }
    // Tables that replication tools add do no harm.
    const replicated = await openDb(`file:${backup}`);
    await replicated.script('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)');
    await replicated.close();
    expect((await program.run(env, ['restore', backup])).code).toBe(0);
    expect((await program.run(env, ['check'])).code).toBe(0);
  });

  it('is not evaluated: a view without an end, and whatever else a prepared file defines', async () => {
    const { data, db, env } = place('prepared');
    expect((await program.run(env, ['migrate'])).code).toBe(0);
    const backup = join(data, 'backup.db');
    expect((await program.run(env, ['backup', backup])).code).toBe(0);
    const good = readFileSync(backup);
    const endless = 'AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n';
    const prepared: [sql: string, check: string, restore: string][] = [
      ...['migration', 'Migration'].map((name): [string, string, string] => [
        `DROP TABLE migration; CREATE VIEW ${name} ${endless}`,
        'missing: table migration',
        'The file is not a Sitefleet backup',
      ]),
      ...[
        ['CREATE TABLE x (a, b AS (abs(a)))', 'table x'],
        ['CREATE INDEX client_by_length ON client (length(name))', 'index client_by_length'],
        ['CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq AS (abs(id)))', 'table _litestream_seq'],
        ['CREATE TABLE _litestream_seq (id INTEGER CHECK (abs(id) > 0))', 'table _litestream_seq'],
        ['CREATE TABLE libsql_x (id); CREATE INDEX libsql_y ON libsql_x (id + 1)', 'index libsql_y'],
      ].map(([sql = '', name]): [string, string, string] => [
        sql,
        `not of Sitefleet: ${name}`,
        `not of Sitefleet: ${name}`,
      ]),
    ];
    for (const [at, [sql, checkSays, restoreSays]] of prepared.entries()) {
      const copy = join(data, `prepared${at}.db`);
      writeFileSync(copy, good);
      const changed = await openDb(`file:${copy}`);
      await changed.script(sql);
      await changed.close();
      const on = { ...env, SITEFLEET_DB: `file:${copy}` };
      const checked = await program.run(on, ['check']);
      expect([checked.code, checked.out]).toEqual([1, expect.stringContaining(checkSays)]);
      expect(checked.out).toContain('Integrity     not checked: the schema is not that of Sitefleet');
      expect(JSON.parse((await program.run(on, ['check', '--json'])).out)).toMatchObject({
        ...{ ok: false, integrity: null, foreign_keys: null, secrets: null },
      });
      const before = statSync(db).ino;
      const restored = await program.run(env, ['restore', copy]);
      expect([restored.code, restored.err]).toEqual([1, expect.stringContaining(restoreSays)]);
      expect([statSync(db).ino, existsSync(`${db}.restoring`)]).toEqual([before, false]);
      if (!sql.startsWith('DROP TABLE migration')) continue;
      for (const command of [['migrate'], ['user', 'list'], ['call', 'list-tags-v1']]) {
        const { code, err } = await program.run(on, command);
        expect([command, code, err]).toEqual([command, 1, expect.stringContaining('migration is not a table')]);
      }
    }
  });
});

describe('the last login', () => {
  const { env } = place('last');

  it('is not removed from the shell, also not by two at once', async () => {
    for (const name of ['ada', 'bob']) expect((await program.run(env, ['user', 'add', name])).code).toBe(0);
    const both = await Promise.all(['ada', 'bob'].map((name) => program.run(env, ['user', 'remove', name])));
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(both.find(({ code }) => code === 1)?.err).toMatch(/"(ada|bob)" is the last user.*sitefleet user add/s);
    expect(JSON.parse((await program.run(env, ['user', 'list', '--json'])).out)).toHaveLength(1);

    for (const scope of ['read_write', 'read_write', 'write', 'read'])
      expect((await program.run(env, ['key', 'add', '--scope', scope])).code).toBe(0);
    const keys = await Promise.all(['1', '2'].map((id) => program.run(env, ['key', 'remove', id])));
    expect(keys.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(keys.find(({ code }) => code === 1)?.err).toMatch(/Key [12] is the last working key.*sitefleet key add/);
    for (const id of ['3', '4']) expect((await program.run(env, ['key', 'remove', id])).code).toBe(0);
  });
});

describe('without the native part of the database driver', () => {
  const { data, db, env } = place('bare');

  it('every command says in a sentence what is missing and what to do', async () => {
    // As "npm ci --omit=optional" leaves it: the driver is there, its package for this system is not.
    const packages = resolve('node_modules');
    for (const name of ['libsql', '@neon-rs/load', 'detect-libc'])
      cpSync(join(packages, name), join(data, 'node_modules', name), { recursive: true, dereference: true });
    writeFileSync(join(data, 'package.json'), '{"type":"module"}');
    cpSync(program.folder, join(data, 'dist'), { recursive: true });
    for (const args of [
      ['serve', '--port', '0'],
      ['work'],
      ['stdio'],
      ['demo', '--port', '0'],
      ['call', 'list-tags-v1'],
      ['user', 'list'],
      ['migrate'],
    ]) {
      const { code, out, err } = await new Promise<{ code: number; out: string; err: string }>((done) => {
        const clean = { PATH: process.env.PATH ?? '', HOME: data, TMPDIR: data, ...env };
        const child = execFile(
          process.execPath,
          [join(data, 'dist/cli.js'), ...args],
          { env: clean },
          (error, out, err) => done({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
        );
        child.stdin?.end(args[0] === 'stdio' ? `${hello}\n${listTags}\n` : '');
      });
      const stack = err.split('\n').filter((line) => line.startsWith('    at'));
      expect([args[0], code, stack]).toEqual([args[0], 1, []]);
      expect(args[0] === 'stdio' ? '' : out).toBe('');
      expect(err).toMatch(/database driver's native part is not installed: the package @libsql\/[\w-]+ is missing/);
      expect(err).toContain('--omit=optional');
    }
    expect(existsSync(db)).toBe(false);
  });
});
