/**
 * Access control over HTTP: by the host name of the request, and not for a page of another origin. For every interface,
 * over a socket.
 */

import { request as send } from 'node:http';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/runtime/config/types.js';
import { createJudge, type RequestOrigin } from '../../src/surfaces/http/gate.js';
import type { HttpListener } from '../../src/surfaces/http/server.js';
import { routes } from '../../src/surfaces/rest/index.js';
import { type Answer, type TestApp, testApp } from '../support/harness.js';
import { serveLocally } from '../support/local-server.js';
import { newKey, newUser } from '../support/logins.js';
import { basic } from '../support/surfaces.js';

interface Open {
  app: TestApp;
  listener: HttpListener;
  login: string;
  key: string;
}

async function open(config: Partial<Config> = {}): Promise<Open> {
  const app = await testApp({ sites: 2, config });
  await app.connect(0);
  await app.connect(1);
  const { users, keys } = app.service.store;
  await newUser(users, 'ada', 'pass');
  const { token } = await newKey(keys);
  const listener = await serveLocally(await app.service.http());
  return { app, listener, login: basic('ada', 'pass'), key: `Bearer ${token}` };
}

interface Reply {
  status: number;
  body: Answer;
  headers: Record<string, string | string[] | undefined>;
}

type Asked = { method?: string; headers?: Record<string, string>; body?: string };

/** Sends with Node's own client, which allows any Host and any header that browsers send. */
function ask({ listener }: Open, path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const all = { ...length, ...headers };
    const to = { host: '127.0.0.1', port: listener.port, path, method, headers: all, agent: false };
    const request = send(to, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => {
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        const parsed = isJson && text !== '' ? JSON.parse(text) : text;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Sends raw bytes. */
function raw({ listener }: Open, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(listener.port, '127.0.0.1', () => socket.write(text));
    let all = '';
    socket.on('data', (chunk) => (all += String(chunk)));
    socket.on('close', () => resolve(all));
    socket.on('error', reject);
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const RUN = '/wp-json/wp-abilities/v1/abilities/svc/update-all-v1/run';
const FOREIGN: [string, Record<string, string>][] = [
  ['a foreign Origin', { origin: 'https://evil.example' }],
  ['an opaque Origin', { origin: 'null' }],
  ['an Origin with another port', { origin: 'http://127.0.0.1:1' }],
  ['an Origin with another name of this machine', { origin: 'http://localhost:8787' }],
  ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }],
  ['Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site' }],
  ['a value of Sec-Fetch-Site that is not known yet', { 'sec-fetch-site': 'near-site' }],
];

let shared: Open;
beforeAll(async () => {
  shared = await open();
});

describe.each(FOREIGN)('a change with %s', (_name, headers) => {
  const updates = async () => (await shared.app.call('list-updates', {})).total as number;

  it('is refused by the run endpoint, and changes nothing', async () => {
    const before = await updates();
    const calls = shared.app.fleet.stats().requests;
    for (const path of [RUN, RUN.replace('/wp-json/wp-abilities/v1', '')]) {
      const reply = await ask(shared, path, {
        method: 'POST',
        headers: { ...headers, ...JSON_TYPE, authorization: shared.login },
        body: '{}',
      });
      expect([reply.status, reply.body.code, reply.body.data.status]).toEqual([403, 'svc_forbidden_origin', 403]);
    }
    const gone = await ask(shared, `${RUN.replace('update-all', 'delete-tag')}?input[tag_id]=1&input[confirm]=true`, {
      method: 'DELETE',
      headers: { ...headers, authorization: shared.login },
    });
    expect([gone.status, gone.body.code]).toEqual([403, 'svc_forbidden_origin']);
    expect(await updates()).toBe(before);
    expect(shared.app.fleet.stats().requests).toBe(calls);
  });

  it('is refused by every REST row that is not read by GET', async () => {
    for (const { on, path } of routes) {
      for (const method of on) {
        if (method === 'GET') continue;
        const reply = await ask(shared, `/v2${path.replace(/\{[^}]+\}/g, '1')}`, {
          method,
          headers: { ...headers, ...JSON_TYPE, authorization: shared.key },
          body: '{}',
        });
        expect([method, path, reply.status, reply.body.success, reply.body.code]).toEqual([
          method,
          path,
          403,
          0,
          'svc_forbidden_origin',
        ]);
      }
    }
  });

  it('is refused by /mcp, and so is listening', async () => {
    const accept = 'application/json, text/event-stream';
    for (const authorization of [shared.login, shared.key])
      for (const method of ['POST', 'DELETE', 'GET']) {
        const all = { ...headers, ...JSON_TYPE, accept, authorization };
        const reply = await ask(shared, '/mcp', { method, headers: all, ...(method === 'POST' ? { body: '{}' } : {}) });
        expect([reply.status, reply.body.jsonrpc, reply.body.error.data.code]).toEqual([
          403,
          '2.0',
          'svc_forbidden_origin',
        ]);
      }
  });
});

describe('a page of another origin', () => {
  const cross = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' };

  it('cannot change anything, or make a site be contacted, by an image or a link either', async () => {
    const byGet = shared.app.service.operations.filter(({ methods }) => methods.includes('GET'));
    expect(byGet).not.toEqual([]);
    expect(byGet.filter(({ effect }) => effect !== 'read')).toEqual([]);
    const headers = { ...cross, authorization: shared.login };
    const live = byGet.filter(({ engine }) => engine);
    expect(live).not.toEqual([]);
    for (const { id } of live) {
      const { status, body } = await ask(shared, `/abilities/${id}/run?input[site_id_or_domain]=1`, { headers });
      expect([id, status, body.code]).toEqual([id, 403, 'svc_forbidden_origin']);
    }
    // With a login that a browser adds automatically, no REST row that does more than read can be reached.
    expect(routes.filter(({ login, on, engine }) => login === 'either' && (engine || on.join() !== 'GET'))).toEqual([]);
  });

  it('may link to what only reads what is stored', async () => {
    const headers = { ...cross, authorization: shared.login };
    expect((await ask(shared, '/abilities/svc/list-sites-v1/run', { headers })).status).toBe(200);
    expect((await ask(shared, '/docs', { headers: cross })).status).toBe(200);
  });

  it('cannot use a form where a browser says nothing of the page', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
      const headers = { 'content-type': type, authorization: shared.login };
      const empty = await ask(shared, RUN, { method: 'POST', headers });
      expect([empty.status, empty.body.code]).toEqual([415, 'invalid_content_type']);
      expect((await ask(shared, RUN, { method: 'POST', headers, body: '{"input":{}}' })).status).toBe(400);
      const mcp = { ...headers, accept: 'application/json, text/event-stream' };
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'svc-update-all-v1' } };
      for (const version of ['2025-11-25', '2026-07-28']) {
        const versioned = { ...mcp, 'mcp-protocol-version': version };
        const reply = await ask(shared, '/mcp', { method: 'POST', headers: versioned, body: JSON.stringify(call) });
        expect([400, 415]).toContain(reply.status);
      }
    }
  });
});

describe('a page of an origin that the operator allows', () => {
  const PAGE = 'https://app.example';
  let own: Open;
  beforeAll(async () => {
    own = await open({ cors_origins: [PAGE] });
  });

  const WAYS: [string, Asked][] = [
    ['/v2/sites/sync', { method: 'POST', headers: JSON_TYPE, body: '{"dry_run":true}' }],
    ['/wp-json/wp-abilities/v1/abilities/svc/list-sites-v1/run', {}],
    [
      '/mcp',
      {
        method: 'POST',
        headers: { ...JSON_TYPE, accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
        }),
      },
    ],
  ];

  it.each(WAYS)('may call %s, and read the answer', async (path, asked) => {
    const login = path.startsWith('/wp-json') ? own.login : own.key;
    const from = { origin: PAGE, 'sec-fetch-site': 'cross-site' };
    const before = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
    const preflight = await ask(own, path, { method: 'OPTIONS', headers: { ...from, ...before } });
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([204, 'authorization']);
    expect(preflight.headers['access-control-allow-origin']).toBe(PAGE);
    expect(String(preflight.headers['access-control-allow-methods'])).toContain('PATCH');
    const reply = await ask(own, path, { ...asked, headers: { ...asked.headers, ...from, authorization: login } });
    expect(reply.status).toBe(200);
    expect(reply.headers['access-control-allow-origin']).toBe(PAGE);
    expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
    expect(String(reply.headers['access-control-expose-headers'])).toContain('X-Total');
    expect(String(reply.headers.vary)).toContain('Origin');
    const refused = await ask(own, path, { ...asked, headers: { ...asked.headers, ...from } });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, PAGE]);
  });

  it('leaves other OPTIONS to the address, and a refused one refused', async () => {
    for (const headers of [{}, { origin: PAGE }]) {
      const described = await ask(own, '/v2/sites', { method: 'OPTIONS', headers });
      expect([described.status, described.headers.allow]).toEqual([200, 'GET, HEAD, OPTIONS']);
    }
    const elsewhere = { origin: PAGE, host: 'evil.example', 'access-control-request-method': 'GET' };
    expect((await ask(own, '/v2/sites', { method: 'OPTIONS', headers: elsewhere })).status).toBe(403);
  });

  it.each(WAYS)('is not any other page: %s', async (path, asked) => {
    for (const origin of ['https://app.example.evil', 'http://app.example', 'null']) {
      const from = { ...asked.headers, origin, 'sec-fetch-site': 'cross-site', authorization: own.key };
      const reply = await ask(own, path, { ...asked, method: 'POST', headers: from });
      expect([origin, reply.status, reply.headers['access-control-allow-origin']]).toEqual([origin, 403, undefined]);
      const asks = { ...from, 'access-control-request-method': 'POST' };
      const preflight = await ask(own, path, { method: 'OPTIONS', headers: asks });
      expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    }
  });
});

describe('what is not a foreign page goes on working', () => {
  it.each<[string, Record<string, string>]>([
    ['a program', {}],
    ['a page of our own', { 'sec-fetch-site': 'same-origin' }],
    ['an address that was typed', { 'sec-fetch-site': 'none' }],
  ])('%s', async (_name, headers) => {
    const own = headers['sec-fetch-site'] === 'same-origin' ? { origin: shared.listener.url } : {};
    const run = await ask(shared, '/abilities/svc/sync-sites-v1/run', {
      method: 'POST',
      headers: { ...headers, ...own, ...JSON_TYPE, authorization: shared.login },
      body: '{"input":{}}',
    });
    expect([run.status, run.body.total_synced]).toEqual([200, 2]);
    // As documented: a POST without a body.
    const rest = await ask(shared, '/v2/sites/sync', {
      method: 'POST',
      headers: { ...headers, ...own, authorization: shared.key },
    });
    expect([rest.status, rest.body.success]).toEqual([200, 1]);
  });
});

describe('the name that is called', () => {
  const paths = ['/', '/docs', '/v2/sites', '/v2/openapi.json', '/mcp', '/abilities', RUN, '/nowhere'];

  it.each(paths)('%s is answered by our names only', async (path) => {
    for (const host of ['evil.example', `evil.example:${shared.listener.port}`, 'localhost.evil.example', '10.0.0.7']) {
      const reply = await ask(shared, path, { headers: { host } });
      expect(reply.status).toBe(403);
      expect(JSON.stringify(reply.body)).toContain('svc_forbidden_origin');
    }
    for (const host of ['localhost:8787', `127.0.0.1:${shared.listener.port}`, '[::1]'])
      expect((await ask(shared, path, { headers: { host } })).status).not.toBe(403);
  });

  it('health is reported to load balancers, which call by address', async () => {
    for (const path of ['/healthz', '/readyz'])
      expect((await ask(shared, path, { headers: { host: '10.0.0.7:8787' } })).status).toBe(200);
  });

  it('is what a proxy says only where the proxy is trusted', async () => {
    const asked = { host: 'sitefleet:8787', 'x-forwarded-host': 'fleet.example' };
    const trusting = await open({ base_url: 'https://fleet.example', trust_proxy: true });
    const wary = await open({ base_url: 'https://fleet.example' });
    const reply = await ask(trusting, '/v2/sites', { headers: { ...asked, authorization: trusting.key } });
    expect(reply.status).toBe(200);
    const twice = { ...asked, 'x-forwarded-host': 'fleet.example, evil.example' };
    expect((await ask(trusting, '/v2/sites', { headers: twice })).status).toBe(403);
    expect((await ask(wary, '/v2/sites', { headers: asked })).status).toBe(403);
    const page = { ...asked, origin: 'https://fleet.example', authorization: trusting.key };
    expect((await ask(trusting, '/v2/sites/sync', { method: 'POST', headers: page })).status).toBe(200);
  });

  it.each<[Partial<Parameters<typeof createJudge>[0]>, Partial<RequestOrigin>, boolean, boolean]>([
    [{}, { host: 'localhost:8787' }, true, false],
    [{}, { host: '[::1]:8787' }, true, false],
    [{ host: '::1' }, { host: 'evil.example' }, false, false],
    [{}, { host: 'localhost.evil.example' }, false, false],
    [{}, { host: '' }, false, false],
    [{ base_url: 'https://fleet.example/x' }, { host: 'fleet.example' }, true, false],
    [{ base_url: 'https://fleet.example/x' }, { host: 'localhost' }, true, false],
    [{ base_url: 'https://fleet.example' }, { host: 'fleet.example', origin: 'https://fleet.example' }, true, false],
    // A page of the same name that was loaded without encryption may be forged.
    [{ base_url: 'https://fleet.example' }, { host: 'fleet.example', origin: 'http://fleet.example' }, true, true],
    [{ base_url: 'https://fleet.example' }, { host: '127.0.0.1:8787', origin: 'https://fleet.example' }, true, false],
    [{}, { host: 'localhost', origin: 'null' }, true, true],
    [{}, { host: 'localhost', origin: 'file://' }, true, true],
    [{}, { host: 'localhost', origin: 'chrome-extension://localhost' }, true, true],
    [{}, { host: 'localhost:8787', origin: 'http://localhost:8787' }, true, false],
    [{}, { host: 'localhost:8787', origin: 'http://localhost:6274' }, true, true],
    [{ host: '0.0.0.0' }, { host: 'fleet.example' }, true, false],
    [{ host: '0.0.0.0' }, { host: 'fleet.example', origin: 'https://fleet.example' }, true, false],
    [{ host: '0.0.0.0' }, { host: 'fleet.example:443', origin: 'https://fleet.example' }, true, false],
    [{ host: '0.0.0.0' }, { host: 'fleet.example', origin: 'http://localhost' }, true, true],
    [{ host: '0.0.0.0' }, { host: 'fleet.example', origin: 'https://evil.example' }, true, true],
    [{ host: '0.0.0.0', base_url: 'https://fleet.example' }, { host: 'other.example' }, false, false],
    [{ host: '0.0.0.0', base_url: 'https://fleet.example' }, { host: '192.0.2.1:8787' }, false, false],
    [{ host: '0.0.0.0', base_url: 'https://fleet.example' }, { host: 'localhost', local: true }, true, false],
    [{ host: '0.0.0.0', base_url: 'https://fleet.example' }, { host: 'localhost', local: false }, false, false],
  ])('%j, asked %j: named %s, foreign %s', (rules, asked, named, foreign) => {
    const all = { host: '127.0.0.1', base_url: null, trust_proxy: false, ...rules };
    const from = { host: '', origin: undefined, site: undefined, local: false, ...asked };
    expect(createJudge(all)(from)).toMatchObject({ named, foreign });
  });
});

describe('a request target that can be read in two ways', () => {
  it.each([
    '/v2/%2e%2e/metrics',
    '/v2/../metrics',
    '/v2/.%2E/metrics',
    '/v2/./../metrics',
    '/docs/..%2f../metrics/../metrics',
    '/%6detrics',
    '/%6Dcp',
    '/%76%32/sites',
    '/v2/sites/..',
    '//metrics',
    '/v2//../metrics',
    '/.%2fmetrics',
  ])('%s is no address of ours', async (path) => {
    const reply = await ask(shared, path, { headers: { authorization: shared.key } });
    expect([reply.status, reply.body.code]).toEqual([404, 'rest_no_route']);
  });

  it('an absolute one has to agree with Host', async () => {
    const line = (target: string, host: string) =>
      raw(shared, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await line('http://127.0.0.1:8787/metrics', '127.0.0.1:8787')).toMatch(/^HTTP\/1.1 200 /);
    for (const [target, host] of [
      ['http://127.0.0.1/metrics', 'fleet.example'],
      ['http://evil.example/docs', 'localhost'],
      ['http://localhost/v2/%2e%2e/metrics', 'localhost'],
    ] as const)
      expect(await line(target, host)).toMatch(/^HTTP\/1.1 404 /);
    expect(await line('http://evil.example/docs', 'evil.example')).toMatch(/^HTTP\/1.1 403 /);
  });

  it.each(['Host: evil.example', 'hOST:127.0.0.1', 'Host:'])(
    'one with a second %s is no address of ours',
    async (second) => {
      const first = 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1';
      expect(await raw(shared, `${first}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 /);
      expect(await raw(shared, `${first}\r\n${second}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 404 /);
    },
  );

  it('dots inside a segment are letters like others', async () => {
    const headers = { authorization: shared.key };
    for (const path of ['/v2/sites/a%2Eb.example', '/v2/sites/..a', '/v2/sites/.well'])
      expect((await ask(shared, path, { headers })).body.code).toBe('svc_rest_invalid_site_data');
  });
});

describe('/metrics without a token', () => {
  it('is for this machine, called by its own name, and not through a proxy', async () => {
    expect((await ask(shared, '/metrics')).status).toBe(200);
    expect((await ask(shared, '/metrics', { headers: { host: 'fleet.example' } })).status).toBe(403);
    for (const name of [
      'x-forwarded-for',
      'x-forwarded-proto',
      'x-real-ip',
      'forwarded',
      'via',
      'cf-ray',
      'x-envoy-y',
    ]) {
      const reply = await ask(shared, '/metrics', { headers: { [name]: '127.0.0.1' } });
      expect([name, reply.status, reply.body.code]).toEqual([name, 403, 'svc_permission_denied']);
    }
  });

  it('believes no proxy that the client itself is local', async () => {
    const behind = await open({ trust_proxy: true, base_url: 'https://fleet.example' });
    const headers = { 'x-forwarded-for': '127.0.0.1', host: '127.0.0.1' };
    expect((await ask(behind, '/metrics', { headers })).status).toBe(403);
  });
});
