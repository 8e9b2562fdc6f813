/**
 * Searches for every secret of a full run in all output and storage: files, log, answers of all interfaces, errors,
 * metrics, backup.
 */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorBody } from '../../src/runtime/errors.js';
import { createLog } from '../../src/runtime/telemetry/log.js';
import { backup } from '../../src/store/driver/embedded.js';
import { openDb } from '../../src/store/driver/open.js';
import { SEALED } from '../../src/store/vault/sealed.js';
import { hashPassword } from '../../src/store/vault/vault.js';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { routes } from '../../src/surfaces/rest/index.js';
import { everyOperation } from '../operations/cases.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { ACCEPT, INITIALIZE } from '../support/mcp-messages.js';

const SITES = 4;
const folder = tempFolder('secrets');
const made = (what: string) => `${what}-${randomBytes(12).toString('hex')}`;

const own = {
  secret_key: randomBytes(32).toString('hex'),
  db_token: made('dbtoken'),
  metrics_token: made('metrics'),
  bot_token: '4711:secret-of-the-bot',
  smtp_password: made('smtp'),
  admin_password: made('admin'),
  login: made('login p@ss/wörd:'),
  wrong_password: made('wrong'),
  http_pass: made('basic'),
  http_user: made('basicuser'),
  backup_password: made('backup'),
  pagespeed: made('pagespeed'),
  site_password: made('wp'),
  unique_id: made('unique'),
};
/** Name → the secret in plain text. Filled during the run. */
const secrets = new Map<string, string>(Object.entries(own));

/** Where it was seen → all texts from there. */
const seen = new Map<string, string[]>();
const note = (where: string, text: string) => {
  const texts = seen.get(where) ?? [];
  texts.push(text);
  seen.set(where, texts);
};

let app: TestApp;
let http: Hono<HttpEnv>;
let token = '';

beforeAll(async () => {
  app = await testApp({
    sites: SITES,
    realClock: true,
    log: createLog('trace', { write: (line) => note('log', line) }),
    fleet: { password: own.site_password },
    config: {
      db: `file:${join(folder, 'fleet.db')}`,
      secret_key: own.secret_key,
      db_token: own.db_token,
      metrics_token: own.metrics_token,
      admin_password: own.admin_password,
      smtp_url: `smtp://mailer:${own.smtp_password}@127.0.0.1:9`,
      job_delay_ms: 0,
      batch_threshold: 3,
      log_level: 'trace',
      site_timeout_ms: 2000,
    },
  });
  for (let i = 0; i < SITES; i++) {
    app.fleet.site(i).uniqueId = own.unique_id;
    await app.connect(i);
  }
  http = await app.service.http();
  const { store } = app.service;
  const now = Date.now();
  await store.users.add({
    name: 'ada',
    password_hash: await hashPassword(own.login),
    rights: ['read', 'write'],
    now,
  });
  token = (await newKey(store.keys)).token;
  secrets.set('api key', token);
});

async function ask(method: string, path: string, authorization: string, body?: unknown): Promise<string> {
  const reply = await http.request(`http://127.0.0.1:8787${path}`, {
    method,
    headers: {
      Authorization: authorization,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      Accept: 'application/json, text/event-stream',
      'Idempotency-Key': `k${Math.random()}`,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  note(`${path.split('/')[1]} answers`, `${JSON.stringify([...reply.headers])}\n${text}`);
  return text;
}

const bearer = () => `Bearer ${token}`;
const basic = (password: string) => `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;

/** Calls everything, through every interface, with right and with wrong credentials. */
async function fullRun(): Promise<void> {
  const first = app.fleet.site(0);
  // A site behind HTTP Basic: its login is stored, sent, and refused when it changes.
  first.faults.httpAuth = { user: own.http_user, pass: own.http_pass };
  const { http_user, http_pass, unique_id: uniqueid } = own;
  await ask('PUT', '/v2/sites/1/edit', bearer(), { http_user, http_pass, uniqueid });
  const recipient = { type: 'telegram', name: 'Bot', url: 'http://127.0.0.1:9/', token: own.bot_token, chat_id: '1' };
  await ask('POST', '/v2/alerts/recipients/add', bearer(), recipient);
  await ask('POST', '/v2/alerts/recipients/1/test', bearer(), {});
  await ask('GET', '/v2/alerts/recipients', bearer());
  await everyOperation(app, SITES, async ({ name, input }) => {
    const run = `/wp-json/wp-abilities/v1/abilities/svc/${name}-v1/run`;
    const answer = await app.call(name, input).catch((error: unknown) => {
      note('error bodies', JSON.stringify(errorBody(error)));
      throw error;
    });
    note('operation answers', JSON.stringify(answer));
    await ask('POST', run, basic(own.login), { input });
    return answer;
  });
  for (const [i, site] of app.fleet.sites.entries()) {
    site.faults.refused = i === 1;
    site.faults.http500 = i === 2;
    if (i === 0) site.faults.httpAuth = { user: own.http_user, pass: 'changed' };
  }
  await ask('POST', '/wp-json/wp-abilities/v1/abilities/svc/sync-sites-v1/run', bearer(), {
    input: { site_ids_or_domains: [1, 2, 3] },
  });
  // A failing connection, with every secret of the call in it.
  const { url, admin, uniqueId } = app.fleet.site(3);
  await ask('POST', '/v2/sites/add', bearer(), { url, admin, admin_password: own.wrong_password, uniqueid: uniqueId });
  await ask('PUT', '/v2/settings/api-backups/cpanel/edit', bearer(), { password: own.backup_password });
  await ask('PUT', '/v2/settings/api-backups/vultr/edit', bearer(), { secrets: { api_key: own.backup_password } });
  await app.service.store.settings.write([{ key: 'pagespeed-key', value: own.pagespeed, secret: true }], Date.now());
  const created = JSON.parse(
    await ask('POST', '/v2/rest-api/add-key', bearer(), { permissions: 'read', active: 1 }),
  ) as {
    token?: string;
  };
  // Shown once, in this answer only.
  if (typeof created.token !== 'string') throw new Error('no key was made');
  const answers = seen.get('v2 answers') ?? [];
  answers[answers.length - 1] = (answers.at(-1) ?? '').replace(created.token, '');
  secrets.set('created api key', created.token);

  for (const row of routes.filter(({ on }) => on.includes('GET'))) {
    await ask('GET', `/v2${row.path.replace(/\{\w+\}/g, '1')}`, bearer());
  }
  for (const credentials of [basic(own.wrong_password), `Bearer ${own.wrong_password}`, `Bearer ${token}x`, '']) {
    await ask('GET', '/v2/sites', credentials);
    await ask('GET', '/wp-json/wp-abilities/v1/abilities/svc/list-sites-v1/run', credentials);
    await ask('POST', '/mcp', credentials, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    await ask('GET', '/metrics', credentials);
  }
  await overMcp();
  await ask('GET', '/metrics', `Bearer ${own.metrics_token}`);
  await ask('GET', '/readyz', '');
}

async function overMcp(): Promise<void> {
  const headers = { ...ACCEPT, authorization: bearer() };
  const post = async (body: unknown, session: Record<string, string> = {}) => {
    const reply = await http.request('http://127.0.0.1:8787/mcp', {
      method: 'POST',
      headers: { ...headers, ...session },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    note('mcp answers', text);
    return { text, session: reply.headers.get('mcp-session-id') ?? '' };
  };
  const { session } = await post(INITIALIZE);
  const open = { 'mcp-session-id': session };
  let id = 2;
  const tool = (name: string, input: object) =>
    post({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params: { name, arguments: input } }, open);
  await post({ jsonrpc: '2.0', id: ++id, method: 'tools/list' }, open);
  const { text } = await tool('svc-list-sites-v1', {});
  expect(text).toContain(app.fleet.site(0).url);
  await tool('svc-get-site-v1', { site_id_or_domain: 1, include_stats: true });
  await tool('svc-sync-sites-v1', { site_ids_or_domains: [1, 2, 3] });
  await tool('svc-reconnect-site-v1', { site_id_or_domain: 2 });
  const { url, admin } = app.fleet.site(3);
  await tool('svc-add-site-v1', { url: `${url}x`, admin, admin_password: own.wrong_password });
  for (const method of ['resources/list', 'prompts/list']) await post({ jsonrpc: '2.0', id: ++id, method }, open);
}

/** A secret in all the encodings in which it might have been written. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    ...new Set([
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      bytes.toString('base64').replace(/=+$/, '').slice(0, -1),
      bytes.toString('base64url').slice(0, -1),
      bytes.toString('hex'),
    ]),
  ];
}

describe('a full run', () => {
  it('leaves none of its secrets anywhere', async () => {
    await fullRun();
    const connections = await app.service.store.sites.connections([1, 2, 3, 4, 5]);
    for (const { site_id, regverify } of connections.values())
      if (regverify !== null) secrets.set(`regverify ${site_id}`, regverify);
    // All secrets were stored, or there would be nothing to leak.
    const { http_user, http_pass, unique_id } = own;
    expect(connections.get(1)).toMatchObject({ http_user, http_pass, unique_id });
    for (const name of ['api-backups-secret.cpanel', 'api-backups-secret.vultr'])
      expect(await app.service.store.settings.secret(name)).toBe(own.backup_password);
    expect(secrets.size).toBeGreaterThan(SITES + Object.keys(own).length);
    const { private_key } = await testKey;
    for (const [i, line] of private_key.split('\n').entries()) if (line.length > 60) secrets.set(`key line ${i}`, line);

    await app.db.run('PRAGMA wal_checkpoint(PASSIVE)').catch(() => undefined);
    const writer = await openDb(`file:${join(folder, 'fleet.db')}`);
    await backup(writer, join(folder, 'backup.db'));
    await writer.close();
    for (const name of readdirSync(folder)) note(`file ${name}`, readFileSync(join(folder, name)).toString('latin1'));

    const places = [...seen].map(([where, texts]) => [where, texts.join('\n')] as const);
    for (const where of ['log', 'v2 answers', 'wp-json answers', 'mcp answers', 'metrics answers'])
      expect([where, (seen.get(where) ?? []).length > 0]).toEqual([where, true]);
    expect(places.map(([where]) => where)).toEqual(
      expect.arrayContaining(['file fleet.db', 'file fleet.db-wal', 'file backup.db']),
    );

    const found: string[] = [];
    for (const [name, secret] of secrets) {
      expect(secret.length, name).toBeGreaterThan(12);
      for (const [where, text] of places)
        for (const spelling of spellings(secret))
          if (text.includes(spelling) || text.includes(Buffer.from(spelling).toString('latin1')))
            found.push(
              `${name} in ${where}: …${text.slice(Math.max(0, text.indexOf(spelling) - 80), text.indexOf(spelling) + 20)}`,
            );
    }
    const bytes = places.reduce((sum, [, text]) => sum + text.length, 0);
    process.stderr.write(
      `${JSON.stringify({ secrets: secrets.size, places: places.length, bytes, found: found.length })}\n`,
    );
    expect(found).toEqual([]);
  });

  it('sealed nothing in a column that is not on the list of sealed ones, and something in each that is', async () => {
    const tables = await app.db.all("SELECT name FROM sqlite_schema WHERE type = 'table'");
    const sealed = new Set<string>();
    for (const { name } of tables) {
      for (const row of await app.db.all(`SELECT * FROM "${name}"`)) {
        for (const [column, value] of Object.entries(row)) {
          const text = value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);
          // Anywhere in the text: a sealed text may be part of a document, too.
          if (/v\d+\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]{22}/.test(text)) sealed.add(`${name}.${column}`);
        }
      }
    }
    expect([...sealed].sort()).toEqual(
      SEALED.flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`)).sort(),
    );
  });

  it('would have found one', () => {
    expect(spellings('s p@ce').some((spelling) => 'x=s%20p%40ce'.includes(spelling))).toBe(true);
    expect([...seen.keys()].length).toBeGreaterThan(8);
    // The search itself works: it finds a known text.
    expect((seen.get('file fleet.db') ?? []).concat(seen.get('file fleet.db-wal') ?? []).join('')).toContain(
      'site-0001',
    );
  });
});
