import { beforeAll, describe, expect, it } from 'vitest';
import type { Actor } from '../../src/runtime/actor.js';
import type { ErrorBody } from '../../src/runtime/errors.js';
import { TOOLSETS } from '../../src/runtime/toolsets.js';
import { listen } from '../../src/surfaces/http/server.js';
import { addUser, basic, type Surfaces, startSurfaces } from '../support/surfaces.js';

const V1 = '/wp-json/wp-abilities/v1';
const LOOK = '/abilities/svc/look-things-v1/run';
const DELETE = '/abilities/svc/delete-thing-v1/run';
const WORK = '/abilities/svc/work-things-v1/run';
const login = basic('Admin', 'correct horse');

let surfaces: Surfaces;
beforeAll(async () => {
  surfaces = await startSurfaces();
  await addUser(surfaces, 'admin');
  await addUser(surfaces, 'reader', ['read']);
  await addUser(surfaces, 'nobody', []);
});

async function call(path: string, init: RequestInit & { as?: string | null } = {}) {
  const { as = login, headers, ...rest } = init;
  const response = await surfaces.http.request(`http://localhost${path}`, {
    ...rest,
    headers: { ...(as === null ? {} : { authorization: as }), ...(headers as Record<string, string>) },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : JSON.parse(text) };
}

function post(path: string, body: unknown, init: RequestInit & { as?: string | null } = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return call(path, { method: 'POST', body: text, headers: { 'content-type': 'application/json' }, ...init });
}

const NOTHING = { page: 1, wide: false, status: 'any', types: [], include: [], search: '' };

describe('GET input (operations §1.3)', () => {
  it.each<[string, Record<string, unknown>]>([
    ['', {}],
    ['?input=', {}],
    ['?input[page]=2&input[status]=connected', { page: 2, status: 'connected' }],
    ['?input%5Bpage%5D=2', { page: 2 }],
    ['?input[types][]=core&input[types][]=themes', { types: ['core', 'themes'] }],
    ['?input%5Btypes%5D%5B1%5D=b&input%5Btypes%5D%5B0%5D=a', { types: ['a', 'b'] }],
    ['?input[types]=core,themes+plugins', { types: ['core', 'themes', 'plugins'] }],
    ['?input[include][]=7&input[include][]=8', { include: [7, 8] }],
    ['?input[search]=a,b%20c', { search: 'a,b c' }],
    ['?input[search]=12', { search: '12' }],
    ['?input[wide]=TRUE', { wide: true }],
    ['?input[wide]=0', { wide: false }],
    ['?input=%7B%22page%22%3A2%7D', { page: 2 }],
    ['?input=[]', {}],
    ['?context=edit&_locale=user&_fields=page&rest_route=x', {}],
  ])('%s', async (query, expected) => {
    const answer = await call(`${V1}${LOOK}${query}`);
    expect(answer.body).toEqual({ ...NOTHING, ...expected, caller: 'user:1:run' });
    expect(answer.status).toBe(200);
  });

  it.each<[string, string]>([
    ['?input[page]=0', 'page'],
    ['?input[page]=1.5', 'page'],
    ['?input[page]=1&input[page]=2', 'page'],
    ['?input[types]=a&input[types][]=b', 'types'],
    ['?input[types][0]=a&input[types][0]=b', 'types[0]'],
    ['?input[filter][a]=b', 'filter'],
    ['?input[a][b][c]=d', 'a'],
    ['?input[]=x', 'input'],
    ['?input[=x', 'input'],
    ['?input=x', 'input'],
    ['?input="x"', 'input'],
    ['?input=[1]', 'input'],
    ['?input={"page":1}&input[page]=2', 'input'],
    ['?input[__proto__]=x', '__proto__'],
    ['?input[constructor]=x', 'constructor'],
    ['?page=2', 'page'],
    ['?inputs=2', 'inputs'],
    ['?input[page]=2&status=any', 'status'],
    ['?input[toString][]=x', 'toString'],
    ['?input[nosuch]=x', 'nosuch'],
    ['?input={"__proto__":{"page":9}}', '__proto__'],
    ['?page=2', 'page'],
    ['?types[]=core', 'types'],
    ['?inputs[page]=2', 'inputs'],
    ['?other=1', 'other'],
  ])('%s is refused at %s', async (query, field) => {
    const { status, body } = await call(`${LOOK}${query}`);
    expect(body).toMatchObject({ code: 'ability_invalid_input', data: { status: 400, field } });
    expect(body.message).toContain(field);
    expect(status).toBe(400);
    expect(({} as Record<string, unknown>).page).toBeUndefined();
  });
});

it('a POST with fields in its address is refused, and does nothing', async () => {
  const path = `${WORK}?page=2`;
  const { status, body } = await post(path, { input: {} });
  expect([status, body.code, body.data.field]).toEqual([400, 'ability_invalid_input', 'page']);
});

describe('POST input (operations §1.4)', () => {
  it('refuses input beside the body, in any form', async () => {
    for (const [query, field] of [
      ['?page=2', 'page'],
      ['?input[page]=2', 'input'],
    ]) {
      const { status, body } = await post(`${LOOK}${query}`, '{"input":{}}');
      expect([status, body.code, body.data.field]).toEqual([400, 'ability_invalid_input', field]);
    }
    expect((await post(`${LOOK}?_locale=user`, '{"input":{}}')).status).toBe(200);
  });

  it.each<[string, string]>([
    ['wrapped', '{"input":{"page":3}}'],
    ['charset', '{"input":{"page":3}}'],
  ])('%s', async (name, text) => {
    const type = name === 'charset' ? 'application/json; charset=utf-8' : 'application/json';
    const answer = await post(LOOK, text, { headers: { 'content-type': type } });
    expect(answer.body).toEqual({ ...NOTHING, page: 3, caller: 'user:1:run' });
  });

  it.each(['', '{}', '{"input":{}}', '{"input":[]}', '{"input":null}'])('no input: %j', async (text) => {
    const answer = await post(LOOK, text);
    expect([answer.status, answer.body.page]).toEqual([200, 1]);
  });

  it.each<[string, string, string]>([
    ['a flat body', '{"page":3}', 'ability_invalid_input'],
    ['a field beside input', '{"input":{},"page":3}', 'ability_invalid_input'],
    ['text as input', '{"input":"x"}', 'ability_invalid_input'],
    ['a number as input', '{"input":7}', 'ability_invalid_input'],
    ['a list as input', '{"input":[1]}', 'ability_invalid_input'],
    ['a list as body', '[]', 'ability_invalid_input'],
    ['null as body', 'null', 'ability_invalid_input'],
    ['no JSON', '{"input":', 'rest_invalid_json'],
  ])('%s', async (_name, text, code) => {
    const { status, body } = await post(LOOK, text);
    expect([status, body.code]).toEqual([400, code]);
    if (code === 'ability_invalid_input') expect(body.data.field).toBe('input');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', ''])(
    'content type %j',
    async (type) => {
      const { status, body } = await post(LOOK, '{"input":{"page":3}}', { headers: { 'content-type': type } });
      expect([status, body.code, body.data.field]).toEqual([400, 'ability_invalid_input', 'input']);
    },
  );

  it.each([undefined, 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'an empty body of content type %j does not run what acts',
    async (type) => {
      const headers = type === undefined ? {} : { 'content-type': type };
      const { status, body } = await call(WORK, { method: 'POST', headers });
      expect([status, body.code]).toEqual([415, 'invalid_content_type']);
      expect((await call(LOOK, { method: 'POST', headers })).status).toBe(200);
    },
  );

  it('an empty body that is marked as JSON is no input', async () => {
    const { status, body } = await post(WORK, '');
    expect([status, body.data.field]).toEqual([400, 'site_id_or_domain']);
  });

  it('takes UTF-8 with or without a mark, and refuses other encodings instead of spoiling letters', async () => {
    const text = '{"input":{"search":"Café"}}';
    const send = (body: Buffer<ArrayBuffer>, charset: string) =>
      call(LOOK, { method: 'POST', body, headers: { 'content-type': `application/json; charset=${charset}` } });
    for (const mark of ['', '\uFEFF']) expect((await send(Buffer.from(mark + text), 'utf-8')).body.search).toBe('Café');
    for (const charset of ['iso-8859-1', 'utf-8']) {
      const { status, body } = await send(Buffer.from(text, 'latin1'), charset);
      expect([status, body.code]).toEqual([400, 'rest_invalid_json']);
    }
  });

  it('does not run with defaults when the input stands in the address of a POST', async () => {
    const { status, body } = await post(`${LOOK}?input[page]=2`, '');
    expect([status, body.data.field]).toEqual([400, 'input']);
  });

  it('reports unknown and missing fields by name', async () => {
    expect((await post(LOOK, { input: { pgae: 1 } })).body.data.field).toBe('pgae');
    expect((await post(WORK, { input: {} })).body).toMatchObject({
      code: 'ability_invalid_input',
      data: { field: 'site_id_or_domain' },
    });
  });

  it('refuses more than the limit of bytes', async () => {
    const small = await startSurfaces({ maxBody: 1000 });
    await addUser(small, 'admin');
    const listener = await listen(small.http, { host: '127.0.0.1', port: 0 });
    const headers = { authorization: login, 'content-type': 'application/json' };
    const body = `{"input":{"search":"${'x'.repeat(2000)}"}}`;
    const announced = await fetch(`${listener.url}${LOOK}`, { method: 'POST', headers, body });
    expect([announced.status, ((await announced.json()) as ErrorBody).code]).toEqual([
      413,
      'svc_rest_request_entity_too_large',
    ]);
    const chunked = (text: string) =>
      fetch(`${listener.url}${LOOK}`, {
        method: 'POST',
        headers,
        body: new Blob([text]).stream(),
        duplex: 'half',
      } as RequestInit);
    expect((await chunked(body)).status).toBe(413);
    const fits = await chunked('{"input":{"page":4}}');
    expect([fits.status, ((await fits.json()) as { page: number }).page]).toEqual([200, 4]);
    await listener.close(100);
  });
});

describe('methods (operations §1.2)', () => {
  it.each(['PUT', 'PATCH', 'HEAD', 'DELETE'])('%s on a read operation is 405', async (method) => {
    const { status, headers } = await call(LOOK, { method });
    expect([status, headers.get('allow')]).toEqual([405, 'POST, GET']);
  });

  it('names the methods it takes', async () => {
    const { status, body } = await call(WORK);
    expect([status, body.code, body.data.allow]).toEqual([405, 'rest_ability_invalid_method', ['POST']]);
  });

  it('runs an idempotent deletion by DELETE, with input in the address and the body unread', async () => {
    const url = `${V1}${DELETE}?input[tag_id]=3`;
    expect((await call(url, { method: 'DELETE' })).body.code).toBe('svc_confirmation_required');
    expect((await call(`${url}&input[confirm]=false`, { method: 'DELETE' })).body.code).toBe(
      'svc_confirmation_required',
    );
    expect((await call(`${url}&input[confirm]=yes`, { method: 'DELETE' })).body.code).toBe('ability_invalid_input');
    expect((await call(`${url}&input[dry_run]=1`, { method: 'DELETE' })).body).toEqual({
      deleted: false,
      dry_run: true,
      needs_approval: null,
    });
    const done = await call(`${url}&input[confirm]=true`, { method: 'DELETE', body: '{"input":{"tag_id":9}}' });
    expect([done.status, done.body]).toEqual([200, { deleted: true }]);
    expect((await post(DELETE, { input: { tag_id: 3, confirm: true } })).body).toEqual({ deleted: true });
  });

  it('names to OPTIONS the methods that work, with a login and without', async () => {
    for (const as of [null, undefined]) {
      const allowed = async (path: string) => {
        const { status, headers } = await call(path, { method: 'OPTIONS', ...(as === null ? { as } : {}) });
        return [status, headers.get('allow')];
      };
      expect(await allowed(LOOK)).toEqual([200, 'POST, GET, OPTIONS']);
      expect(await allowed(`${V1}${WORK}`)).toEqual([200, 'POST, OPTIONS']);
      expect(await allowed(DELETE)).toEqual([200, 'POST, DELETE, OPTIONS']);
      expect(await allowed('/abilities/svc/nothing-v1/run')).toEqual([404, null]);
    }
  });
});

describe('order of checks (operations §1.6)', () => {
  it.each<[string, string, RequestInit, number, string]>([
    ['login before existence', '/abilities/svc/nothing-v1/run', { method: 'PUT' }, 401, 'svc_permission_denied'],
    ['login before method', LOOK, { method: 'PUT' }, 401, 'svc_permission_denied'],
    ['login before input', WORK, { method: 'POST', body: 'x' }, 401, 'svc_permission_denied'],
  ])('%s', async (_name, path, init, status, code) => {
    const answer = await call(path, { ...init, as: null });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.headers.get('www-authenticate')).toBeNull();
  });

  it('right before existence, method and input', async () => {
    const nobody = basic('nobody', 'correct horse');
    const reader = basic('reader', 'correct horse');
    expect((await call('/abilities/svc/nothing-v1/run', { as: nobody })).body.code).toBe('svc_permission_denied');
    for (const init of [{ method: 'GET' }, { method: 'POST', body: 'x' }]) {
      const { status, body } = await call(WORK, { ...init, as: reader });
      expect([status, body.code]).toEqual([403, 'svc_permission_denied']);
    }
    expect((await call(LOOK, { as: reader })).status).toBe(200);
  });

  it('existence before method, method before input', async () => {
    expect((await call('/abilities/svc/nothing-v1/run', { method: 'PUT' })).body.code).toBe('rest_ability_not_found');
    expect((await call(`${LOOK}?input[page]=x`, { method: 'PUT' })).body.code).toBe('rest_ability_invalid_method');
  });

  it('refuses changes on a read-only server before it reads them', async () => {
    const locked = await startSurfaces({ read_only: true });
    await addUser(locked, 'admin');
    const response = await locked.http.request(WORK, { method: 'POST', body: '{', headers: { authorization: login } });
    expect([response.status, ((await response.json()) as ErrorBody).data.advice]).toEqual([
      403,
      expect.stringContaining('SITEFLEET_READ_ONLY'),
    ]);
  });

  it.each([
    ['a read-only server', { read_only: true }, ['read', 'write'] as const],
    ['a login that only reads', {}, ['read'] as const],
  ])('refuses changes with the same words as a tool does: %s', async (_name, config, rights) => {
    const ways = await startSurfaces(config);
    await addUser(ways, 'caller', [...rights]);
    const headers = { authorization: basic('caller', 'correct horse'), 'content-type': 'application/json' };
    const response = await ways.http.request(WORK, { method: 'POST', body: '{}', headers });
    const { code, message, data } = (await response.json()) as ErrorBody;
    const actor: Actor = { type: 'user', id: 1, name: 'caller', rights, via: 'mcp' };
    const caller = { actor, request_id: 'r', signal: new AbortController().signal };
    const result = await ways.registry.callTool('svc-work-things-v1', {}, caller);
    expect(result).toEqual({
      isError: true,
      content: [{ type: 'text', text: `${code}: ${message}\nNext step: ${data.advice}` }],
    });
  });
});

describe('errors (operations §1.7)', () => {
  it('carries code, message, status, field, advice and further facts', async () => {
    const { status, body } = await post(WORK, { input: { site_id_or_domain: 'x.example', fail: 'known' } });
    expect(status).toBe(400);
    expect(body).toEqual({
      code: 'svc_ambiguous_site',
      message: 'x.example names several sites.',
      data: { status: 400, field: 'site_id_or_domain', advice: 'Use an id.', site_ids: [1, 2] },
    });
  });

  it('keeps internals inside and logs them with the request id', async () => {
    const answer = await post(
      WORK,
      { input: { site_id_or_domain: 1, fail: 'bug' } },
      {
        headers: { 'content-type': 'application/json', 'x-request-id': 'trace-7' },
      },
    );
    expect([answer.status, answer.body.code]).toEqual([500, 'svc_internal_error']);
    expect(answer.text).not.toContain('secret internals');
    expect(answer.headers.get('x-request-id')).toBe('trace-7');
    const line = surfaces.logged.find(({ facts }) => facts.request_id === 'trace-7');
    expect(line?.facts.err).toMatchObject({ message: 'secret internals' });
  });

  it.each([`${V1}/nothing`, `${V1}`, `${V1}/abilities/svc/look_things/run`, '/nothing', '/', '/abilities/svc/a.b'])(
    'no route at %s',
    async (path) => {
      const { status, body } = await call(path, { as: null });
      expect([status, body.code, body.data.status]).toEqual([404, 'rest_no_route', 404]);
    },
  );

  it.each(['/abilities/svc/Look-things-v1/run', '/abilities/nothing/run', '/abilities/svc/look-things-v1/run/run'])(
    'no operation at %s',
    async (path) => expect((await call(path)).body.code).toBe('rest_ability_not_found'),
  );

  it('and names the operation that was meant', async () => {
    for (const path of [
      '/abilities/svc/lookThings/run',
      '/abilities/svc/Look-things-v1',
      '/abilities/svc/look-thing-v1-v1/run',
    ])
      expect((await call(path)).body.data.advice).toMatch(/^Did you mean svc\/look-things-v1\b/);
    expect((await call('/abilities/svc/nothing-v1')).body.data.advice).toContain('svc/list-sites-v1');
  });
});

describe('discovery (operations §2)', () => {
  it('lists operations in the order of the groups', async () => {
    const { status, headers, body } = await call(`${V1}/abilities`);
    expect(status).toBe(200);
    expect(body.map((entry: { name: string }) => entry.name)).toEqual([
      'svc/look-things-v1',
      'svc/work-things-v1',
      'svc/delete-thing-v1',
    ]);
    expect([headers.get('x-wp-total'), headers.get('x-wp-totalpages'), headers.get('link')]).toEqual(['3', '1', null]);
  });

  it('shows one operation with its seven fields and links', async () => {
    const { body } = await call(`${V1}/abilities/svc/work-things-v1`);
    expect(Object.keys(body)).toEqual([
      'name',
      'label',
      'description',
      'category',
      'input_schema',
      'output_schema',
      'meta',
      '_links',
    ]);
    expect(body).toMatchObject({
      name: 'svc/work-things-v1',
      label: 'Work on things',
      category: 'svc-updates',
      input_schema: { type: 'object', required: ['site_id_or_domain'], additionalProperties: false },
      meta: {
        annotations: { instructions: 'Empty list means all.', readonly: false, destructive: false, idempotent: false },
        show_in_rest: true,
      },
    });
    const root = `http://localhost${V1}/abilities`;
    expect(body._links).toEqual({
      self: [{ href: `${root}/svc/work-things-v1` }],
      collection: [{ href: root }],
      'wp:action-run': [{ href: `${root}/svc/work-things-v1/run` }],
    });
  });

  it('says of an operation without required fields that it takes no input', async () => {
    const { body } = await call('/abilities/svc/look-things-v1');
    expect(body.input_schema.type).toEqual(['object', 'null']);
    expect(body._links.self[0].href).toBe('http://localhost/abilities/svc/look-things-v1');
  });

  it.each<[string, string[], string | null]>([
    ['?per_page=2', ['svc/look-things-v1', 'svc/work-things-v1'], 'next'],
    ['?per_page=2&page=2', ['svc/delete-thing-v1'], 'prev'],
    ['?per_page=1&page=2', ['svc/work-things-v1'], 'prev next'],
    ['?page=9', [], 'prev'],
    ['?category=svc-tags', ['svc/delete-thing-v1'], null],
    ['?category=nothing', [], null],
    ['?namespace=svc', ['svc/look-things-v1', 'svc/work-things-v1', 'svc/delete-thing-v1'], null],
    ['?namespace=other', [], null],
    ['?meta[annotations][readonly]=true', ['svc/look-things-v1'], null],
    ['?meta[annotations][readonly]=false&meta[annotations][destructive]=0', ['svc/work-things-v1'], null],
  ])('%s', async (query, names, rels) => {
    const { status, headers, body } = await call(`/abilities${query}`);
    expect([status, body.map((entry: { name: string }) => entry.name)]).toEqual([200, names]);
    const found = [...(headers.get('link') ?? '').matchAll(/rel="(\w+)"/g)].map((match) => match[1]).join(' ');
    expect(found || null).toBe(rels);
  });

  it('links to the next page with the other parameters kept', async () => {
    const { headers } = await call(`${V1}/abilities?per_page=1&namespace=svc`);
    expect(headers.get('link')).toBe(`<http://localhost${V1}/abilities?per_page=1&namespace=svc&page=2>; rel="next"`);
  });

  it.each(['page=0', 'page=x', 'per_page=0', 'per_page=101', 'context=all', 'meta[annotations][readonly]=maybe'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await call(`/abilities?${query}`);
      const name = query.slice(0, query.lastIndexOf('='));
      expect([status, body.code, Object.keys(body.data.params)]).toEqual([400, 'rest_invalid_param', [name]]);
    },
  );

  it.each(['/abilities/svc/look-things-v1', '/categories', '/categories/svc-sites'])(
    'refuses an unknown context at %s',
    async (path) => {
      const { status, body } = await call(`${path}?context=all`);
      expect([status, body.code, Object.keys(body.data.params)]).toEqual([400, 'rest_invalid_param', ['context']]);
    },
  );

  it('cuts down to a context or to fields', async () => {
    const embed = await call('/abilities/svc/look-things-v1?context=embed');
    expect(Object.keys(embed.body)).toEqual(['name', 'label', 'category', '_links']);
    const fields = await call('/abilities?_fields=name,meta.annotations.readonly');
    expect(fields.body[0]).toEqual({ name: 'svc/look-things-v1', meta: { annotations: { readonly: true } } });
    const listed = await call('/abilities?_fields[]=name&_fields[]=label');
    expect(listed.body[0]).toEqual({ name: 'svc/look-things-v1', label: 'Look at things' });
  });

  it('answers HEAD with headers only', async () => {
    const { status, headers, text } = await call(`${V1}/abilities?per_page=1`, { method: 'HEAD' });
    expect([status, headers.get('x-wp-totalpages'), text]).toEqual([200, '3', '']);
  });

  it('has a category for each toolset', async () => {
    const { body, headers } = await call(`${V1}/categories`);
    const slugs = body.map((entry: { slug: string }) => entry.slug);
    // The interface's own in its order; further toolsets follow.
    expect(slugs.slice(0, 5)).toEqual(['svc-sites', 'svc-updates', 'svc-clients', 'svc-tags', 'svc-batch']);
    expect(slugs).toEqual(TOOLSETS.map((toolset) => `svc-${toolset}`));
    expect(headers.get('x-wp-total')).toBe(String(TOOLSETS.length));
    const one = await call('/categories/svc-sites');
    expect(one.body).toMatchObject({ slug: 'svc-sites', meta: {} });
    expect(one.body._links.abilities[0].href).toBe('http://localhost/abilities?category=svc-sites');
    expect((await call('/categories/svc-none')).body.code).toBe('rest_ability_category_not_found');
  });

  it('needs a login, any right will do, and only reading methods', async () => {
    for (const path of ['/abilities', '/abilities/svc/nothing-v1', '/categories', '/categories/svc-sites']) {
      const { status, body, headers } = await call(path, { as: null });
      expect([status, body.code, headers.get('www-authenticate')]).toEqual([401, 'rest_forbidden', null]);
    }
    expect((await call('/abilities', { as: basic('nobody', 'correct horse') })).status).toBe(200);
    const wrong = await call('/abilities', { method: 'POST', body: '{}' });
    expect([wrong.status, wrong.body.code, wrong.headers.get('allow')]).toEqual([
      405,
      'rest_method_not_allowed',
      'GET, HEAD',
    ]);
    expect((await call('/abilities/svc/nothing-v1')).body.code).toBe('rest_ability_not_found');
  });
});

describe('a challenge', () => {
  it('is sent where it is wanted: a browser then asks for a login', async () => {
    const wanted = await startSurfaces({ basic_challenge: true });
    for (const path of [LOOK, '/abilities']) {
      const answer = await wanted.http.request(`http://localhost${path}`);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        401,
        'Basic realm="svc", charset="UTF-8"',
      ]);
    }
    const mcp = await wanted.http.request('http://localhost/mcp', { method: 'POST' });
    expect(mcp.headers.get('www-authenticate')).toBe('Bearer realm="svc", Basic realm="svc", charset="UTF-8"');
  });
});

describe('the shell', () => {
  it('answers health to anyone, and readiness with its reasons', async () => {
    expect((await call('/healthz', { as: null })).body).toEqual({ status: 'ok' });
    expect((await call('/readyz', { as: null })).status).toBe(200);
    const waiting = await startSurfaces({ notReady: ['The database is not responding.'] });
    const response = await waiting.http.request('/readyz');
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'not ready', reasons: ['The database is not responding.'] },
    ]);
  });

  it('gives every answer an id and headers that keep it to itself', async () => {
    const { headers } = await call('/nothing', { headers: { 'x-request-id': 'bad id\twith blanks' }, as: null });
    expect(headers.get('x-request-id')).toMatch(/^req-\d+$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toContain('application/json');
  });

  it('finishes what is in flight when it stops', async () => {
    const listener = await listen(surfaces.http, { host: '127.0.0.1', port: 0 });
    const headers = { authorization: login, 'content-type': 'application/json' };
    const body = JSON.stringify({ input: { site_id_or_domain: 1, steps: 500 } });
    const before = surfaces.begun();
    const running = fetch(`${listener.url}${WORK}`, { method: 'POST', headers, body });
    // It takes at least a second.
    await expect.poll(surfaces.begun, { interval: 5 }).toBeGreaterThan(before);
    const closing = listener.close(300_000);
    expect(await (await running).json()).toEqual({ done: 500 });
    await closing;
    await expect(fetch(`${listener.url}/healthz`)).rejects.toThrow();
  });

  it('says why it cannot listen', async () => {
    const first = await listen(surfaces.http, { host: '127.0.0.1', port: 0 });
    await expect(listen(surfaces.http, { host: '127.0.0.1', port: first.port })).rejects.toThrow(
      /another program is listening there/,
    );
    await first.close(0);
  });
});
