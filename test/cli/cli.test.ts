/** The commands as users start them: the built program in its own process. `npm test` builds it first. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createClient } from '@libsql/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_TOOLSETS } from '../../src/runtime/toolsets.js';
import { createKeys } from '../../src/store/access/keys.js';
import { createUsers } from '../../src/store/access/users.js';
import { openDb } from '../../src/store/driver/open.js';
import { createJobs } from '../../src/store/jobs/jobs.js';
import { operations } from '../../tools/index.js';
import { endProcesses, tempFolder, tracked } from '../support/cleanup.js';
import { newKey } from '../support/logins.js';
import { INITIALIZE, PATIENT } from '../support/mcp-messages.js';
import { builtProgram } from '../support/processes/built-program.js';
import { inBucket, s3Server } from '../support/s3-server.js';

const cli = await builtProgram();
const folder = tempFolder('cli');
const version = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;

afterEach(endProcesses);

/** An environment without the tester's own settings, and with its own data folder. */
function environment(name: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_DATA_HOME: join(folder, name),
    SITEFLEET_LOG_LEVEL: 'warn',
    ...more,
  };
}

interface Ended {
  code: number;
  out: string;
  err: string;
}

function run(env: Record<string, string>, args: string[], stdin = ''): Promise<Ended> {
  return new Promise((done) => {
    const child = tracked(
      execFile(process.execPath, [cli, ...args], { env, cwd: folder }, (error, out, err) =>
        done({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
      ),
    );
    child.stdin?.end(stdin);
  });
}

/** Starts a serving command; returns its line of JSON. */
async function start(
  env: Record<string, string>,
  args: string[],
): Promise<{ line: Line; child: ChildProcess; out: () => string }> {
  const child = tracked(
    spawn(process.execPath, [cli, ...args], { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  let out = '';
  let err = '';
  child.stderr?.on('data', (chunk) => (err += String(chunk)));
  const line = await new Promise<string>((ready, fail) => {
    child.stdout?.on('data', (chunk) => {
      out += String(chunk);
      if (out.includes('\n')) ready(out.slice(0, out.indexOf('\n')));
    });
    child.once('exit', (code) => fail(new Error(`ended with ${code}: ${err}`)));
  });
  return { line: JSON.parse(line) as Line, child, out: () => out };
}

type Line = Record<'url' | 'mcp' | 'abilities' | 'v2', string> &
  Record<'user' | 'password' | 'api_key' | 'login_link', string | null>;

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((done) => child.once('exit', (code) => done(code)));
}

const loginOf = ({ user, password }: Line) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

const get = (url: string, line: Line): Promise<Response> => fetch(url, { headers: loginOf(line) });

/** Status of a login by a link. */
async function enter(url: string, link: string | undefined): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${url}/session`, { method: 'POST', headers, body: JSON.stringify({ link }) })).status;
}

describe('serve', () => {
  it('makes everything on the first start, shows it once, and stops cleanly', async () => {
    const env = environment('serve');
    const first = await start(env, ['serve', '--port', '0', '--json']);
    expect(Object.keys(first.line)).toEqual([
      'url',
      'mcp',
      'abilities',
      'v2',
      'user',
      'password',
      'api_key',
      'login_link',
    ]);
    expect(first.line).toMatchObject({ mcp: `${first.line.url}/mcp`, v2: `${first.line.url}/v2`, user: 'admin' });
    expect(first.line.abilities).toBe(`${first.line.url}/wp-json/wp-abilities/v1/abilities`);
    expect(first.line.api_key).toMatch(/^[0-9a-f]{40}==[0-9a-f]{40}$/);
    const listed = await get(`${first.line.abilities}/svc/list-sites-v1/run`, first.line);
    expect([listed.status, await listed.json()]).toMatchObject([200, { items: [], total: 0 }]);
    expect((await fetch(`${first.line.url}/readyz`)).status).toBe(200);
    for (const file of ['sitefleet.db', 'secret.key']) {
      expect(statSync(join(folder, 'serve/sitefleet', file)).mode & 0o777).toBe(0o600);
    }
    // The link logs in once; the command creates another one while the server runs.
    const [page, token] = first.line.login_link?.split('#') ?? [];
    expect(page).toBe(`${first.line.url}/login`);
    expect([await enter(first.line.url, token), await enter(first.line.url, token)]).toEqual([200, 401]);
    const made = JSON.parse((await run(env, ['login-link', '--json'])).out) as Record<string, string>;
    expect(made).toMatchObject({ user: 'admin', login_link: expect.stringMatching(/\/login#[\w-]{43}$/) });
    // With the port that is in use, which only the server was told.
    expect(made.login_link?.split('#')[0]).toBe(page);
    expect(await enter(first.line.url, made.login_link?.split('#')[1])).toBe(200);
    expect(await run(env, ['login-link', '--user', 'nobody'])).toMatchObject({ code: 1, out: '' });
    first.child.kill('SIGTERM');
    expect(await ended(first.child)).toBe(0);
    expect(first.out().split('\n')).toHaveLength(2);

    const second = await start(env, ['serve', '--port', '0', '--json']);
    expect(second.line).toMatchObject({ user: null, password: null, api_key: null, login_link: null });
    const again = await get(second.line.abilities, { ...first.line });
    expect(again.status).toBe(200);
    second.child.kill('SIGINT');
    expect(await ended(second.child)).toBe(0);
  });

  it('takes the first login from the environment', async () => {
    const env = environment('given', { SITEFLEET_ADMIN_USER: 'root', SITEFLEET_ADMIN_PASSWORD: 'correct horse' });
    const { line } = await start(env, ['serve', '--port', '0', '--json']);
    expect(line).toMatchObject({ user: 'root', password: 'correct horse' });
    expect((await get(line.abilities, line)).status).toBe(200);
  });

  it('makes no login that is never shown when its port is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const env = environment('taken');
    const { port } = holder.address() as AddressInfo;
    try {
      const refused = await run(env, ['serve', '--json', '--port', String(port)]);
      expect(refused).toMatchObject({ code: 1, out: '' });
      expect(refused.err).toContain('another program is listening there');
    } finally {
      holder.close();
    }
    const { line } = await start(env, ['serve', '--json', '--port', '0']);
    expect(line).toMatchObject({ user: 'admin', password: expect.any(String), api_key: expect.any(String) });
  });

  it('names every bad setting and does not start', async () => {
    const { code, out, err } = await run(environment('bad', { SITEFLEET_PORT: 'x', SITEFLEET_READ_ONLY: '2' }), [
      'serve',
    ]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/SITEFLEET_PORT: "x".*\n.*SITEFLEET_READ_ONLY: "2"/);
  });
});

describe('demo', () => {
  /** Between the steps of its job, as it is stored. */
  async function jobDelays(tmp: string): Promise<unknown[]> {
    const [made = ''] = readdirSync(tmp);
    const file = readdirSync(join(tmp, made)).find((name) => name.endsWith('.db')) ?? '';
    const db = createClient({ url: `file:${join(tmp, made, file)}` });
    const { rows } = await db.execute('SELECT delay_ms FROM job');
    db.close();
    return rows.map(({ delay_ms }) => delay_ms);
  }

  it.each([
    ['', 15_000],
    // Set on purpose.
    ['0', 0],
  ])('connects a fleet, serves it and leaves nothing behind, with a job delay of "%s"', async (delay, expected) => {
    const tmp = mkdtempSync(join(folder, 'tmp-'));
    const env = environment(`demo-${expected}`, { TMPDIR: tmp, SITEFLEET_JOB_DELAY_MS: delay });
    const { line, child } = await start(env, ['demo', '--sites', '3', '--port', '0', '--json']);
    const answer = await get(`${line.abilities}/svc/count-sites-v1/run?input[status]=connected`, line);
    expect(await answer.json()).toEqual({ total: 3 });
    expect(await jobDelays(tmp)).toEqual([expected]);
    child.kill('SIGINT');
    expect(await ended(child)).toBe(0);
    expect(existsSync(join(folder, `demo-${expected}`))).toBe(false);
    expect(readdirSync(tmp)).toEqual([]);
  });

  it("keeps backups of its sites out of the bucket with a user's", async () => {
    const bucket = await s3Server();
    const { site_backup_s3, site_backup_s3_region, site_backup_s3_key, site_backup_s3_secret } = inBucket(bucket);
    const env = environment('demo-bucket', {
      SITEFLEET_SITE_BACKUP_S3: site_backup_s3,
      SITEFLEET_SITE_BACKUP_S3_REGION: site_backup_s3_region,
      SITEFLEET_SITE_BACKUP_S3_KEY: site_backup_s3_key,
      SITEFLEET_SITE_BACKUP_S3_SECRET: site_backup_s3_secret,
    });
    const { line, child } = await start(env, ['demo', '--sites', '3', '--port', '0', '--json']);
    const headers = { authorization: `Bearer ${line.api_key}` };
    const found = await fetch(`${line.v2}/fleet/sites?guarded=true&columns=id`, { headers });
    const [[id] = []] = ((await found.json()) as { rows: number[][] }).rows;
    const answer = await fetch(`${line.abilities}/svc/back-up-site-v1/run`, {
      method: 'POST',
      headers: { ...loginOf(line), 'content-type': 'application/json' },
      body: JSON.stringify({ input: { site_id_or_domain: id } }),
    });
    expect([id, await answer.json()]).toMatchObject([expect.any(Number), { backup_id: expect.any(String) }]);
    expect(bucket.requests).toEqual([]);
    child.kill('SIGINT');
    expect(await ended(child)).toBe(0);
  });
});

describe('stdio', () => {
  it('serves an assistant with no configuration, through a link, from any folder', async () => {
    const link = join(folder, 'sitefleet');
    symlinkSync(cli, link);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [link, 'stdio'],
      env: environment('stdio'),
      cwd: '/',
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport, PATIENT);
    expect(client.getServerVersion()).toMatchObject({ name: 'sitefleet', version });
    const shown = operations.filter(({ group }) => DEFAULT_TOOLSETS.includes(group));
    // Two more find and run the others.
    expect((await client.listTools(undefined, PATIENT)).tools).toHaveLength(shown.length + 2);
    const tag = await client.callTool({ name: 'svc-add-tag-v1', arguments: { name: 'Shops' } }, undefined, PATIENT);
    expect(tag.structuredContent).toMatchObject({ id: 1, name: 'Shops' });
    await client.close();
  });

  it('writes nothing but answers to stdout and ends with its input', async () => {
    const { code, out } = await run(
      environment('pipe', { SITEFLEET_LOG_LEVEL: 'trace' }),
      ['stdio'],
      `${JSON.stringify(INITIALIZE)}\nnonsense\n`,
    );
    expect(code).toBe(0);
    const answers = out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(answers).toHaveLength(2);
    expect(answers).toContainEqual(expect.objectContaining({ id: 1, result: expect.anything() }));
    expect(answers).toContainEqual(
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32700 }) }),
    );
  });
});

describe('stdio with a choice of tools', () => {
  it('shows what the command line chooses, and refuses what there is not', async () => {
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };
    const args = ['stdio', '--toolsets', 'lean', '--readonly'];
    const { out } = await run(environment('choice'), args, `${JSON.stringify(INITIALIZE)}\n${JSON.stringify(list)}\n`);
    const answers = out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as { id: number; result: { tools: { name: string }[] } });
    const names = answers.find(({ id }) => id === 2)?.result.tools.map(({ name }) => name);
    expect(names).toContain('run-operation');
    expect(names).not.toContain('svc-run-updates-v1');
    const wrong = await run(environment('choice'), ['stdio', '--toolsets', 'everything']);
    expect([wrong.code, wrong.out, wrong.err]).toEqual([1, '', expect.stringContaining('"everything"')]);
  });
});

describe('call', () => {
  it.each(['list-tags-v1', 'list-tags', 'svc/list-tags-v1', 'svc-list-tags-v1'])('%s', async (name) => {
    const { code, out } = await run(environment('call'), ['call', name, '{"per_page": 1}']);
    expect([code, JSON.parse(out)]).toMatchObject([0, { items: [], per_page: 1 }]);
  });

  it('reads input from stdin', async () => {
    const { out } = await run(environment('call'), ['call', 'add-tag-v1', '-'], '{"name":"Blogs"}');
    expect(JSON.parse(out)).toMatchObject({ name: 'Blogs' });
  });

  it.each<[string, string[], string]>([
    ['a refused call', ['get-site-v1', '{"site_id_or_domain": 77}'], 'svc_site_not_found'],
    ['a bad field', ['list-sites-v1', '{"pgae": 1}'], 'ability_invalid_input'],
    ['an unknown operation', ['list_site'], 'rest_ability_not_found'],
    ['no JSON', ['list-sites-v1', '{'], 'rest_invalid_json'],
  ])('%s ends with 1 and its error on stderr', async (_name, args, expected) => {
    const { code, out, err } = await run(environment('call'), ['call', ...args]);
    expect([code, out, JSON.parse(err).code]).toEqual([1, '', expected]);
    // In sentences where a person reads it, as on a terminal.
    const words = await run(environment('call'), ['call', ...args, '--table']);
    expect([words.code, words.out]).toEqual([1, '']);
    const { message, data } = JSON.parse(err) as { message: string; data: { advice: string } };
    expect(words.err).toBe(`${message}\n${data.advice}\n(${expected})\n`);
  });
});

describe('brief', () => {
  it('tells people in lines and programs in JSON, and refuses a time that is none', async () => {
    const env = environment('brief');
    const text = await run(env, ['brief']);
    expect([text.code, text.out]).toEqual([0, expect.stringContaining('0 sites')]);
    expect(text.out).toContain('Nothing is known to need attention.');
    const json = await run(env, ['brief', '--json', '--since', '2020-01-01']);
    expect(JSON.parse(json.out)).toMatchObject({ since: '2020-01-01T00:00:00Z', needs_attention: [] });
    const wrong = await run(env, ['brief', '--since', 'yesterday']);
    expect([wrong.code, wrong.out, wrong.err]).toEqual([1, '', expect.stringContaining('since: "yesterday"')]);
  });
});

describe('administration', () => {
  const env = environment('admin');

  it('keeps users', async () => {
    const made = JSON.parse((await run(env, ['user', 'add', 'ada', '--json'])).out);
    expect(made).toMatchObject({ user: 'ada', rights: ['read', 'write'], password: expect.stringMatching(/^.{24}$/) });
    expect(
      (await run(env, ['user', 'add', 'bob', '--read-only', '--password-stdin', '--json'], 'a good one\n')).out,
    ).not.toContain('a good');
    expect((await run(env, ['user', 'add', 'ADA'])).code).toBe(1);
    expect((await run(env, ['user', 'add', 'a:b'])).err).toContain('colon');
    expect((await run(env, ['user', 'password', 'bob', '--password-stdin'], 'short')).err).toContain('8 to 200');
    expect((await run(env, ['user', 'password', 'bob'])).out.trim()).toHaveLength(24);
    const users = JSON.parse((await run(env, ['user', 'list', '--json'])).out);
    expect(users).toMatchObject([{ name: 'ada' }, { name: 'bob', rights: ['read'] }]);
    expect((await run(env, ['user', 'edit', 'ada', '--right', 'read'])).err).toContain('the last user who may make');
    expect((await run(env, ['user', 'edit', 'bob', '--on', '--off'])).err).toContain('contradict');
    expect((await run(env, ['user', 'edit', 'bob', '--off'])).code).toBe(0);
    expect((await run(env, ['login-link', '--user', 'bob'])).err).toContain('is disabled');
    expect(JSON.parse((await run(env, ['user', 'list', '--json'])).out)).toMatchObject([
      { active: true },
      { active: false },
    ]);
    expect((await run(env, ['user', 'remove', 'bob'])).code).toBe(0);
    expect((await run(env, ['user', 'remove', 'bob'])).code).toBe(1);
  });

  it('removes a user with the keys that the user made', async () => {
    const shared = { ...env, SITEFLEET_DB: `file:${join(folder, 'leaver.db')}` };
    for (const name of ['ada', 'bob']) await run(shared, ['user', 'add', name]);
    const db = await openDb(shared.SITEFLEET_DB, { mode: 'writer' });
    const { id } = (await createUsers(db).find('bob')) ?? { id: 0 };
    for (const user_id of [id, null]) await newKey(createKeys(db), { user_id });
    await db.close();
    expect(await run(shared, ['user', 'remove', 'bob'])).toMatchObject({
      code: 0,
      err: 'Removed bob, with 1 API key.\n',
    });
    expect(JSON.parse((await run(shared, ['key', 'list', '--json'])).out)).toMatchObject([{ id: 2 }]);
  });

  it('keeps keys', async () => {
    const made = JSON.parse((await run(env, ['key', 'add', '--scope', 'read', '--description', 'n8n', '--json'])).out);
    expect(made).toMatchObject({ id: 1, scope: 'read', token: expect.stringMatching(/==/) });
    const keys = JSON.parse((await run(env, ['key', 'list', '--json'])).out);
    expect(keys).toMatchObject([{ id: 1, description: 'n8n', ends_in: made.token.slice(-7), last_access: null }]);
    expect(JSON.stringify(keys)).not.toContain(made.token.slice(0, 40));
    expect((await run(env, ['key', 'add', '--scope', 'all'])).code).toBe(1);
    expect((await run(env, ['key', 'remove', '1'])).code).toBe(0);
    expect((await run(env, ['key', 'remove', '1'])).code).toBe(1);
    // Without keys nothing is printed.
    expect(await run(env, ['key', 'list'])).toEqual({ code: 0, out: '', err: '' });
    // One line per key and one column per field, even with control characters.
    await run(env, ['key', 'add', '--description', 'a\tb\nc\u001b[31m']);
    const listed = (await run(env, ['key', 'list'])).out;
    expect(listed.split('\n')).toEqual([expect.stringMatching(/^\d+\tread_write\ta b c\[31m\t/), '']);
    expect(listed.split('\t')).toHaveLength(7);
  });

  it('says of a job that ran too long why it failed', async () => {
    const file = join(folder, 'late.db');
    const late = { ...env, SITEFLEET_DB: `file:${file}` };
    await run(late, ['migrate']);
    const db = await openDb(`file:${file}`, { mode: 'writer' });
    const jobs = createJobs(db);
    const pace = { chunk: 1, delay_ms: 0, timeout_ms: 1000, next_run_at: 0 };
    await jobs.add({ id: 'sync_1', type: 'sync', params: {}, sites: [1], refused: [], begun: false, ...pace }, 0);
    await jobs.claim('nobody', 0, 1);
    await jobs.reap(1000);
    await db.close();
    const seen = await run(late, ['jobs', 'watch', 'sync_1', '--json']);
    expect(seen.code).toBe(1);
    expect(JSON.parse(seen.out)).toMatchObject({ status: 'failed', errors: [{ site_id: 0, code: 'svc_job_timeout' }] });
    expect((await run(late, ['jobs', 'watch', 'sync_1'])).err).toContain('\n  svc_job_timeout: The job exceeded');
  });

  it('migrates, checks and copies', async () => {
    const fresh = environment('maintenance');
    expect((await run(fresh, ['check'])).err).toContain('There is no database');
    expect(JSON.parse((await run(fresh, ['migrate', '--json'])).out)).toMatchObject({ from: 0 });
    const report = JSON.parse((await run(fresh, ['check', '--json'])).out);
    expect(report).toMatchObject({
      ok: true,
      integrity: ['ok'],
      foreign_keys: 0,
      secrets: { sealed: 0, unreadable: 0 },
    });
    const copy = join(folder, 'copy.db');
    expect(JSON.parse((await run(fresh, ['backup', copy, '--json'])).out)).toEqual({ file: copy, key_ids: [] });
    expect((await run(fresh, ['backup', copy])).err).toContain('exists already');
    expect((await run({ ...fresh, SITEFLEET_DB: `file:${copy}` }, ['check'])).code).toBe(0);
    // Without a name it goes into the folder of the daily backups, written by the thread that makes those.
    expect((await run(fresh, ['backup'])).err).toContain('SITEFLEET_BACKUP_DIR');
    const daily = { ...fresh, SITEFLEET_BACKUP_DIR: join(folder, 'daily') };
    const { file } = JSON.parse((await run(daily, ['backup', '--json'])).out);
    expect(file).toMatch(/daily\/sitefleet-\d{4}-\d\d-\d\dT\d{6}Z\.db$/);
    expect((await run({ ...fresh, SITEFLEET_DB: `file:${file}` }, ['check'])).code).toBe(0);
    const findings = JSON.parse((await run(daily, ['doctor', '--json'])).out) as { what: string; detail: string }[];
    expect(findings.find(({ what }) => what === 'Backups')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('0 h old'),
    });
  });

  it('says its version and helps', async () => {
    expect((await run(env, ['--version'])).out.trim()).toBe(version);
    expect(await run(env, ['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('demo') });
    expect((await run(env, ['frobnicate'])).code).toBe(1);
  });
});
