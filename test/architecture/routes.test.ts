/**
 * The REST tables as a whole: all documented routes exist, every path reaches its own row, and no row omits a check.
 */

import { readFileSync } from 'node:fs';
import type { Hono } from 'hono';
import { beforeAll, describe, expect, it } from 'vitest';
import { jsonSchema } from '../../src/operation/contract.js';
import { STATUS } from '../../src/runtime/errors.js';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { documented, extra, routes } from '../../src/surfaces/rest/index.js';
import { createMatcher } from '../../src/surfaces/rest/match.js';
import { type OpenApi, openApi } from '../../src/surfaces/rest/openapi.js';
import type { Route } from '../../src/surfaces/rest/route.js';
import { type TestApp, testApp } from '../support/harness.js';
import { newKey } from '../support/logins.js';

/** First segments of the routes document whose tables are not written yet. Empty when all are. */
const PENDING: readonly string[] = [];

const document = readFileSync(new URL('../rest/routes.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');
const pairs = (rows: readonly Route[]) =>
  rows.flatMap((row) => row.on.map((on) => ({ on, row, pair: `${on} ${row.path}` })));
const groupOf = (pair: string) => pair.split('/')[1] ?? '';

/** A valid value for each path parameter. */
const SAMPLES: Readonly<Record<string, string>> = {
  id_or_domain: 'example.com%2Fblog',
  id_or_email: 'a%40example.com',
  key_identifier: '7',
  approval_id: 'apr_0123456789abcdef01234567',
};

function sample(row: Route): string {
  return row.path.replace(/\{(\w+)\}/g, (_, name: string) => sampleOf(row, name));
}

function sampleOf(row: Route, name: string): string {
  const pattern = row.where[name];
  const value = [SAMPLES[name], '7', 'sample', 'sync_1'].find(
    (text) => text !== undefined && (pattern === undefined || pattern.test(decodeURIComponent(text))),
  );
  if (value === undefined) throw new Error(`no sample for ${name} of ${row.key}`);
  return value;
}

let app: TestApp;
let http: Hono<HttpEnv>;
const tokens = { read: '', write: '', read_write: '', all: '' };

beforeAll(async () => {
  app = await testApp({ sites: 1 });
  http = await app.service.http();
  for (const scope of ['read', 'write', 'read_write'] as const)
    tokens[scope] = (await newKey(app.service.store.keys, { scope })).token;
  tokens.all = (await newKey(app.service.store.keys, { approves: true })).token;
});

interface Reply {
  status: number;
  headers: Headers;
  body: { success: number; code: string; data: { params: Record<string, string> | string[] } };
}

async function send(on: string, path: string, token?: string, fields?: unknown): Promise<Reply> {
  const reply = await http.request(`http://127.0.0.1/v2${path}`, {
    method: on,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(fields === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(fields === undefined ? {} : { body: JSON.stringify(fields) }),
  });
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Reply['body'] };
}

describe('the routes document', () => {
  it('is known in full: 156 paths, 219 pairs', () => {
    expect(new Set(document).size).toBe(219);
    expect(new Set(document.map((pair) => pair.split(' ')[1])).size).toBe(156);
  });

  it('is answered, but for the tables that are being written', () => {
    const present = new Set(pairs(documented).map(({ pair }) => pair));
    const missing = document.filter((pair) => !present.has(pair));
    expect(missing.filter((pair) => !PENDING.includes(groupOf(pair)))).toEqual([]);
  });

  it('holds no row of ours, and each list is in its order', () => {
    const known = new Set(document);
    expect(pairs(documented).filter(({ pair }) => !known.has(pair))).toEqual([]);
    expect(pairs(extra).filter(({ pair }) => known.has(pair))).toEqual([]);
    const order = pairs(documented).map(({ pair }) => document.indexOf(pair));
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });
});

describe('every row', () => {
  const match = createMatcher(routes);

  it.each(pairs(routes))('$pair answers its own path', ({ on, row }) => {
    const found = match(on, sample(row));
    expect(found.kind === 'row' ? found.route.key : found.kind).toBe(row.key);
  });

  it('has a summary and a key of its own', () => {
    expect(new Set(routes.map(({ key }) => key)).size).toBe(routes.length);
    for (const row of routes) expect(row.summary, row.key).toMatch(/^[A-Z].*[^.]$/);
  });

  it('is refused without a key', async () => {
    for (const { on, row, pair } of pairs(routes)) {
      const { status, headers, body } = await send(on, sample(row));
      expect([pair, status, body.success]).toEqual([pair, 401, 0]);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="svc"');
    }
  });

  it('is refused to a key of the other right', async () => {
    for (const { on, row, pair } of pairs(routes)) {
      // What reads is not for a key that may only write, whatever else it needs.
      const others = [...(on === 'GET' ? [tokens.write] : []), ...(row.needs === 'read' ? [] : [tokens.read])];
      for (const token of others) {
        const { status, body } = await send(on, sample(row), token);
        expect([pair, status, body.code]).toEqual([pair, 403, 'svc_rest_insufficient_permission']);
      }
    }
  });

  it('needs what its method needs', () => {
    // An archive of a backup has the passwords of a site in it.
    const secret = ['GET /backups/{backup_id}/archive'];
    for (const { on, row, pair } of pairs(routes))
      expect([pair, row.needs]).toEqual([
        pair,
        on === 'GET' && !secret.includes(pair) ? 'read' : row.change === 'approvals' ? 'approve' : 'write',
      ]);
  });

  it('names every parameter that has the wrong type', async () => {
    for (const { on, row, pair } of pairs(routes)) {
      const names = typedParams(row);
      if (names.length === 0) continue;
      const rest = requiredParams(row).filter((name) => !names.includes(name));
      const wrong = Object.fromEntries([...names.map((name) => [name, { not: 'this' }]), ...rest.map((n) => [n, 'x'])]);
      const query = [...names.map((name) => `${name}[not]=this`), ...rest.map((name) => `${name}=x`)].join('&');
      const reply =
        on === 'GET'
          ? await send(on, `${sample(row)}?${query}`, tokens.all)
          : await send(on, sample(row), tokens.all, wrong);
      expect([pair, reply.status, reply.body.code]).toEqual([pair, 400, 'rest_invalid_param']);
      const named = Object.keys(reply.body.data.params);
      const lacking = names.filter(
        (name) => !named.some((field) => field === name || /^[[.]/.test(field.slice(name.length))),
      );
      expect([pair, lacking]).toEqual([pair, []]);
    }
  });

  it('names required parameters that are missing', async () => {
    for (const { on, row, pair } of pairs(routes)) {
      const required = requiredParams(row);
      if (required.length === 0) continue;
      // What the path says already, so that the body is not empty.
      const body = Object.fromEntries(row.pathParams.map((name) => [name, decodeURIComponent(sampleOf(row, name))]));
      const reply = await send(on, sample(row), tokens.all, on === 'GET' ? undefined : body);
      if (reply.body.code === 'empty_body') continue;
      const params = reply.body.data.params as string[];
      expect([pair, reply.body.code, [...params].sort()]).toEqual([
        pair,
        'rest_missing_callback_param',
        required.sort(),
      ]);
    }
  });

  it('refuses a body that is too large in the envelope', async () => {
    const announced = [{ 'content-length': String(2 ** 21) }, 'x'] as const;
    const counted = [{ 'transfer-encoding': 'chunked' }, 'x'.repeat(2 ** 21)] as const;
    for (const [length, body] of [announced, counted]) {
      const headers = { authorization: `Bearer ${tokens.read_write}`, 'content-type': 'application/json', ...length };
      const reply = await http.request('http://127.0.0.1/v2/sites/add', { method: 'POST', headers, body });
      expect([reply.status, await reply.json()]).toMatchObject([
        413,
        { success: 0, code: 'svc_rest_request_entity_too_large', data: { status: 413 } },
      ]);
      expect(reply.headers.get('connection')).toBe('close');
    }
  });

  it('refuses other methods, naming its own', async () => {
    for (const path of new Set(routes.map(({ path }) => path))) {
      const rows = routes.filter((row) => row.path === path);
      const [row] = rows;
      if (row === undefined) continue;
      const reply = await send('PROPFIND', sample(row), tokens.read_write);
      expect([path, reply.status]).toEqual([path, 405]);
      const allow = reply.headers.get('allow')?.split(', ') ?? [];
      for (const on of rows.flatMap((one) => one.on)) expect(allow, path).toContain(on);
    }
  });
});

/** Parameters, other than those of the path, that cannot take a list or map. */
function typedParams(row: Route): string[] {
  return Object.entries(propertiesOf(row))
    .filter(([name, schema]) => !row.pathParams.includes(name) && isTyped(schema))
    .map(([name]) => name);
}

type Schema = { type?: unknown; anyOf?: Schema[]; enum?: unknown; const?: unknown };

function isTyped(schema: Schema): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.every(isTyped);
  if (schema.enum !== undefined || schema.const !== undefined) return true;
  const types = [schema.type].flat();
  return !types.includes(undefined) && !types.includes('object');
}

function propertiesOf(row: Route): Record<string, Schema> {
  return (jsonSchema(row.params()).properties ?? {}) as Record<string, Schema>;
}

function requiredParams(row: Route): string[] {
  const required = (jsonSchema(row.params()).required ?? []) as string[];
  return required.filter((name) => !row.pathParams.includes(name));
}

describe('the interface description', () => {
  let described: OpenApi;
  beforeAll(async () => {
    const reply = await http.request('http://127.0.0.1/v2/openapi.json');
    described = (await reply.json()) as OpenApi;
  });

  it('has every row with every parameter, and nothing else', () => {
    const found = Object.entries(described.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((on) => `${on.toUpperCase()} ${path}`),
    );
    expect(found.sort()).toEqual(
      pairs(routes)
        .map(({ pair }) => pair)
        .sort(),
    );
    for (const { on, row, pair } of pairs(routes)) {
      const operation = described.paths[row.path]?.[on.toLowerCase()];
      const body = operation?.requestBody as
        | { content: { 'application/json': { schema: { properties: object } } } }
        | undefined;
      const named = [
        ...(operation?.parameters ?? []).map(({ name }) => name),
        ...Object.keys(body?.content['application/json'].schema.properties ?? {}),
      ].filter((name) => name !== undefined);
      expect([pair, named.sort()]).toEqual([pair, Object.keys(row.params().shape).sort()]);
    }
  });

  it('names its records, and leaves nothing untyped whose type is known', () => {
    const text = JSON.stringify(described);
    const { schemas = {}, parameters = {}, responses = {} } = described.components as Record<string, object>;
    const names = { schemas, parameters, responses };
    const parts = Object.entries(names).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `#/components/${kind}/${name}`),
    );
    expect(parts.filter((part) => !text.includes(`"${part}"`))).toEqual([]);
    for (const name of ['Site', 'Plugin', 'Theme', 'Monitor', 'Client', 'Tag', 'Task', 'Cost', 'Post', 'Comment'])
      expect(Object.keys(schemas)).toContain(name);
    // Free-form texts of callers, structures of plugins, additional data of errors, and inputs and previews of any call.
    expect(untyped(described).sort()).toEqual(
      [
        '/pro-reports/{id_or_domain}/records post values {}',
        'Error data {}',
        'Failed [] {}',
        'PostDetail post_custom {} []',
        ...['', '', '/approve', '/refuse', '/withdraw']
          .map((step, at) => (at === 0 ? '' : `/{approval_id}${step}`))
          .flatMap((path) =>
            ['input', 'plan'].map(
              (name) =>
                `/approvals${path} ${/[a-z]$/.test(path) ? 'post' : 'get'} data${path === '' ? ' []' : ''} ${name}`,
            ),
          ),
        ...['create', 'update', 'delete', 'sync', 'reconnect', 'disconnect', 'suspend', 'unsuspend', 'check'].map(
          (group) => `/sites/batch post ${group} [] error data {}`,
        ),
      ].sort(),
    );
  });

  it('says of every row by which refusals it answers, and where an answer can be cut down to some members', () => {
    const uncut: string[] = [];
    const slow: string[] = [];
    for (const { on, row, pair } of pairs(routes)) {
      const { responses = {}, parameters = [] } = described.paths[row.path]?.[on.toLowerCase()] ?? {};
      const statuses = Object.keys(responses);
      const least = ['200', '400', '401', '403', '429', '500', '503', 'default'];
      if (row.pathParams.length > 0) least.push('404');
      if (row.module !== undefined) least.push('501');
      if (on !== 'GET') least.push('409', '413', '415', '422');
      expect([pair, least.filter((status) => !statuses.includes(status))]).toEqual([pair, []]);
      if (statuses.includes('504')) slow.push(pair);
      const fields = JSON.stringify(parameters).includes('#/components/parameters/Fields');
      if (!fields) uncut.push(pair);
    }
    // Their answers have no data.
    expect(uncut.sort()).toEqual([
      'DELETE /settings/cost-tracker/payment-methods/{slug}/delete',
      'DELETE /settings/cost-tracker/product-types/{slug}/delete',
      'GET /backups/{backup_id}/archive',
      'GET /clients/count',
      'GET /fleet/sites',
      'GET /jobs/{job_id}',
      'GET /monitors/count',
      'GET /monitors/{id_or_domain}/incidents/count',
      'GET /settings/tools/destroy-sessions-status/{destroy_id}',
      'GET /settings/tools/disconnect-all-sites-status/{disconnect_id}',
      'GET /settings/tools/renew-connections-status/{renew_id}',
      'GET /sites/count',
      'POST /alerts/deliveries/{delivery_id}/resend',
      'POST /jobs/{job_id}/cancel',
      'POST /rollouts',
      'POST /runs/{run_id}/cancel',
      'POST /settings/tools/clear-activation-data',
      'POST /settings/tools/destroy-sessions',
      'POST /settings/tools/disconnect-all-sites',
      'POST /settings/tools/renew-connections',
      'POST /settings/tools/restore-info-messages',
      'POST /sites/batch',
    ]);
    // The routes whose work on a slow site continues as a job.
    const acts = ['POST', 'PUT', 'PATCH'];
    const of = (path: string) => acts.map((method) => `${method} ${path}`);
    expect(slow.sort()).toEqual(
      [
        ...['activate', 'deactivate'].flatMap((action) => of(`/sites/{id_or_domain}/plugins/${action}`)),
        ...of('/sites/{id_or_domain}/themes/activate'),
        ...['sync', 'reconnect', 'disconnect', 'unsuspend', 'check'].flatMap((action) =>
          of(`/sites/{id_or_domain}/${action}`),
        ),
        'POST /sites/{id_or_domain}/safe-update',
        'POST /sites/{id_or_domain}/backups',
        'POST /backups/{backup_id}/restore',
        ...['plugins', 'themes'].map((kind) => `DELETE /sites/{id_or_domain}/${kind}/delete`),
        ...['wp', 'plugins', 'themes', 'translations'].flatMap((type) => of(`/updates/{id_or_domain}/update/${type}`)),
      ].sort(),
    );
    expect(described.tags.filter(({ description }) => description === '')).toEqual([]);
  });

  it('has unique names and only references that lead somewhere', async () => {
    const operations = Object.values(described.paths).flatMap((methods) => Object.values(methods));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    const text = JSON.stringify(described);
    for (const [, reference = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = reference
        .split('/')
        .reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], described);
      expect(target, reference).toBeDefined();
    }
    expect((await openApi(routes, 'x')).paths).toEqual(described.paths);
  });
});

/** Places where schemas accept anything: by address and method in paths, else by the name of the record. */
function untyped({ paths, components }: OpenApi): string[] {
  const found = new Set<string>();
  function see(schema: unknown, at: string): void {
    if (typeof schema !== 'object' || schema === null) {
      if (schema === true) found.add(at);
      return;
    }
    const { properties = {}, additionalProperties, items, anyOf = [], content = {} } = schema as Record<string, object>;
    const { description: _about, ...says } = schema as Record<string, unknown>;
    if (Object.keys(says).length === 0) found.add(at);
    for (const [name, member] of Object.entries(properties)) see(member, `${at} ${name}`);
    if (additionalProperties !== undefined) see(additionalProperties, `${at} {}`);
    if (items !== undefined) see(items, `${at} []`);
    for (const choice of Object.values(anyOf)) see(choice, at);
    for (const { schema: body } of Object.values(content) as { schema: object }[]) see(body, at);
  }
  for (const [path, methods] of Object.entries(paths)) {
    const [[method, operation]] = Object.entries(methods) as [[string, OpenApi['paths'][string][string]]];
    see(operation.requestBody, `${path} ${method}`);
    see(operation.responses['200'], `${path} ${method}`);
  }
  for (const [name, schema] of Object.entries(components.schemas as object)) see(schema, name);
  return [...found];
}

describe('the tables in words', () => {
  it('are written down in src/surfaces/rest/README.md', async () => {
    const COLUMNS = ['Method', 'Path', 'Right', 'Notes', 'What'];
    const cells = ({ on, path, needs, live, module, summary }: Route) => [
      on.join(', '),
      `\`${path}\``,
      needs,
      [live ? 'live' : '', module ?? ''].filter(Boolean).join(', '),
      summary,
    ];
    const table = (lines: readonly string[][]) => lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
    const head = (columns: readonly string[]) => [[...columns], columns.map(() => '---')];
    const numbered = documented.map((route, index) => [`R${index + 1}`, ...cells(route)]);
    await expect(
      `# REST interface

Generated from the tables of this folder by \`npm run gen\`. All paths are below \`/v2\`; \`GET /v2/openapi.json\` is the same
as data, \`/docs\` as a page. *live* contacts the sites; a module can be switched off by the operator. The row numbers are those of
\`docs/contracts/rest.md\`, which says what a schema cannot.

## The routes document

${table([...head(['Row', ...COLUMNS]), ...numbered])}

## Besides

${table([...head(COLUMNS), ...extra.map(cells)])}
`,
    ).toMatchFileSnapshot('../../src/surfaces/rest/README.md');
  });

  it('give every code one status', () => {
    for (const [code, status] of Object.entries(STATUS)) expect(status, code).toBeGreaterThanOrEqual(400);
  });
});
