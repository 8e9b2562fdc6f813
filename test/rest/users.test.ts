/** `/v2/users` over HTTP: who may log in, who may change that, and what ends with a user. */

import type { Hono } from 'hono';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { type TestApp, testApp } from '../support/harness.js';
import { newKey } from '../support/logins.js';

const SERVER = 'http://127.0.0.1:8787';
const PASSWORD = 'correct horse';
let app: TestApp;
let http: Hono<HttpEnv>;
let admin: number;
const tokens = { read: '', write: '', read_write: '' };

beforeAll(async () => {
  app = await testApp({ sites: 1 });
  await app.connect(0);
  http = await app.service.http();
  const { keys, users } = app.service.store;
  const now = app.clock.now();
  for (const scope of ['read', 'write', 'read_write'] as const) tokens[scope] = (await newKey(keys, { scope })).token;
  const made = await users.add({ name: 'root', password_hash: '', rights: ['read', 'write'], now });
  admin = made?.id ?? 0;
});

interface Options {
  body?: unknown;
  token?: string;
  headers?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
async function ask(call: string, { body, token, headers }: Options = {}): Promise<{ status: number; body: any }> {
  const [method = '', path = ''] = call.split(' ');
  const authorization = path.startsWith('/v2') ? { Authorization: `Bearer ${token ?? tokens.read_write}` } : {};
  const reply = await http.request(`${SERVER}${path}`, {
    method,
    headers: { ...authorization, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, body: text === '' ? null : JSON.parse(text) };
}

const logIn = async (given: object) => (await ask('POST /session', { body: given })).status;
const tokenOf = (link: string) => new URL(link).hash.slice(1);
const logOf = async () => JSON.stringify(await app.db.all('SELECT * FROM action_log'));

describe('users', () => {
  it('are made with a password, listed by name, and never tell it', async () => {
    const made = await ask('POST /v2/users/add', { body: { name: 'Ada', right: 'read', password: PASSWORD } });
    expect(made.status).toBe(200);
    const ada = {
      id: made.body.data.id,
      name: 'Ada',
      right: 'read',
      may_approve: false,
      active: true,
      has_password: true,
      api_keys: 0,
      created: new Date(app.clock.now()).toISOString().replace('.000', ''),
    };
    expect(made.body).toEqual({ success: 1, message: 'The user was created.', data: ada });
    const listed = await ask('GET /v2/users', { token: tokens.read });
    expect(listed.body).toMatchObject({ total: 2, data: [ada, { name: 'root', right: 'write', has_password: false }] });
    expect(await logIn({ username: 'ada', password: PASSWORD })).toBe(200);
    const stored = JSON.stringify([await app.db.all('SELECT * FROM user'), await logOf()]);
    expect(stored).not.toContain(PASSWORD);
    expect((await ask('POST /v2/users/add', { body: { name: 'ADA', right: 'read' } })).body).toMatchObject({
      code: 'svc_already_exists',
      data: { status: 409, field: 'name' },
    });
  });

  it('are made with a link that logs in once within a day, and with which a password is chosen', async () => {
    const { body } = await ask('POST /v2/users/add', { body: { name: 'bo', right: 'write' } });
    expect(body.data).toMatchObject({ has_password: false, right: 'write' });
    expect(new Date(body.expires_at).getTime() - app.clock.now()).toBe(24 * 3600_000);
    const link = tokenOf(body.login_link);
    expect(JSON.stringify(await app.db.all('SELECT * FROM login_link'))).not.toContain(link);
    expect((await ask('GET /v2/users')).body.data[1]).not.toHaveProperty('login_link');
    expect([await logIn({ link }), await logIn({ link })]).toEqual([200, 401]);
    // Reset: the previous password stops working, and another link is created.
    const { id } = body.data;
    await ask(`PATCH /v2/users/${id}/edit`, { body: { password: PASSWORD } });
    expect(await logIn({ username: 'bo', password: PASSWORD })).toBe(200);
    const again = await ask(`PATCH /v2/users/${id}/edit`, { body: { password: null } });
    expect(await logIn({ username: 'bo', password: PASSWORD })).toBe(401);
    app.clock.move(24 * 3600_000);
    expect(await logIn({ link: tokenOf(again.body.login_link) })).toBe(401);
  });

  it('lose their sessions with a change, and by name act by it at once', async () => {
    const { id } = (await ask('POST /v2/users/add', { body: { name: 'cy', right: 'write', password: PASSWORD } })).body
      .data;
    const basic = { Authorization: `Basic ${btoa(`cy:${PASSWORD}`)}` };
    const run = (name: string, input: object) =>
      ask(`POST /abilities/svc/${name}-v1/run`, { headers: basic, body: { input } });
    expect((await run('sync-sites', {})).status).toBe(200);
    const opened = await http.request(`${SERVER}/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username: 'cy', password: PASSWORD }),
    });
    const headers = { Cookie: opened.headers.get('set-cookie')?.split(';')[0] ?? '' };
    const isIn = async () => (await ask('GET /session', { headers })).body.authenticated;
    expect(await isIn()).toBe(true);
    expect((await ask(`PUT /v2/users/${id}/edit`, { body: { right: 'read' } })).body.data.right).toBe('read');
    expect(await isIn()).toBe(false);
    expect((await run('sync-sites', {})).status).toBe(403);
    await ask(`PUT /v2/users/${id}/edit`, { body: { active: false } });
    expect(await logIn({ username: 'cy', password: PASSWORD })).toBe(401);
    expect((await run('sync-sites', {})).status).toBe(401);
    expect((await ask(`PUT /v2/users/${id}/edit`, { body: { password: null } })).body.code).toBe('svc_rest_conflict');
    await ask(`PUT /v2/users/${id}/edit`, { body: { active: true } });
    expect(await logIn({ username: 'cy', password: PASSWORD })).toBe(200);
    expect((await ask(`DELETE /v2/users/${id}/delete`)).body.data.name).toBe('cy');
    expect(await logIn({ username: 'cy', password: PASSWORD })).toBe(401);
    expect((await ask(`DELETE /v2/users/${id}/delete`)).body.code).toBe('svc_user_not_found');
  });

  it('can do no more by their keys than by name, and leave none behind', async () => {
    const { keys } = app.service.store;
    const { id } = (await ask('POST /v2/users/add', { body: { name: 'eve', right: 'write', password: PASSWORD } })).body
      .data;
    const own = await newKey(keys, { user_id: id });
    // A key that a key of hers makes is hers, too.
    const made = await ask('POST /v2/rest-api/add-key', {
      token: own.token,
      body: { active: true, permissions: 'read,write' },
    });
    const { token } = made.body;
    const calls = async () => [
      (await ask('GET /v2/tags', { token })).status,
      (await ask('POST /v2/sites/sync', { token, body: {} })).status,
    ];
    expect(await calls()).toEqual([200, 200]);
    const listed = (await ask('GET /v2/users')).body.data.find((user: { name: string }) => user.name === 'eve');
    expect(listed.api_keys).toBe(2);
    await ask(`PATCH /v2/users/${id}/edit`, { body: { right: 'read' } });
    expect(await calls()).toEqual([200, 403]);
    await ask(`PATCH /v2/users/${id}/edit`, { body: { active: false } });
    expect(await calls()).toEqual([401, 401]);
    expect((await ask('GET /v2/tags', { token })).body.code).toBe('svc_rest_authentication_disabled_key');
    await ask(`PATCH /v2/users/${id}/edit`, { body: { active: true, right: 'write' } });
    expect(await calls()).toEqual([200, 200]);
    expect((await ask(`DELETE /v2/users/${id}/delete`)).body).toMatchObject({
      message: 'The user was deleted, with 2 API keys.',
      data: { name: 'eve', api_keys: 2 },
    });
    expect(await calls()).toEqual([401, 401]);
    const left = (await ask('GET /v2/rest-api/keys')).body.data.map((key: { id: number }) => key.id);
    expect(left).not.toContain(own.key.id);
    expect(left).not.toContain(made.body.data.id);
    // Keys of nobody and of others stay.
    expect((await ask('GET /v2/tags')).status).toBe(200);
  });

  it('keep the last one who may change anything, also of two who go at once', async () => {
    const { data } = (await ask('GET /v2/users')).body;
    const writers = data.filter(({ right }: { right: string }) => right === 'write');
    for (const { id } of writers) if (id !== admin) await ask(`DELETE /v2/users/${id}/delete`);
    for (const [call, body] of [
      [`DELETE /v2/users/${admin}/delete`, undefined],
      [`PATCH /v2/users/${admin}/edit`, { right: 'read' }],
      [`PATCH /v2/users/${admin}/edit`, { active: false }],
    ] as const) {
      const refused = await ask(call, body === undefined ? {} : { body });
      expect([call, refused.status, refused.body.code]).toEqual([call, 409, 'svc_rest_conflict']);
    }
    const other = (await ask('POST /v2/users/add', { body: { name: 'dee', right: 'write' } })).body.data.id;
    const both = await Promise.all([
      ask(`PATCH /v2/users/${admin}/edit`, { body: { active: false } }),
      ask(`DELETE /v2/users/${other}/delete`),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    if (both[0]?.status === 200) admin = other;
  });

  it('cannot be changed by a user who would gain rights', async () => {
    const asReader = await ask('POST /v2/users/add', { token: tokens.read, body: { name: 'x', right: 'read' } });
    expect(asReader.body.code).toBe('svc_rest_insufficient_permission');
    // A key that can only write could otherwise read through the login of another user.
    for (const call of ['POST /v2/users/add', `PATCH /v2/users/${admin}/edit`, `DELETE /v2/users/${admin}/delete`]) {
      const body = call.startsWith('POST') ? { name: 'x', right: 'write', password: PASSWORD } : { password: PASSWORD };
      const refused = await ask(call, { token: tokens.write, ...(call.startsWith('DELETE') ? {} : { body }) });
      expect([call, refused.status, refused.body.data.needed]).toEqual([call, 403, 'read']);
    }
    expect((await ask('GET /v2/users')).body.data.map(({ name }: { name: string }) => name)).not.toContain('x');
  });

  it('are refused with the field that was wrong', async () => {
    for (const [body, status, field] of [
      [{ name: 'a:b', right: 'read' }, 400, 'name'],
      [{ name: ' a', right: 'read' }, 400, 'name'],
      // Names that look like others, or turn the text after them.
      [{ name: 'ad\u200Bmin', right: 'read' }, 400, 'name'],
      [{ name: 'x\u202Ey', right: 'read' }, 400, 'name'],
      [{ name: 'x\uFFFEy', right: 'read' }, 400, 'name'],
      [{ name: 'x'.repeat(61), right: 'read' }, 400, 'name'],
      [{ name: 'x', right: 'admin' }, 400, 'right'],
      [{ name: 'x' }, 400, 'right'],
      [{ name: 'x', right: 'read', password: 'short' }, 400, 'password'],
      [{ name: 'x', right: 'read', passwort: PASSWORD }, 400, 'passwort'],
    ] as const) {
      const refused = await ask('POST /v2/users/add', { body });
      expect([body, refused.status, refused.body.data.field]).toEqual([body, status, field]);
    }
    expect((await ask('PATCH /v2/users/999/edit', { body: { right: 'read' } })).body.code).toBe('svc_user_not_found');
  });

  it('stand in the log of what was done, by whom', async () => {
    await expect.poll(logOf).toContain('"user"');
    const rows = await app.db.all("SELECT action, name FROM action_log WHERE context = 'user'");
    expect(rows).toContainEqual(expect.objectContaining({ action: 'created', name: 'Ada' }));
    expect(rows).toContainEqual(expect.objectContaining({ action: 'deleted', name: 'cy' }));
  });
});
