/** `/mcp` as a protected resource: metadata, challenges, and access tokens of an external authorization server. */

import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ConfigError, readConfig } from '../../src/runtime/config/config.js';
import { VERSION } from '../../src/runtime/version.js';
import { operations } from '../../tools/index.js';
import { testApp } from '../support/harness.js';
import { listenLocally } from '../support/local-server.js';
import { connect, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';
import { ACCEPT, INITIALIZE } from '../support/mcp-messages.js';

const ISSUER = 'https://login.example/realm/';
const AUDIENCE = 'https://fleet.example/mcp';
const DAY = 86_400_000;

const keys = await generateKeyPair('ES256');
const foreign = await generateKeyPair('ES256');
let asked = 0;
let mcp: McpApp;

beforeAll(async () => {
  const key = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const server = createServer((_request, response) => {
    asked += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [key] }));
  });
  const { url } = await listenLocally(server);
  mcp = await mcpApp({
    sites: 1,
    connected: 1,
    config: {
      base_url: 'https://fleet.example',
      oauth_issuer: ISSUER,
      oauth_jwks_url: `${url}/keys`,
    },
  });
});

interface Claims {
  sub?: string;
  iss?: string;
  aud?: string | string[];
  exp?: number;
  [claim: string]: unknown;
}

function token(claims: Claims = {}, key = keys.privateKey, header: object = {}): Promise<string> {
  const all = {
    sub: 'ada',
    iss: ISSUER,
    aud: AUDIENCE,
    exp: Math.floor(Date.now() / 1000) + 300,
    scope: 'sitefleet:write',
    ...claims,
  };
  return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(key);
}

const post = (authorization?: string) =>
  fetch(mcp.url, {
    method: 'POST',
    headers: { ...ACCEPT, ...(authorization === undefined ? {} : { authorization }) },
    body: JSON.stringify(INITIALIZE),
  });

// An answer that was not read to its end ended the process on Node 24.
it.each([
  ['a long page in place of the keys', 503, '<html>'.padEnd(100_000, 'x')],
  ['keys without an end', 200, `{"keys":[],"more":"${'x'.repeat(2_000_000)}"}`],
])('an authorization server that sends %s is told as such', async (_what, status, body) => {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);
  });
  const { url } = await listenLocally(server);
  const own = await mcpApp({
    config: { base_url: 'https://fleet.example', oauth_issuer: ISSUER, oauth_jwks_url: url },
  });
  for (let times = 0; times < 2; times++) {
    const headers = { ...ACCEPT, authorization: `Bearer ${await token()}` };
    const answer = await fetch(own.url, { method: 'POST', headers, body: JSON.stringify(INITIALIZE) });
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain('The keys of the authorization server could not be read.');
  }
});

/** A service by a hand clock, whose authorization server publishes what it is told to, and the answer to a token of an hour. */
async function withIssuer(first: readonly object[]) {
  const issuer = { status: 200, published: first, reads: 0 };
  const server = createServer((_request, response) => {
    issuer.reads += 1;
    response
      .writeHead(issuer.status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ keys: issuer.published }));
  });
  const { url } = await listenLocally(server);
  const own = await mcpApp({
    realClock: false,
    config: { base_url: 'https://fleet.example', oauth_issuer: ISSUER, oauth_jwks_url: url },
  });
  const { clock } = own.app;
  const statusOf = async (key = keys.privateKey, kid = 'one') => {
    const exp = Math.floor((clock.now() + 60_000) / 1000);
    const headers = { ...ACCEPT, authorization: `Bearer ${await token({ exp }, key, { kid })}` };
    return (await fetch(own.url, { method: 'POST', headers, body: JSON.stringify(INITIALIZE) })).status;
  };
  return { issuer, clock, statusOf };
}

const publicKey = async ({ publicKey }: typeof keys, kid: string) => ({ ...(await exportJWK(publicKey)), kid });

// The library that reads them goes by the wall clock: set back, that one kept removed keys for as long.
it.each([
  ['', 0],
  [' though the clock was set back', -DAY],
  [' though the clock was set forward', DAY],
])('keys that the authorization server no longer publishes end within ten minutes%s', async (_how, step) => {
  const next = await generateKeyPair('ES256');
  const { issuer, clock, statusOf } = await withIssuer([await publicKey(keys, 'one')]);
  expect(await statusOf()).toBe(200);
  issuer.published = [await publicKey(next, 'two')];
  clock.step(step);
  // A token with an unknown key makes the server's keys be read again, at most every half minute, as anybody can send one.
  // By the wall clock, as after a sleep of the machine, in which the steady one stands still.
  if (step > 0) expect(await statusOf(next.privateKey, 'two')).toBe(200);
  else {
    expect([await statusOf(next.privateKey, 'two'), issuer.reads]).toEqual([401, 1]);
    clock.move(30_000);
    expect([await statusOf(next.privateKey, 'two'), issuer.reads]).toEqual([200, 2]);
  }
  expect(await statusOf()).toBe(401);
});

it('keys are read again after ten minutes, where all are known', async () => {
  const { issuer, clock, statusOf } = await withIssuer([await publicKey(keys, 'one')]);
  expect(await statusOf()).toBe(200);
  issuer.published = [];
  clock.step(-DAY);
  clock.move(599_000);
  expect(await statusOf()).toBe(200);
  clock.move(1_000);
  expect(await statusOf()).toBe(401);
});

it('keys that cannot be read are not asked for with each token that anybody sends', async () => {
  const { issuer, clock, statusOf } = await withIssuer([await publicKey(keys, 'one')]);
  issuer.status = 503;
  for (let times = 0; times < 10; times++) expect(await statusOf()).toBe(500);
  expect(issuer.reads).toBe(1);
  issuer.status = 200;
  clock.move(5_000);
  expect([await statusOf(), issuer.reads]).toEqual([200, 2]);
});

describe('metadata', () => {
  it.each(['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource'])(
    '%s',
    async (path) => {
      const response = await fetch(new URL(path, mcp.url));
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(await response.json()).toEqual({
        resource: AUDIENCE,
        resource_name: 'Sitefleet',
        authorization_servers: [ISSUER],
        scopes_supported: ['sitefleet:read', 'sitefleet:write'],
        bearer_methods_supported: ['header'],
      });
    },
  );

  it('is there only where there is an authorization server', async () => {
    const plain = await mcpApp({ sites: 1 });
    for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource']) {
      const response = await fetch(new URL(path, plain.url));
      expect([response.status, await response.json()]).toMatchObject([404, { code: 'rest_no_route' }]);
    }
  });

  it('is kept by caches only where it does not depend on the name that was called', async () => {
    const path = '/.well-known/oauth-protected-resource/mcp';
    const oauth = { oauth_issuer: ISSUER, oauth_jwks_url: 'http://127.0.0.1:9/keys', oauth_audience: 'fleet' };
    const plain = await testApp({ sites: 1, config: { ...oauth, host: '0.0.0.0' } });
    const reflected = await (await plain.service.http()).request(`http://evil.example${path}`);
    expect(reflected.headers.get('cache-control')).toBe('no-store');
    expect((await fetch(new URL(path, mcp.url))).headers.get('cache-control')).toBe('public, max-age=300');
  });
});

describe('the server card', () => {
  it.each(['/mcp/server-card', '/.well-known/mcp/server-card.json'])(
    'is at %s, for pages of all origins',
    async (path) => {
      const url = new URL(path, mcp.url);
      const response = await fetch(url, { headers: { origin: 'https://elsewhere.example' } });
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/mcp-server-card+json',
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET',
        'access-control-allow-headers': 'Content-Type, If-None-Match',
        'access-control-expose-headers': 'ETag',
        'cache-control': 'public, max-age=3600',
      });
      expect(await response.json()).toEqual({
        $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
        name: 'example.fleet/sitefleet',
        title: 'Sitefleet',
        description: expect.stringMatching(/^.{1,100}$/),
        version: VERSION,
        remotes: [
          {
            type: 'streamable-http',
            url: AUDIENCE,
            supportedProtocolVersions: expect.arrayContaining(['2026-07-28', '2025-11-25']),
            headers: [{ name: 'Authorization', description: expect.any(String), isRequired: false, isSecret: true }],
          },
        ],
      });
      const again = await fetch(url, { headers: { 'if-none-match': String(response.headers.get('etag')) } });
      expect([again.status, again.headers.get('access-control-allow-origin'), await again.text()]).toEqual([
        304,
        '*',
        '',
      ]);
      const preflight = await fetch(url, {
        method: 'OPTIONS',
        headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' },
      });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    },
  );

  it('says what the server says once it is asked', async () => {
    const { remotes, title, version } = (await (await fetch(`${mcp.url}/server-card`)).json()) as Card;
    const authorization = `Bearer ${await token()}`;
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const discovered = await fetch(mcp.url, {
      method: 'POST',
      headers: { ...ACCEPT, authorization, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } }),
    });
    const { result } = (await discovered.json()) as { result: { supportedVersions: string[]; _meta: object } };
    expect(result._meta).toMatchObject({ 'io.modelcontextprotocol/serverInfo': { title, version } });
    expect(remotes[0]?.supportedProtocolVersions).toEqual(expect.arrayContaining(result.supportedVersions));
  });

  it('is not kept where it depends on the name that was called, and wants a login without OAuth', async () => {
    const plain = await testApp({ sites: 1, config: { host: '0.0.0.0' } });
    const response = await (await plain.service.http()).request('http://10.0.0.7:8787/mcp/server-card');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({
      name: '10.0.0.7/sitefleet',
      remotes: [{ url: 'http://10.0.0.7:8787/mcp', headers: [{ isRequired: true }] }],
    });
  });
});

interface Card {
  title: string;
  version: string;
  remotes: { supportedProtocolVersions: string[] }[];
}

describe('challenges', () => {
  const METADATA = 'resource_metadata="https://fleet.example/.well-known/oauth-protected-resource/mcp"';

  it('tell where to log in', async () => {
    const response = await post();
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(`Bearer realm="svc", scope="sitefleet:read", ${METADATA}`);
  });

  it.each<[string, () => Promise<string>, string]>([
    ['of another audience', () => token({ aud: 'https://other.example/mcp' }), 'aud'],
    ['of another issuer', () => token({ iss: 'https://login.example/realm' }), 'iss'],
    ['that has expired', () => token({ exp: 1000 }), 'expired'],
    ['that never expires', () => token({ exp: undefined as never }), 'exp'],
    ['without a subject', () => token({ sub: undefined as never }), 'sub'],
    ['of an empty subject', () => token({ sub: '' }), 'sub'],
    ['of a blank subject', () => token({ sub: ' ' }), 'sub'],
    ['for identification', () => token({}, keys.privateKey, { typ: 'id+jwt' }), 'typ'],
    ['for a logout', () => token({}, keys.privateKey, { typ: 'logout+jwt' }), 'typ'],
    ["for identification, as Keycloak's", () => token({ typ: 'ID' }), 'typ'],
    ["for identification, as Cognito's", () => token({ token_use: 'id' }), 'token_use'],
    ['that is not valid yet', () => token({ nbf: Math.floor(Date.now() / 1000) + 3600 }), 'nbf'],
    ['signed by somebody else', () => token({}, foreign.privateKey), 'not valid'],
    ['signed by an unknown key', () => token({}, foreign.privateKey, { kid: 'two' }), 'not valid'],
    [
      'without a signature',
      async () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await token()).split('.')[1]}.AA`,
      'not valid',
    ],
    [
      'with an empty signature',
      async () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await token()).split('.')[1]}.`,
      'access token is not valid',
    ],
    ['that is long', async () => `${await token({ note: 'x'.repeat(9000) })}x`, 'access token is not valid'],
    [
      'signed with a shared secret',
      () =>
        new SignJWT({ sub: 'ada', iss: ISSUER, aud: AUDIENCE, scope: 'sitefleet:write' })
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .setExpirationTime('1h')
          .sign(new TextEncoder().encode('x'.repeat(64))),
      'not valid',
    ],
  ])('refuse a token %s', async (_name, make, reason) => {
    const response = await post(`Bearer ${await make()}`);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="svc", error="invalid_token", /);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toContain(reason);
  });

  it('ask for a scope that is missing', async () => {
    const response = await post(`Bearer ${await token({ scope: 'openid sitefleet:readx' })}`);
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toMatch(
      new RegExp(`^Bearer realm="svc", error="insufficient_scope", .*scope="sitefleet:read", ${METADATA}$`),
    );
  });

  it.each([
    ['a tool that changes something is called', 'tools/call', { name: 'svc/delete-site-v1' }],
    ['a task is to be cancelled', 'tasks/cancel', { taskId: 'sync_1' }],
  ])('ask for more when %s', async (_when, method, params) => {
    const authorization = `Bearer ${await token({ scope: 'sitefleet:read' })}`;
    const response = await fetch(mcp.url, {
      method: 'POST',
      headers: { ...ACCEPT, authorization },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    expect(response.headers.get('www-authenticate')).toContain('scope="sitefleet:write"');
  });

  it('do not take a token for the REST interface: it is for /mcp', async () => {
    const response = await fetch(new URL('/v2/sites', mcp.url), {
      headers: { authorization: `Bearer ${await token()}` },
    });
    expect(response.status).toBe(401);
    expect(((await response.json()) as { message: string }).message).toMatch(/^This is an access token/);
  });

  it.each(['at+jwt', 'application/at+jwt', 'AT+JWT', 'JWT'])('take the type %s', async (typ) => {
    expect((await post(`Bearer ${await token({}, keys.privateKey, { typ })}`)).status).toBe(200);
  });

  it('do not blame the token when the keys cannot be read', async () => {
    const broken = await mcpApp({
      sites: 1,
      config: { base_url: 'https://fleet.example', oauth_issuer: ISSUER, oauth_jwks_url: 'http://127.0.0.1:9/keys' },
    });
    const response = await fetch(broken.url, { method: 'POST', headers: { authorization: `Bearer ${await token()}` } });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([500, null]);
  });
});

describe('the configuration', () => {
  const problems = (env: Record<string, string>) => {
    try {
      return readConfig({ HOME: '/home/someone', ...env }) && [];
    } catch (error) {
      return (error as ConfigError).problems.map(({ name }) => name);
    }
  };
  const issuer = { SITEFLEET_OAUTH_ISSUER: ISSUER };
  const keysAt = { SITEFLEET_OAUTH_JWKS_URL: 'https://login.example/keys' };

  it.each<[Record<string, string>, string[]]>([
    [{ ...issuer }, ['SITEFLEET_OAUTH_JWKS_URL', 'SITEFLEET_OAUTH_AUDIENCE']],
    [{ ...issuer, ...keysAt }, ['SITEFLEET_OAUTH_AUDIENCE']],
    [{ ...keysAt }, ['SITEFLEET_OAUTH_ISSUER']],
    [{ ...issuer, ...keysAt, SITEFLEET_BASE_URL: 'https://fleet.example' }, []],
    [{ ...issuer, ...keysAt, SITEFLEET_OAUTH_AUDIENCE: 'fleet' }, []],
    [{ SITEFLEET_OAUTH_WRITE_SCOPE: 'a b' }, ['SITEFLEET_OAUTH_WRITE_SCOPE']],
    [{ SITEFLEET_CONFIRM: 'maybe' }, ['SITEFLEET_CONFIRM']],
    [{ SITEFLEET_MCP_MAX_TOKENS: '10' }, ['SITEFLEET_MCP_MAX_TOKENS']],
  ])('%j → %j', (env, expected) => expect(problems(env)).toEqual(expected));

  it('keeps the issuer letter by letter: it is compared so', () => {
    const env = { HOME: '/home/someone', ...issuer, ...keysAt, SITEFLEET_OAUTH_AUDIENCE: 'fleet' };
    expect(readConfig(env).oauth_issuer).toBe(ISSUER);
  });
});

/** Number of tools each scope is offered. */
const ALL = operations.length;
const READS = operations.filter(({ effect }) => effect === 'read').length;

describe('a valid token', () => {
  it.each<[string, Claims, number]>([
    ['scope to write', {}, ALL],
    ['scope to read', { scope: 'openid sitefleet:read' }, READS],
    ['scp as a list', { scope: undefined, scp: ['sitefleet:read'] }, READS],
    ['scope as a list', { scope: ['openid', 'sitefleet:write'] }, ALL],
    ['permissions', { scope: 'openid', permissions: ['sitefleet:read', 'sitefleet:write'] }, ALL],
    ['permissions to read', { scope: undefined, permissions: ['sitefleet:read'] }, READS],
    ['more permissions than were granted', { scope: 'sitefleet:read', permissions: ['sitefleet:write'] }, READS],
    ['several audiences', { aud: ['https://other.example', AUDIENCE] }, ALL],
  ])('%s', async (_name, claims, tools) => {
    const authorization = `Bearer ${await token(claims)}`;
    for (const era of ['2025-11-25', '2026-07-28'] as const) {
      const driver = await connect([era, 'http'], { ...mcp.target, authorization });
      // All are listed, so that the client can request the scope it lacks.
      expect(await driver.listTools()).toHaveLength(ALL);
      const change = driver.call('svc-suspend-site-v1', { site_id_or_domain: 99 });
      if (tools === ALL) expect(textOf(await change)).toMatch(/^svc_site_not_found/);
      else await expect(change).rejects.toThrow(/may only read|required "sitefleet:write"/);
      await driver.close();
    }
  });

  it('API keys and logins go on working beside it', async () => {
    const driver = await connect(['2026-07-28', 'http'], mcp.target);
    expect(await driver.listTools()).toHaveLength(ALL);
  });

  it.each([
    ['short', 'ada', 'eve'],
    ['equal in their first 500 characters', `${'a'.repeat(600)}1`, `${'a'.repeat(600)}2`],
  ])('two subjects do not share a session: %s', async (_name, one, other) => {
    const response = await post(`Bearer ${await token({ sub: one })}`);
    const session = response.headers.get('mcp-session-id') ?? '';
    await response.text();
    const list = (authorization: string) =>
      fetch(mcp.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': session,
          authorization,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }),
      });
    expect((await list(`Bearer ${await token({ sub: other })}`)).status).toBe(404);
    expect((await list(`Bearer ${await token({ sub: one, jti: 'refreshed' })}`)).status).toBe(200);
  });

  it('no two subjects have one name in the log', async () => {
    const subjects = [
      'bob',
      'bo\u0000b',
      'bo\ud800b',
      'bo\ud801b',
      'b  ob',
      'b ob',
      `${'b'.repeat(300)}1`,
      `${'b'.repeat(300)}2`,
    ];
    for (const [at, sub] of subjects.entries()) {
      const driver = await connect(['2026-07-28', 'http'], {
        ...mcp.target,
        authorization: `Bearer ${await token({ sub })}`,
      });
      expect(textOf(await driver.call('svc-add-tag-v1', { name: `Named by ${at}` }))).toContain('"name"');
      await driver.close();
    }
    const rows = await mcp.app.db.all<{ actor: string }>(
      "SELECT DISTINCT actor FROM action_log WHERE name GLOB 'Named by *' OR input GLOB '*Named by *'",
    );
    expect(rows.map(({ actor }) => actor)).toHaveLength(subjects.length);
    expect(rows.map(({ actor }) => actor)).toEqual(expect.arrayContaining([`${ISSUER}#bob`, `${ISSUER}#b ob`]));
  });

  it('two subjects do not share the keys of calls that run once', async () => {
    const add = async (sub: string, name: string) => {
      const authorization = `Bearer ${await token({ sub })}`;
      const driver = await connect(['2026-07-28', 'http'], { ...mcp.target, authorization });
      const meta = { 'sitefleet/idempotency_key': 'job-1' };
      const answer = textOf(await driver.call('svc-add-tag-v1', { name }, { meta }));
      await driver.close();
      return answer;
    };
    const first = await add('ada', 'Of one');
    expect(await add('ada', 'Of one')).toBe(first);
    expect(await add('eve', 'Of another')).toContain('"name":"Of another"');
    // The same call, too, is another one of somebody else: here one that is refused.
    await add('ada', 'Of one');
    expect(await add('bob', 'Of one')).toMatch(/^svc_already_exists/);
  });

  it('the keys were read once, and once more for the unknown one', () => {
    expect(asked).toBeLessThanOrEqual(2);
  });
});
