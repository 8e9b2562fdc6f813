/** Browser sessions of users, over HTTP: the cookie, forged requests, when a session ends, and what it may do. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { Hono } from 'hono';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashToken } from '../../src/store/vault/vault.js';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { cheapHash } from '../support/cheap-hash.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp } from '../support/harness.js';
import { newKey } from '../support/logins.js';

const HOUR = 3600_000;
const URL_ = 'http://127.0.0.1:8787';
const PASSWORD = 'correct horse';
const PACKED = brotliCompressSync(`/* ${'x'.repeat(3000)} */`);

let app: TestApp;
let http: Hono<HttpEnv>;
let pageFolder: string;

beforeAll(async () => {
  pageFolder = tempFolder('page');
  mkdirSync(join(pageFolder, 'assets'));
  writeFileSync(join(pageFolder, 'index.html'), '<!doctype html><title>Sitefleet</title>');
  writeFileSync(join(pageFolder, 'assets', 'app-1a2b.js.br'), PACKED);
  writeFileSync(join(pageFolder, 'secret.txt'), 'not an asset');
  app = await testApp({ sites: 1, pageFolder });
  await app.connect(0);
  http = await app.service.http();
});

const hashed = cheapHash(PASSWORD);

/** A separate user per test, so that no test ends another's sessions. */
let users = 0;
async function newUser(rights: ('read' | 'write')[] = ['read', 'write']): Promise<string> {
  const name = `ada-${++users}`;
  await app.service.store.users.add({
    name,
    password_hash: hashed,
    rights,
    now: app.clock.now(),
  });
  return name;
}

interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
  body: any;
  headers: Headers;
  setCookie: string | null;
}

async function ask(
  call: string,
  { body, headers = {}, at = URL_ }: { body?: unknown; headers?: Record<string, string>; at?: string } = {},
): Promise<Reply> {
  const [method = '', path = ''] = call.split(' ');
  const reply = await http.request(`${at}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const json = reply.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: reply.status,
    body: json ? JSON.parse(text) : text,
    headers: reply.headers,
    setCookie: reply.headers.get('set-cookie'),
  };
}

async function newLink(username: string, ms = 15 * 60_000): Promise<string> {
  const now = app.clock.now();
  const link = await app.service.store.loginLinks.add(username, now, now + ms);
  if (link === undefined) throw new Error(`no link for ${username}`);
  return link;
}

const cookiePair = (setCookie: string | null) => setCookie?.split(';')[0] ?? '';

interface LoggedIn {
  /** `name=value`, as a browser sends it. */
  cookie: string;
  csrf: string;
}

/** Logs in by a link, which needs no password hashing. */
async function login(username: string): Promise<LoggedIn> {
  const { status, body, setCookie } = await ask('POST /session', { body: { link: await newLink(username) } });
  expect(status).toBe(200);
  return { cookie: cookiePair(setCookie), csrf: body.csrf };
}

const as = ({ cookie }: Pick<LoggedIn, 'cookie'>) => ({ headers: { Cookie: cookie } });
/** Headers as our own page sends them with a change. */
const fromPage = ({ cookie, csrf }: LoggedIn, change: Record<string, string | undefined> = {}) => ({
  headers: Object.fromEntries(
    Object.entries({ Cookie: cookie, Origin: URL_, 'X-Sitefleet-CSRF': csrf, ...change }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    ),
  ),
});
/** Whether the service accepts a session, ignoring a browser's cookie rules. */
const whoIs = async (session: Pick<LoggedIn, 'cookie'>) => (await ask('GET /session', as(session))).body.authenticated;

it('reads no body that is longer than the fields of any login', async () => {
  const username = await newUser();
  const long = { username, password: 'x'.repeat(16 * 1024) };
  const refused = { status: 413, body: { code: 'svc_rest_request_entity_too_large' } };
  for (const call of ['POST /session', 'PUT /session/password'])
    expect(await ask(call, { ...fromPage(await login(username)), body: long })).toMatchObject(refused);
  // Judged by its length before anything of it has arrived.
  const headers = { 'content-length': String(16 * 1024 + 1) };
  expect(await ask('POST /session', { headers, body: { username, password: PASSWORD } })).toMatchObject(refused);
  // As long as fields may be, in the longest spelling.
  const longest = '\u0001'.repeat(1_000);
  expect((await ask('POST /session', { body: { username: longest, password: longest } })).status).toBe(401);
});

describe('PUT /session/password', () => {
  const next = 'battery staple';
  const change = (session: LoggedIn, body: object) => ask('PUT /session/password', { ...fromPage(session), body });

  it('goes on with a new cookie, and ends all other sessions and links', async () => {
    const username = await newUser(['read']);
    const [session, other, link] = [await login(username), await login(username), await newLink(username)];
    const reply = await change(session, { current_password: PASSWORD, password: next });
    expect([reply.status, reply.body.user]).toEqual([
      200,
      { name: username, right: 'read', may_approve: false, has_password: true },
    ]);
    expect(await whoIs({ cookie: cookiePair(reply.setCookie) })).toBe(true);
    expect([await whoIs(session), await whoIs(other)]).toEqual([false, false]);
    expect((await ask('POST /session', { body: { link } })).status).toBe(401);
    expect((await ask('POST /session', { body: { username, password: PASSWORD } })).status).toBe(401);
    expect((await ask('POST /session', { body: { username, password: next } })).status).toBe(200);
    const logged = await app.db.all(
      "SELECT actor_type, actor, via, operation, input FROM action_log WHERE context = 'call' AND actor = ?",
      [username],
    );
    const input = JSON.stringify({ user: username });
    expect(logged).toEqual([
      { actor_type: 'user', actor: username, via: 'rest', operation: 'PUT /session/password', input },
    ]);
  });

  it('needs the current one, and says so without ending the session', async () => {
    const username = await newUser();
    const session = await login(username);
    for (const [body, status, field] of [
      [{ current_password: 'wrong', password: next }, 403, 'current_password'],
      [{ password: next }, 400, 'current_password'],
      [{ current_password: PASSWORD, password: 'short' }, 400, 'password'],
      [{ current_password: PASSWORD, password: next, right: 'write' }, 400, 'right'],
    ] as const) {
      const reply = await change(session, body);
      expect([reply.status, reply.body.data.field]).toEqual([status, field]);
    }
    expect(await whoIs(session)).toBe(true);
    expect((await ask('POST /session', { body: { username, password: PASSWORD } })).status).toBe(200);
  });

  it('is chosen once by a user who came by a link and has none; before that, no password logs them in', async () => {
    const username = `ada-${++users}`;
    await app.service.store.users.add({ name: username, password_hash: '', rights: ['read'], now: app.clock.now() });
    expect((await ask('POST /session', { body: { username, password: 'anything at all' } })).status).toBe(401);
    const session = await login(username);
    expect((await ask('GET /session', as(session))).body.user.has_password).toBe(false);
    const [first, second] = await Promise.all([
      change(session, { password: next }),
      change(session, { password: 'another one' }),
    ]);
    expect([first.status, second.status].sort()).toEqual([200, 409]);
    expect((await change(session, { password: next })).status).toBe(401);
  });

  it('is refused to a forged request, without a session, by other methods, and on a server that is read-only', async () => {
    const session = await login(await newUser());
    const body = { current_password: PASSWORD, password: next };
    const forged = { ...fromPage(session, { 'X-Sitefleet-CSRF': undefined }), body };
    expect((await ask('PUT /session/password', forged)).body.code).toBe('svc_csrf_refused');
    expect((await ask('PUT /session/password', { body })).status).toBe(401);
    const post = await ask('POST /session/password', { ...fromPage(session), body });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'PUT']);
    const readOnly = await testApp({ sites: 1, config: { read_only: true } });
    const { store } = readOnly.service;
    const now = readOnly.clock.now();
    await store.users.add({ name: 'ada', password_hash: hashed, rights: ['read'], now });
    const link = (await store.loginLinks.add('ada', now, now + HOUR)) ?? '';
    const closed = await readOnly.service.http();
    const json = { 'Content-Type': 'application/json' };
    const opened = await closed.request(`${URL_}/session`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ link }),
    });
    const { csrf } = (await opened.json()) as { csrf: string };
    const headers = { ...json, ...fromPage({ cookie: cookiePair(opened.headers.get('set-cookie')), csrf }).headers };
    const reply = await closed.request(`${URL_}/session/password`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(body),
    });
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([403, 'svc_permission_denied']);
  });
});

describe('a session', () => {
  it('ends 30 days after the login, however often it is used, and says so', async () => {
    const username = await newUser();
    const began = app.clock.now();
    let session = await login(username);
    const end = began + 30 * 24 * HOUR;
    for (;;) {
      const reply = await ask('GET /session', as(session));
      if (app.clock.now() >= end) {
        expect(reply.body).toEqual({ authenticated: false });
        break;
      }
      const expires = Date.parse(reply.body.expires_at);
      expect(expires).toBe(Math.min(app.clock.now() + 12 * HOUR, end));
      if (reply.setCookie !== null) session = { ...session, cookie: cookiePair(reply.setCookie) };
      app.clock.move(Math.min(10 * HOUR, end - app.clock.now()));
    }
    expect((await ask('GET /v2/sites', as(session))).status).toBe(401);
    expect(await whoIs(await login(username))).toBe(true);
  });

  it('ends everywhere with DELETE /session/everywhere, links too, and those of others go on', async () => {
    const [username, other] = [await newUser(['read']), await newUser()];
    const [here, there, theirs, link] = [
      await login(username),
      await login(username),
      await login(other),
      await newLink(username),
    ];
    const forged = await ask('DELETE /session/everywhere', fromPage(here, { 'X-Sitefleet-CSRF': undefined }));
    expect([forged.status, await whoIs(there)]).toEqual([403, true]);
    const reply = await ask('DELETE /session/everywhere', fromPage(here));
    expect([reply.status, reply.setCookie]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect([await whoIs(here), await whoIs(there), await whoIs(theirs)]).toEqual([false, false, true]);
    expect((await ask('POST /session', { body: { link } })).status).toBe(401);
    expect((await ask('DELETE /session/everywhere', fromPage(here))).status).toBe(401);
    expect((await ask('GET /session/everywhere', as(theirs))).headers.get('allow')).toBe('DELETE');
  });
});

describe('the cookie', () => {
  it('is random, for this host, out of reach of scripts and of other sites', async () => {
    const username = await newUser();
    const first = await ask('POST /session', { body: { username, password: PASSWORD } });
    expect(first.setCookie).toMatch(/^sitefleet_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const second = await ask('POST /session', { body: { username, password: PASSWORD } });
    expect(cookiePair(second.setCookie)).not.toBe(cookiePair(first.setCookie));
    expect(second.headers.get('cache-control')).toBe('no-store');
  });

  it('is Secure and bound to the host by name where the client came by TLS', async () => {
    const body = { username: await newUser(), password: PASSWORD };
    const at = 'https://127.0.0.1:8787';
    const reply = await ask('POST /session', { body, at });
    expect(reply.setCookie).toMatch(/^__Host-sitefleet_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
    const cookie = cookiePair(reply.setCookie);
    expect((await ask('GET /session', { ...as({ cookie }), at })).body.authenticated).toBe(true);
    // Over plain HTTP anyone on the network path could have set it.
    expect(await whoIs({ cookie })).toBe(false);
    const planted = cookie.replace('__Host-', '');
    expect((await ask('GET /session', { ...as({ cookie: planted }), at })).body.authenticated).toBe(false);
  });

  it('stands nowhere in the database, only its digest', async () => {
    const session = await login(await newUser());
    const value = session.cookie.split('=')[1] ?? '';
    const rows = await app.db.all('SELECT * FROM web_session');
    expect(JSON.stringify(rows)).toContain(hashToken(value));
    expect(JSON.stringify(rows)).not.toContain(value);
    expect(JSON.stringify(rows)).not.toContain(session.csrf);
  });

  it('is not taken over plain HTTP from another machine', async () => {
    const body = { username: await newUser(), password: PASSWORD };
    const exposed = await testApp({ sites: 1, config: { host: '0.0.0.0', trust_proxy: true } });
    const outside = await exposed.service.http();
    const reply = await outside.request('http://fleet.example/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '192.0.2.7', 'X-Forwarded-Proto': 'http' },
      body: JSON.stringify(body),
    });
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([
      400,
      'svc_rest_authentication_bad_request',
    ]);
  });
});

describe('GET /session', () => {
  it('says that no user is logged in, or which one is', async () => {
    expect((await ask('GET /session')).body).toEqual({ authenticated: false });
    const name = await newUser();
    const session = await login(name);
    const known = {
      authenticated: true,
      user: { name, right: 'write', may_approve: false, has_password: true },
      expires_at: new Date(app.clock.now() + 12 * HOUR).toISOString(),
      first_start: false,
    };
    // Browsers send the cookie to every port of the host: it alone does not give the token.
    expect((await ask('GET /session', as(session))).body).toEqual(known);
    expect((await ask('GET /session', fromPage(session))).body).toEqual({ ...known, csrf: session.csrf });
    const wrong = fromPage(session, { 'X-Sitefleet-CSRF': `${session.csrf}x` });
    expect((await ask('GET /session', wrong)).body).toEqual(known);
    const reader = await login(await newUser(['read']));
    expect((await ask('GET /session', as(reader))).body.user.right).toBe('read');
  });
});

describe('a login', () => {
  it('refuses a wrong password and an unknown name by the same words', async () => {
    const username = await newUser();
    const wrong = await ask('POST /session', { body: { username, password: 'wrong' } });
    const unknown = await ask('POST /session', { body: { username: 'nobody-here', password: 'wrong' } });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'svc_permission_denied']);
    expect(unknown.body).toEqual(wrong.body);
    expect(wrong.setCookie).toBeNull();
    // With this header a browser would show its own login prompt.
    expect(wrong.headers.get('www-authenticate')).toBeNull();
  });

  it.each<[string, unknown, string, string]>([
    ['a text', 'ada', 'rest_invalid_json', ''],
    ['a field that there is not', { username: 'a', password: 'b', remember: true }, 'rest_invalid_param', 'remember'],
    ['no password', { username: 'a' }, 'rest_invalid_param', 'password'],
    ['a password that is a number', { username: 'a', password: 1 }, 'rest_invalid_param', 'password'],
    ['a link and a name', { link: 'x', username: 'a' }, 'rest_invalid_param', 'username'],
    ['an endless name', { username: 'a'.repeat(1001), password: 'b' }, 'rest_invalid_param', 'username'],
  ])('refuses %s', async (_name, body, code, field) => {
    const reply = await ask('POST /session', { body });
    expect([reply.status, reply.body.code, reply.body.data.field ?? '']).toEqual([400, code, field]);
  });

  it('takes JSON only, which a form of another site cannot send', async () => {
    const body = new URLSearchParams({ username: 'a', password: 'b' });
    const reply = await http.request(`${URL_}/session`, { method: 'POST', body });
    expect(reply.status).toBe(415);
  });

  it('is not made for a page of another origin', async () => {
    const body = { username: await newUser(), password: PASSWORD };
    const reply = await ask('POST /session', { body, headers: { Origin: 'http://evil.example' } });
    expect([reply.status, reply.setCookie]).toEqual([403, null]);
  });

  it('slows down who guesses, as everywhere', async () => {
    const username = await newUser();
    const statuses: number[] = [];
    let last: Reply | undefined;
    for (let i = 0; i < 12; i += 1) {
      last = await ask('POST /session', { body: { username, password: `guess ${i}` } });
      statuses.push(last.status);
    }
    expect(statuses.slice(0, 10)).toEqual(new Array(10).fill(401));
    expect(statuses.slice(10)).toEqual([429, 429]);
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
    // The right password is delayed as well; otherwise guessing would work.
    expect((await ask('POST /session', { body: { username, password: PASSWORD } })).status).toBe(429);
    app.clock.move(10 * 60_000);
    expect((await ask('POST /session', { body: { username, password: PASSWORD } })).status).toBe(200);
  });

  it('by a link works once, also where two come at once', async () => {
    const link = await newLink(await newUser());
    const both = await Promise.all([1, 2].map(() => ask('POST /session', { body: { link } })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    const late = await ask('POST /session', { body: { link } });
    expect([late.status, late.body.code, late.setCookie]).toEqual([401, 'svc_permission_denied', null]);
  });

  it('by a link ends with its time, and with another password', async () => {
    const [inTime, late] = [await newUser(), await newUser()];
    const [first, second] = [await newLink(inTime), await newLink(late)];
    app.clock.move(15 * 60_000 - 1);
    expect((await ask('POST /session', { body: { link: first } })).status).toBe(200);
    app.clock.move(1);
    expect((await ask('POST /session', { body: { link: second } })).status).toBe(401);
    const third = await newLink(late);
    await app.service.store.users.change(late, { password_hash: hashed });
    expect((await ask('POST /session', { body: { link: third } })).status).toBe(401);
    expect(JSON.stringify(await app.db.all('SELECT * FROM login_link'))).not.toContain(third);
  });

  it('ends the session that the browser had', async () => {
    const username = await newUser();
    const before = await login(username);
    await ask('POST /session', { body: { link: await newLink(username) }, headers: { Cookie: before.cookie } });
    expect(await whoIs(before)).toBe(false);
  });

  it('takes neither a cookie for the run endpoint nor for MCP', async () => {
    const session = await login(await newUser());
    const mcp = await ask('POST /mcp', { ...fromPage(session), body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
    expect(mcp.status).toBe(401);
    const run = '/wp-json/wp-abilities/v1/abilities/svc/list-sites-v1/run';
    expect((await ask(`GET ${run}`, as(session))).status).toBe(401);
    expect((await ask('GET /v2/sites', as(session))).status).toBe(200);
  });
});

describe('a change with the cookie', () => {
  const change = { name: 'Renamed' };

  it('is made for our own page, with the token', async () => {
    const session = await login(await newUser());
    const reply = await ask('PUT /v2/sites/1/edit', { ...fromPage(session), body: change });
    expect([reply.status, reply.body.code]).toEqual([200, undefined]);
  });

  it.each<[string, Record<string, string | undefined>, string]>([
    ['without Origin', { Origin: undefined }, 'svc_csrf_refused'],
    ['of another origin', { Origin: 'http://evil.example' }, 'svc_forbidden_origin'],
    ['of another port', { Origin: 'http://127.0.0.1:3000' }, 'svc_forbidden_origin'],
    ['of a page without an origin', { Origin: 'null' }, 'svc_forbidden_origin'],
    ['without the token', { 'X-Sitefleet-CSRF': undefined }, 'svc_csrf_refused'],
    ['with another token', { 'X-Sitefleet-CSRF': 'x'.repeat(43) }, 'svc_csrf_refused'],
    ['with an empty token', { 'X-Sitefleet-CSRF': '' }, 'svc_csrf_refused'],
  ])('is refused %s', async (_name, headers, code) => {
    const session = await login(await newUser());
    const reply = await ask('PUT /v2/sites/1/edit', { ...fromPage(session, headers), body: { name: 'Forged' } });
    expect([reply.status, reply.body.code]).toEqual([403, code]);
    expect((await ask('GET /v2/sites/1', as(session))).body.data?.name).not.toBe('Forged');
    if (headers.Origin !== undefined) return;
    expect((await ask('DELETE /session', fromPage(session, headers))).status).toBe(403);
    expect(await whoIs(session)).toBe(true);
  });

  it('is refused with the token of another session', async () => {
    const name = await newUser();
    const [mine, other] = [await login(name), await login(name)];
    expect(mine.csrf).not.toBe(other.csrf);
    const reply = await ask('PUT /v2/sites/1/edit', { ...fromPage({ ...mine, csrf: other.csrf }), body: change });
    expect(reply.body.code).toBe('svc_csrf_refused');
  });

  it('is refused for a page that may call with keys, where the operator allows its origin', async () => {
    const allowing = await testApp({ sites: 1, config: { cors_origins: ['http://app.example'] } });
    const name = 'ada';
    const { store } = allowing.service;
    await store.users.add({ name, password_hash: hashed, rights: ['read', 'write'], now: 1 });
    const shared = await allowing.service.http();
    const send = (path: string, method: string, headers: Record<string, string>, body: unknown) =>
      shared.request(`${URL_}${path}`, {
        method,
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const credentials = { username: name, password: PASSWORD };
    const entered = await send('/session', 'POST', { Origin: URL_ }, credentials);
    const { csrf } = (await entered.json()) as { csrf: string };
    const Cookie = cookiePair(entered.headers.get('set-cookie'));
    const foreign = { Origin: 'http://app.example', Cookie, 'X-Sitefleet-CSRF': csrf };
    expect((await send('/v2/tags/add', 'POST', foreign, { name: 'x' })).status).toBe(403);
    expect((await send('/session', 'POST', { Origin: 'http://app.example' }, credentials)).status).toBe(403);
    expect((await send('/v2/tags/add', 'POST', { ...foreign, Origin: URL_ }, { name: 'x' })).status).toBe(200);
  });

  it('reaches no site for a page of another origin, to which browsers add the cookie', async () => {
    const { cookie } = await login(await newUser());
    const calls = () => app.fleet.stats().requests;
    const before = calls();
    for (const site of ['same-site', 'cross-site'])
      for (const path of ['/v2/comments/1', '/v2/sites/1/guard', '/v2/backups/x/archive']) {
        const reply = await ask(`GET ${path}`, { headers: { Cookie: cookie, 'Sec-Fetch-Site': site } });
        expect([site, path, reply.status]).toEqual([site, path, 403]);
      }
    expect(calls()).toBe(before);
    const own = await ask('GET /v2/comments/1', { headers: { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' } });
    expect(own.status).toBe(200);
    expect(calls()).toBeGreaterThan(before);
  });

  it('needs the right, as with a key', async () => {
    const reader = await login(await newUser(['read']));
    expect((await ask('GET /v2/sites', as(reader))).status).toBe(200);
    const reply = await ask('PUT /v2/sites/1/edit', { ...fromPage(reader), body: change });
    expect([reply.status, reply.body.code]).toEqual([403, 'svc_rest_insufficient_permission']);
  });

  it('does not read the cookie beside a key', async () => {
    const session = await login(await newUser());
    const { token } = await newKey(app.service.store.keys);
    const headers = { Cookie: session.cookie, Authorization: `Bearer ${token}` };
    expect((await ask('PUT /v2/sites/1/edit', { headers, body: change })).status).toBe(200);
    const wrong = { Cookie: session.cookie, Authorization: 'Bearer wrong' };
    expect((await ask('GET /v2/sites', { headers: wrong })).status).toBe(401);
    // Credentials that a browser remembers and sends along neither help nor harm.
    const remembered = { Cookie: session.cookie, Authorization: `Basic ${btoa(`ada:${PASSWORD}`)}` };
    expect((await ask('GET /v2/sites', { headers: remembered })).status).toBe(200);
    const unproven = await ask('PUT /v2/sites/1/edit', { headers: remembered, body: change });
    expect([unproven.status, unproven.body.code]).toEqual([403, 'svc_csrf_refused']);
  });
});

describe('a session ends', () => {
  let name: string;
  let session: LoggedIn;
  beforeEach(async () => {
    name = await newUser();
    session = await login(name);
    expect(await whoIs(session)).toBe(true);
  });

  it('when the user logs out', async () => {
    const reply = await ask('DELETE /session', fromPage(session));
    expect([reply.status, reply.body]).toEqual([204, '']);
    expect(reply.setCookie).toBe('sitefleet_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0');
    const after = await ask('GET /v2/sites', as(session));
    expect([after.status, after.body.code]).toEqual([401, 'svc_rest_authentication_error']);
    expect((await ask('DELETE /session', fromPage(session))).status).toBe(204);
  });

  it('when the password changes', async () => {
    await app.service.store.users.change(name, { password_hash: cheapHash('another one') });
    expect((await ask('GET /v2/sites', as(session))).status).toBe(401);
  });

  it('when the user is removed, also when another one of that name is made', async () => {
    await app.service.store.users.remove(name);
    expect((await ask('GET /v2/sites', as(session))).status).toBe(401);
    const { store } = app.service;
    await store.users.add({ name, password_hash: hashed, rights: ['read'], now: 1 });
    expect(await whoIs(session)).toBe(false);
  });

  it('after twelve hours without use, not before', async () => {
    app.clock.move(12 * HOUR - 60_000);
    expect(await whoIs(session)).toBe(true);
    // That use replaced the cookie; the test drops its answer.
    const kept = await login(name);
    app.clock.move(12 * HOUR);
    expect(await whoIs(kept)).toBe(false);
    expect((await ask('GET /v2/sites', as(kept))).status).toBe(401);
  });

  it('never on its own while it is used', async () => {
    let { cookie } = session;
    for (let hours = 0; hours < 30; hours += 5) {
      app.clock.move(5 * HOUR);
      const reply = await ask('GET /v2/sites', as({ cookie }));
      expect(reply.status).toBe(200);
      cookie = cookiePair(reply.setCookie) || cookie;
    }
  });

  it('when the right changes, at once, and not when it is set to what it was', async () => {
    await app.service.store.users.change(name, { rights: ['read', 'write'], enabled: true });
    expect(await whoIs(session)).toBe(true);
    await app.service.store.users.change(name, { rights: ['read'] });
    const reply = await ask('PUT /v2/sites/1/edit', { ...fromPage(session), body: { name: 'x' } });
    expect(reply.status).toBe(401);
    expect((await ask('GET /session', as(await login(name)))).body.user.right).toBe('read');
  });

  it('as the oldest of very many of one user', async () => {
    for (let i = 0; i < 100; i += 1) {
      app.clock.move(1);
      await login(name);
    }
    expect(await whoIs(session)).toBe(false);
    const [row] = await app.db.all(
      'SELECT count(*) AS n FROM web_session s JOIN user u ON u.id = s.user_id WHERE u.name = ?',
      [name],
    );
    expect(row?.n).toBe(100);
  });
});

it('a clock that was ahead while very many sessions were opened locks nobody out', async () => {
  const name = await newUser();
  app.clock.move(24 * HOUR);
  for (let i = 0; i < 100; i += 1) await login(name);
  app.clock.move(-24 * HOUR);
  expect(await whoIs(await login(name))).toBe(true);
});

describe('the cookie is replaced', () => {
  let session: LoggedIn;
  beforeEach(async () => {
    session = await login(await newUser());
  });
  const replaced = async () => {
    const reply = await ask('GET /v2/sites', as(session));
    expect(reply.status).toBe(200);
    return reply.setCookie;
  };

  it('after an hour of use, with the same token against forged requests', async () => {
    app.clock.move(HOUR - 1);
    expect(await replaced()).toBeNull();
    app.clock.move(1);
    const setCookie = await replaced();
    expect(setCookie).toMatch(/^sitefleet_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const next = { ...session, cookie: cookiePair(setCookie) };
    expect(next.cookie).not.toBe(session.cookie);
    const change = await ask('PUT /v2/sites/1/edit', { ...fromPage(next), body: { name: 'x' } });
    expect([change.status, change.setCookie]).toEqual([200, null]);
  });

  it('once, however many requests arrive together', async () => {
    app.clock.move(HOUR);
    const cookies = await Promise.all(Array.from({ length: 8 }, replaced));
    expect(cookies.filter((cookie) => cookie !== null)).toHaveLength(1);
  });

  it('and the old one ends a minute after the new one was used', async () => {
    app.clock.move(HOUR);
    const next = { cookie: cookiePair(await replaced()) };
    expect((await ask('GET /v2/sites', as(next))).status).toBe(200);
    app.clock.move(59_000);
    expect((await ask('GET /v2/sites', as(session))).status).toBe(200);
    app.clock.move(2_000);
    expect((await ask('GET /v2/sites', as(session))).status).toBe(401);
    expect((await ask('GET /v2/sites', as(next))).status).toBe(200);
  });

  it('again where the answer with it was lost', async () => {
    app.clock.move(HOUR);
    const lost = { cookie: cookiePair(await replaced()) };
    app.clock.move(20 * 60_000);
    const again = { cookie: cookiePair(await replaced()) };
    expect(again.cookie).not.toBe('');
    expect(await whoIs(again)).toBe(true);
    expect(await whoIs(lost)).toBe(false);
  });
});

describe('the page', () => {
  const html = { headers: { Accept: 'text/html,application/xhtml+xml' } };
  const POLICY =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

  it.each([
    '/',
    '/sites',
    '/sites/12',
    '/updates',
    '/runs',
    '/vulnerabilities',
    '/runs/run_0',
    '/monitors',
    '/clients',
    '/reports',
    '/jobs',
    '/history',
    '/access',
    '/settings',
    '/login',
    '/start',
  ])('is served at %s, in no frame and with no code but its own', async (path) => {
    const reply = await ask(`GET ${path}`, html);
    expect([reply.status, reply.body]).toEqual([200, '<!doctype html><title>Sitefleet</title>']);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/html; charset=UTF-8',
      'content-security-policy': POLICY,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
    });
  });

  it('is sent once, as long as it is the same', async () => {
    const etag = (await ask('GET /', html)).headers.get('etag') ?? '';
    const again = await ask('GET /', { headers: { ...html.headers, 'If-None-Match': etag } });
    expect([again.status, again.body]).toEqual([304, '']);
  });

  it('is not what programs get at /', async () => {
    const reply = await ask('GET /');
    expect(reply.body).toMatchObject({ name: 'sitefleet', mcp: `${URL_}/mcp`, v2: `${URL_}/v2` });
    expect(reply.headers.get('vary')).toBe('Accept');
  });

  it('brings its assets, compressed and to be kept, and no other file', async () => {
    const plain = await ask('GET /assets/app-1a2b.js');
    expect(plain.body).toMatch(/^\/\* x{3000} \*\/$/);
    expect(Object.fromEntries(plain.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=UTF-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    const packed = await http.request(`${URL_}/assets/app-1a2b.js`, { headers: { 'Accept-Encoding': 'gzip, br' } });
    expect(packed.headers.get('content-encoding')).toBe('br');
    expect(PACKED.equals(Buffer.from(await packed.arrayBuffer()))).toBe(true);
    const refused = await ask('GET /assets/app-1a2b.js', { headers: { 'Accept-Encoding': 'gzip, br;q=0' } });
    expect(refused.headers.get('content-encoding')).toBe('gzip');
    for (const path of ['/assets/none.js', '/assets/..%2fsecret.txt', '/assets/secret.txt', '/assets/'])
      expect((await ask(`GET ${path}`)).status).toBe(404);
  });

  it('says so where it was not built', async () => {
    const bare = await testApp({ sites: 1, pageFolder: join(pageFolder, 'nowhere') });
    const bareHttp = await bare.service.http();
    const reply = await bareHttp.request(`${URL_}/`, html);
    expect([reply.status, await reply.text()]).toEqual([
      404,
      'The page was not built with this copy of Sitefleet: run "npm run build". The interfaces work.\n',
    ]);
  });
});
