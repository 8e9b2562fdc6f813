/** Common to every route: credentials, bodies, envelope, validators, repeats, limits. */

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../src/surfaces/rest/index.js';
import { holdBack } from '../support/hold-back.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
beforeAll(async () => {
  app = await restApp({ sites: 2 });
  await app.connect(0);
});

describe('credentials', () => {
  it('distinguishes what may be distinguished', async () => {
    const code = async (token: string | null, headers = {}) => {
      const reply = await app.rest('GET /sites', { token, headers });
      expect(reply.headers.get('www-authenticate')).toBe(reply.status === 401 ? 'Bearer realm="svc"' : null);
      return [reply.status, reply.body.code];
    };
    const [secret = '', key = ''] = app.tokens.read.split('==');
    expect(await code(null)).toEqual([401, 'svc_rest_authentication_error']);
    expect(await code(`${secret}==`)).toEqual([401, 'svc_rest_authentication_missing_parameter']);
    expect(await code(`${'0'.repeat(40)}==${key}`)).toEqual([401, 'svc_rest_authentication_error']);
    expect(await code(`${secret}==${'0'.repeat(40)}`)).toEqual([401, 'svc_rest_authentication_error']);
    expect(await code(null, { Authorization: `bEaReR   ${app.tokens.read} ` })).toEqual([200, undefined]);
  });

  it('asks for the key first: without one, a caller does not learn what exists', async () => {
    for (const call of ['GET /nowhere', 'PUT /sites', 'POST /sites/add'])
      expect((await app.rest(call, { token: null })).status).toBe(401);
    expect((await app.rest('GET /nowhere')).body).toMatchObject({
      success: 0,
      code: 'rest_no_route',
      data: { status: 404 },
    });
  });

  it('refuses credentials in the address', async () => {
    const reply = await app.rest('GET /sites?consumer_key=ck_x&consumer_secret=cs_x', { token: null });
    expect([reply.status, reply.body.code]).toEqual([400, 'svc_rest_authentication_bad_request']);
  });
});

describe('compression', () => {
  const raw = (path: string, headers: Record<string, string>) =>
    app.http.request(`http://127.0.0.1/v2${path}`, {
      headers: { authorization: `Bearer ${app.tokens.read}`, ...headers },
    });
  const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync };

  it('is what the client takes, and changes no byte of the answer', async () => {
    for (const path of ['/sites', '/openapi.json']) {
      const plain = await raw(path, {});
      expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([
        null,
        expect.stringContaining('Accept-Encoding'),
      ]);
      const text = await plain.text();
      for (const [accepted, encoding] of [
        ['gzip, deflate, br', 'br'],
        ['gzip;q=1.0, br;q=0', 'gzip'],
      ] as const) {
        const packed = await raw(path, { 'accept-encoding': accepted });
        expect(packed.headers.get('content-encoding')).toBe(encoding);
        const bytes = Buffer.from(await packed.arrayBuffer());
        expect(bytes.length).toBeLessThan(text.length / 2);
        expect(DECODERS[encoding](bytes).toString()).toBe(text);
      }
    }
  });

  it('is left out where it saves nothing or is not wanted', async () => {
    for (const [path, accepted] of [
      ['/sites/count', 'gzip, br'],
      ['/sites', 'identity'],
      ['/sites', 'gzip;q=0, br;q=0.0'],
    ] as const)
      expect((await raw(path, { 'accept-encoding': accepted })).headers.get('content-encoding')).toBeNull();
  });

  it('keeps validators working', async () => {
    const packed = await raw('/sites', { 'accept-encoding': 'br' });
    const tag = packed.headers.get('etag') ?? '';
    expect(tag).toMatch(/^W\/"/);
    for (const accepted of ['br', 'identity'])
      expect((await raw('/sites', { 'accept-encoding': accepted, 'if-none-match': tag })).status).toBe(304);
  });
});

describe('methods', () => {
  it('names the methods of an address', async () => {
    const wrong = await app.rest('DELETE /sites');
    expect([wrong.status, wrong.body.code]).toEqual([405, 'rest_method_not_allowed']);
    expect(wrong.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    const settings = await app.rest('OPTIONS /sites/1/edit', { token: null });
    expect([settings.status, settings.headers.get('allow')]).toEqual([200, 'POST, PUT, PATCH, OPTIONS']);
    expect((await app.rest('OPTIONS /nowhere', { token: null })).status).toBe(404);
    for (const path of ['/events', '/openapi.json']) {
      const read = await app.rest(`OPTIONS ${path}`, { token: null });
      expect([path, read.status, read.headers.get('allow')]).toEqual([path, 200, 'GET, HEAD, OPTIONS']);
      const written = await app.rest(`POST ${path}`);
      expect([written.status, written.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });

  it('never takes a literal word for a site, also with a method that only sites have there', async () => {
    for (const [call, allow] of [
      ['GET /sites/sync', 'POST, PUT, PATCH, OPTIONS'],
      ['GET /sites/%73ync', 'POST, PUT, PATCH, OPTIONS'],
      ['POST /ssl-monitor/info', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const { status, headers } = await app.rest(call);
      expect([call, status, headers.get('allow')]).toEqual([call, 405, allow]);
    }
    const undecodable = await app.rest('GET /sites/%zz');
    expect([undecodable.status, undecodable.body.code]).toEqual([404, 'rest_no_route']);
  });

  it('answers HEAD without a body', async () => {
    const { status, body, headers } = await app.rest('HEAD /sites');
    expect([status, body, headers.get('x-total')]).toEqual([200, '', '1']);
  });

  it('forgives a trailing slash', async () => {
    expect((await app.rest('GET /sites/')).status).toBe(200);
  });
});

describe('bodies', () => {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

  it('takes JSON with a charset, and forms', async () => {
    const json = await app.rest('PATCH /sites/1/edit', {
      body: '{"notes":"ü"}',
      headers: { 'Content-Type': 'application/json; charset=UTF-8' },
    });
    expect(json.body.data.notes).toBe('ü');
    const sent = await app.rest('PATCH /sites/1/edit', {
      body: 'notes=a%20b&automatic_update=yes&monitoring_emails[]=a@example.com&monitoring_emails[]=b@example.com',
      headers: form,
    });
    expect(sent.body.data).toMatchObject({ notes: 'a b', automatic_update: 1 });
    expect(sent.body.data.monitoring_emails).toHaveLength(2);
  });

  it('clears with the empty value of a form what null clears', async () => {
    const { id } = await app.call('add-client', { name: 'Ada', selected_sites: [1] });
    expect((await app.rest('GET /sites/1')).body.data.client_id).toBe(id);
    const site = await app.rest('PUT /sites/1/edit', { body: 'client_id=', headers: form });
    expect([site.status, site.body.data?.client_id]).toEqual([200, null]);
    const cost = (
      await app.rest('POST /costs/add', {
        body: { name: 'Hosting', price: '1', renewal_type: 'monthly', last_renewal: '2026-01-02' },
      })
    ).body.data;
    const edited = await app.rest(`PUT /costs/${cost.id}/edit`, { body: 'last_renewal=', headers: form });
    expect([edited.status, edited.body.data?.last_renewal]).toEqual([200, null]);
  });

  it('takes null for what may be left out of a new site, but not for whether its certificate is verified', async () => {
    const { url, admin } = app.fleet.site(0);
    const refused = await app.rest('POST /sites/add', { body: { url, admin, name: null, ssl_verify: null } });
    expect([refused.status, refused.body.code]).toEqual([400, 'rest_invalid_param']);
    expect(Object.keys(refused.body.data.params)).toEqual(['ssl_verify']);
    const batch = await app.rest('POST /sites/batch', { body: { create: [{ url, admin, ssl_verify: null }] } });
    expect(batch.body.create[0].error.data.params).toHaveProperty('ssl_verify');
  });

  it('lets the body win over the query, and both repeat the path', async () => {
    const reply = await app.rest('PATCH /sites/1/edit?notes=query&name=Named&id_or_domain=1', {
      body: { notes: 'body', id_or_domain: 1 },
    });
    expect(reply.body.data).toMatchObject({ id: 1, notes: 'body', name: 'Named' });
  });

  it('may not contradict the path: nothing is changed then', async () => {
    const mails = async () => JSON.stringify((await app.rest('GET /settings/emails')).body.data);
    const before = await mails();
    const mail = await app.rest('PUT /settings/emails/uptime/edit', {
      body: { mail_type: 'site_health', heading: 'Changed' },
    });
    expect([mail.status, mail.body.code, mail.body.data.field]).toEqual([400, 'rest_invalid_param', 'mail_type']);
    expect(await mails()).toBe(before);
    const rows = routes.filter(({ pathParams }) => pathParams.length > 0);
    for (const { on, path, pathParams, needs } of rows) {
      const [name = ''] = pathParams;
      const values: Record<string, string> = { key_identifier: '1', destroy_id: 'destroy_1' };
      const address = path.replace(/\{(\w+)\}/g, (_, each: string) => values[each] ?? '1');
      for (const method of on) {
        const inQuery = method === 'GET' || method === 'DELETE';
        const reply = await app.rest(`${method} ${address}${inQuery ? `?${name}=other` : ''}`, {
          ...(inQuery ? {} : { body: { [name]: 'other' } }),
        });
        // A value that the path's own pattern refuses is no row at all.
        if (reply.body.code === 'rest_no_route') continue;
        // Of what this key may never do, nothing else is said.
        if (needs === 'approve' && reply.status === 403) continue;
        expect([method, path, reply.status, reply.body.data?.params?.[name]]).toEqual([
          method,
          path,
          400,
          'is given in the path with another value',
        ]);
      }
    }
  });

  it('says what is wrong with a body', async () => {
    const send = async (body: string, type?: string) => {
      const reply = await app.rest('PATCH /sites/1/edit', {
        body,
        headers: type === undefined ? {} : { 'Content-Type': type },
      });
      return [reply.status, reply.body.code];
    };
    expect(await send('{"notes":')).toEqual([400, 'rest_invalid_json']);
    // ISO-8859-1, which would be stored with a replacement character.
    const spoilt = await app.http.request('http://127.0.0.1/v2/sites/1/edit', {
      method: 'PATCH',
      headers: { authorization: `Bearer ${app.tokens.read_write}`, 'content-type': 'application/json' },
      body: Buffer.from('{"notes":"Café"}', 'latin1'),
    });
    expect([spoilt.status, ((await spoilt.json()) as { code: string }).code]).toEqual([400, 'rest_invalid_json']);
    expect(await send('[1]')).toEqual([400, 'rest_invalid_param']);
    expect(await send('"x"')).toEqual([400, 'rest_invalid_param']);
    expect(await send('{}')).toEqual([400, 'empty_body']);
    expect(await send('[]')).toEqual([400, 'rest_invalid_param']);
    expect(await send('<x/>', 'application/xml')).toEqual([415, 'invalid_content_type']);
    const polluted = await send('{"__proto__":{"notes":"x"},"constructor":1}');
    expect(polluted).toEqual([400, 'rest_invalid_param']);
    expect(({} as { notes?: string }).notes).toBeUndefined();
    const inherited = await app.rest('PATCH /sites/1/edit', { body: { constructor: 1 } });
    expect(inherited.body.data.details.constructor).toMatchObject({ code: 'rest_invalid_param' });
  });

  it('bounds numbers and pages', async () => {
    for (const query of ['page=0', 'per_page=0', 'per_page=101', 'page=1.5', 'page=', 'page=abc', 'include=1,x']) {
      const reply = await app.rest(`GET /sites?${query}`);
      expect([query, reply.status, reply.body.code]).toEqual([query, 400, 'rest_invalid_param']);
      expect(Object.keys(reply.body.data.params)[0]).toContain(query.split('=')[0]);
    }
  });
});

describe('validators', () => {
  it('answers 304 to a caller that has it already, and not after a change', async () => {
    const first = await app.rest('GET /sites');
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]{27}"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const again = await app.rest('GET /sites', { headers: { 'If-None-Match': header } });
      expect([again.status, again.body]).toEqual([304, '']);
    }
    await app.rest('PATCH /sites/1/edit', { body: { notes: `${Math.random()}` } });
    expect((await app.rest('GET /sites', { headers: { 'If-None-Match': tag } })).status).toBe(200);
  });

  it('keeps live and written answers out of caches', async () => {
    for (const call of ['GET /sites/1/security', 'POST /sites/1/check']) {
      const { headers } = await app.rest(call);
      expect([call, headers.get('etag'), headers.get('cache-control')]).toEqual([call, null, 'no-store']);
    }
  });
});

describe('repeats', () => {
  const once = (key: string) => ({ 'Idempotency-Key': key });

  it('runs a named write once', async () => {
    const body = { name: 'Once' };
    const first = await app.rest('POST /tags/add', { body, headers: once('a-1') });
    const again = await app.rest('POST /tags/add', { body, headers: once('"a-1"') });
    expect(again.body).toEqual(first.body);
    expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ]);
    const other = await app.rest('POST /tags/add', { body: { name: 'Other' }, headers: once('a-1') });
    expect([other.status, other.body.code]).toEqual([422, 'svc_idempotency_key_reused']);
    const elsewhere = await app.rest('POST /clients/add', { body, headers: once('a-1') });
    expect(elsewhere.status).toBe(422);
    const stranger = await app.rest('POST /tags/add', { body, headers: once('a-1'), token: app.tokens.write });
    expect([stranger.status, stranger.body.code]).toEqual([409, 'svc_already_exists']);
  });

  it('repeats a refusal, but tries a failure of the site again', async () => {
    const body = { name: 'Taken' };
    await app.rest('POST /tags/add', { body });
    const refused = await app.rest('POST /tags/add', { body, headers: once('b-1') });
    await app.rest(`DELETE /tags/${(await app.rest('GET /tags?search=Taken')).body.data[0].id}/remove`);
    const again = await app.rest('POST /tags/add', { body, headers: once('b-1') });
    expect([refused.status, again.status, again.body]).toEqual([409, 409, refused.body]);
    app.fleet.site(0).faults.offline = true;
    expect((await app.rest('POST /sites/1/sync', { headers: once('b-2') })).status).toBe(503);
    app.fleet.site(0).faults.offline = false;
    expect((await app.rest('POST /sites/1/sync', { headers: once('b-2') })).status).toBe(200);
  });

  it('refuses a second call while the first one runs', async () => {
    const held = holdBack(app.fleet.site(0), /./);
    const first = app.rest('POST /sites/1/sync', { headers: once('c-1') });
    await held.waiting;
    const second = await app.rest('POST /sites/1/sync', { headers: once('c-1') });
    expect([second.status, second.body.code]).toEqual([409, 'svc_idempotency_in_progress']);
    expect(second.headers.get('retry-after')).toBe('5');
    held.letGo();
    expect((await first).status).toBe(200);
  });

  it('seals what it keeps, and forgets it after a day', async () => {
    const body = { active: true, permissions: 'read' };
    const made = await app.rest('POST /rest-api/add-key', { body, headers: once('d-1') });
    const rows = await app.db.all('SELECT body FROM idempotency');
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(String(row.body)).not.toContain(made.body.token);
    expect((await app.rest('POST /rest-api/add-key', { body, headers: once('d-1') })).body.token).toBe(made.body.token);
    app.clock.move(24 * 3600_000 + 1);
    const anew = await app.rest('POST /rest-api/add-key', { body, headers: once('d-1') });
    expect(anew.body.token).not.toBe(made.body.token);
  });

  it('wants a usable key', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256)]) {
      const reply = await app.rest('POST /tags/add', { body: { name: 'k' }, headers: once(key) });
      expect([reply.status, reply.body.data.field]).toEqual([400, 'Idempotency-Key']);
    }
  });
});

describe('rate limit', () => {
  it('counts per key, says what is left, and lets go with time', async () => {
    const own = await restApp({ sites: 1, config: { rest_rate_limit: 3 } });
    const ask = (token = own.tokens.read) => own.rest('GET /sites/count', { token });
    const first = await ask();
    expect(first.headers.get('ratelimit-policy')).toBe('"default";q=3;w=60');
    expect(first.headers.get('ratelimit')).toBe('"default";r=2;t=20');
    await ask();
    await ask();
    const refused = await ask();
    expect([refused.status, refused.body.code]).toEqual([429, 'svc_rest_too_many_requests']);
    expect(refused.headers.get('retry-after')).toBe('20');
    expect((await ask(own.tokens.read_write)).status).toBe(200);
    own.clock.move(20_000);
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
  });
});

describe('switches of the operator', () => {
  it('refuses every write of a read-only server, and routes of modules that are off', async () => {
    const own = await restApp({ sites: 1, config: { read_only: true, modules: [] } });
    const write = await own.rest('POST /tags/add', { body: { name: 'x' } });
    expect([write.status, write.body.code]).toEqual([403, 'svc_permission_denied']);
    const off = await own.rest('GET /costs?page=x');
    expect([off.status, off.body.code, off.body.data.module]).toEqual([
      501,
      'svc_module_not_available',
      'cost-tracker',
    ]);
  });
});

describe('the description', () => {
  it('is served without a key', async () => {
    const { status, body } = await app.rest('GET /openapi.json', { token: null });
    expect([status, body.openapi]).toEqual([200, '3.1.0']);
  });
});
