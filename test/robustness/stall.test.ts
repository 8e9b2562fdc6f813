/**
 * One request of at most a megabyte never blocks the event loop: all operations over both their interfaces, all REST
 * rows, and the messages of MCP itself. The short run uses a fixed choice of shapes and each field once; `npm run soak` tries all
 * of them on all, at random sizes.
 */

import { PassThrough } from 'node:stream';
import type { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from '../../schemas/zod.js';
import { type JsonSchema, jsonSchema } from '../../src/operation/contract.js';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { serveStdio } from '../../src/surfaces/mcp/stdio.js';
import { routes } from '../../src/surfaces/rest/index.js';
import type { Route } from '../../src/surfaces/rest/route.js';
import { operations } from '../../tools/index.js';
import { type TestApp, testApp } from '../support/harness.js';
import { newKey, newUser } from '../support/logins.js';
import { LOCAL } from '../support/mcp-clients.js';
import { SOAK } from './soak.js';
import { harmlessMegabytes } from './stall.js';
import { FORMS, LISTS, OTHERS, seeded } from './stall-shapes.js';

const SEED = SOAK ? Date.now() % 2 ** 31 : 8;
const MAX_BODY = 1024 * 1024;
/** Length of a query that Node accepts together with the headers. */
const MAX_QUERY = 15_000;
const SHAPES = { ...LISTS, ...OTHERS };
/** Room for the text around the value. */
const FRAME = 2_000;

const random = seeded(SEED);
const sizeUpTo = (max: number) => (SOAK ? Math.floor(max * (0.05 + 0.95 * random())) : max);

/** Values with which a call passes the checks of its other fields. */
const FITTING: Readonly<Record<string, unknown>> = {
  slugs: ['a'],
  slug: 'a',
  action: 'remove',
  type: 'plugin',
  job_id: 'sync_1',
  url: 'http://127.0.0.1:9/',
  types: ['core'],
  mail_type: 'uptime',
  api_slug: 'vultr',
  segment: 'backups',
  start_date: '2026-11-01',
  end_date: '2026-11-20',
  dtsstart: '2026-11-01',
  dtsstop: '2026-11-20',
  renewal_type: 'monthly',
  comment_ids: [1],
  post_status: 'draft',
  values: { type: 'full' },
  permissions: 'read',
  active: true,
};

let app: TestApp;
let http: Hono<HttpEnv>;
let token: string;
let login: string;
/**
 * For how long no request may block the event loop, in times for a harmless megabyte. The short run allows more, because
 * other tests share the processor's caches with it.
 */
const LIMIT = SOAK ? 5 : 8;
const worst: { times: number; what: string }[] = [];

beforeAll(async () => {
  app = await testApp({
    sites: 2,
    jobs: false,
    config: { chromium: '/nowhere/chromium' },
  });
  for (const index of [0, 1]) await app.connect(index);
  await app.call('add-tag', { name: 'one' });
  await app.call('add-client', { name: 'Ada', client_email: 'ada@example.com', selected_sites: [1] });
  const { users, keys } = app.service.store;
  await newUser(users, 'ada', 'a password');
  login = `Basic ${Buffer.from('ada:a password').toString('base64')}`;
  token = (await newKey(keys)).token;
  http = await app.service.http();
});
afterAll(async () => {
  const shown = worst.sort((a, b) => b.times - a.times).slice(0, 5);
  process.stderr.write(`${JSON.stringify({ seed: SEED, limit: LIMIT, worst: shown })}\n`);
});

type Send = () => Promise<Response>;

/** Notes how long something blocked the event loop, and expects that it was not for too long. */
function expectShort(what: string, times: number): void {
  worst.push({ times: Math.round(times * 10) / 10, what });
  expect([what, times, times <= LIMIT]).toEqual([what, times, true]);
}

async function judge(what: string, send: Send): Promise<void> {
  let status = 0;
  const times = await harmlessMegabytes(LIMIT, async () => {
    const reply = await send();
    status = reply.status;
    await (reply.headers.get('content-type')?.startsWith('text/event-stream') ? reply.body?.cancel() : reply.text());
  });
  expectShort(what, times);
  expect([what, status, status === 500]).toEqual([what, status, false]);
}

const post = (path: string, body: string, headers: Record<string, string>, method = 'POST'): Send => {
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BODY);
  return async () => http.request(`http://127.0.0.1${path}`, { method, headers, body });
};

const converted = new WeakMap<z.ZodTypeAny, JsonSchema>();
/** Converted once, as each is looked into for each of its fields. */
function schemaOf(schema: z.ZodTypeAny): JsonSchema {
  const known = converted.get(schema) ?? jsonSchema(schema);
  converted.set(schema, known);
  return known;
}

/** An object with all required fields, and one field set to `json`. */
function objectWith(schema: z.ZodTypeAny, name: string, json: string): string {
  const { required = [] } = schemaOf(schema) as { required?: string[] };
  const others = required.filter((other) => other !== name);
  const fields = others.map((other) => `${JSON.stringify(other)}:${JSON.stringify(FITTING[other] ?? 1)}`);
  return `{${[...fields, `${JSON.stringify(name)}:${json}`].join()}}`;
}

let turn = 0;
const inTurn = <T>(all: readonly T[]): T => all[turn++ % all.length] as T;
/** The shapes to try for one field: all of them, or in the short run one in turn, for a list mostly lists. */
function shapesFor(isList: boolean): [string, string][] {
  const names = Object.keys(SHAPES);
  const lists = Object.keys(LISTS);
  const ofList = () => inTurn(turn % 3 === 0 ? Object.keys(OTHERS) : lists);
  const chosen = SOAK ? names : [isList ? ofList() : inTurn(names)];
  return chosen.map((name) => [name, SOAK ? writtenAs(name) : inFullSize(name)]);
}

const writtenAs = (name: string): string => SHAPES[name]?.(sizeUpTo(MAX_BODY - FRAME)) ?? '';
const fullSize = new Map<string, string>();
/** Cached: all values of the short run have the same size. */
function inFullSize(name: string): string {
  const value = fullSize.get(name) ?? writtenAs(name);
  fullSize.set(name, value);
  return value;
}

const tried = new Set<string>();
/** In the short run, fields that are read by the same code are one: of the same schema and, for texts and lists, of the same name. */
function isNew(way: string, schema: z.AnyZodObject, name: string): boolean {
  const { properties = {} } = schemaOf(schema) as { properties?: Record<string, object> };
  const { description: _, ...field } = (properties[name] ?? {}) as Record<string, unknown>;
  const plain = ['integer', 'number', 'boolean'].includes(String(field.type)) || 'enum' in field;
  const key = `${way} ${plain ? '' : name} ${JSON.stringify(field)}`;
  const known = tried.has(key);
  tried.add(key);
  return SOAK || !known;
}

function propertyOf(schema: z.AnyZodObject, name: string): { type?: unknown } | undefined {
  const { properties = {} } = schemaOf(schema) as { properties?: Record<string, { type?: unknown }> };
  return properties[name];
}

const isList = (schema: z.AnyZodObject, name: string) => propertyOf(schema, name)?.type === 'array';

const META =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}';
const mcpHeaders = (method: string, name?: string) => ({
  Authorization: `Bearer ${token}`,
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name }),
});

const runHeaders = () => ({ Authorization: login, 'Content-Type': 'application/json' });

describe('every operation', () => {
  const order = [...operations].sort((a, b) => Number(a.effect === 'destroy') - Number(b.effect === 'destroy'));
  it.each(order.map((operation) => [operation.id, operation] as const))('%s', async (id, operation) => {
    const tool = id.replace('/', '-');
    const run = runHeaders();
    for (const name of [...Object.keys(operation.input().shape), 'unknown']) {
      if (name !== 'unknown' && !isNew('operation', operation.input(), name)) continue;
      for (const [shape, json] of shapesFor(isList(operation.input(), name))) {
        const input = objectWith(operation.input(), name, json);
        const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${input},${META}}}`;
        const ways: [string, () => Send][] = [['mcp', () => post('/mcp', call, mcpHeaders('tools/call', tool))]];
        if (operation.methods.includes('POST'))
          ways.push(['run', () => post(`/abilities/${id}/run`, `{"input":${input}}`, run)]);
        for (const [way, send] of SOAK ? ways : [inTurn(ways)]) await judge(`${way} ${id} ${name}: ${shape}`, send());
      }
    }
  });
});

/** Patterns that only some inputs reach, with the texts that a scan of all patterns found slow for them. */
it.each([
  ['tag-sites', { site_ids_or_domains: [1], add: [`${' '.repeat(60_000)}x`], create: true, dry_run: true }],
  ['tag-sites', { site_ids_or_domains: [`${'.'.repeat(60_000)} `], add: ['one'] }],
  ['get-client', { client_id_or_email: `a@${'.'.repeat(60_000)}@` }],
])('%s takes a text that is slow to search', async (name, input) => {
  await judge(`run ${name}`, post(`/abilities/svc/${name}-v1/run`, JSON.stringify({ input }), runHeaders()));
});

describe('every REST row', () => {
  const pathOf = (row: Route) =>
    row.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(FITTING[name] ?? 1)));
  const removes = (row: Route) => row.on.includes('DELETE') || row.path.endsWith('/batch');
  const rows = [...routes].sort((a, b) => Number(removes(a)) - Number(removes(b)));
  const headers = (type = 'application/json') => ({ Authorization: `Bearer ${token}`, 'Content-Type': type });

  it('takes any body', async () => {
    for (const row of rows.filter(({ on }) => !on.includes('GET'))) {
      // A previous row may have removed the key.
      token = (await newKey(app.service.store.keys)).token;
      const names = Object.keys(row.params().shape).filter((name) => !row.pathParams.includes(name));
      for (const name of [...names, 'unknown']) {
        if (name !== 'unknown' && !isNew('row', row.params(), name)) continue;
        for (const [shape, json] of shapesFor(SOAK && isList(row.params(), name))) {
          const body = objectWith(row.params(), name, json);
          await judge(`${row.key} ${name}: ${shape}`, post(`/v2${pathOf(row)}`, body, headers(), row.on[0]));
        }
      }
      for (const name of names.filter((one) => propertyOf(row.params(), one)?.type === 'object')) {
        if (!isNew('dotted', row.params(), name)) continue;
        const body = `{${Array.from({ length: 9_990 }, (_, i) => `"${name}.${i}":1`).join()}}`;
        await judge(`${row.key} ${name}: dotted names`, post(`/v2${pathOf(row)}`, body, headers(), row.on[0]));
      }
      for (const [shape, make] of SOAK ? Object.entries(FORMS) : [inTurn(Object.entries(FORMS))]) {
        if (shape === undefined || make === undefined) continue;
        const type = 'application/x-www-form-urlencoded';
        // Some forms say nothing, which is a whole call: no clock moves here that would end it.
        const preview = 'dry_run' in row.params().shape ? 'dry_run=1&' : '';
        const form = `${preview}${make(sizeUpTo(MAX_BODY - FRAME))}`;
        const send = post(`/v2${pathOf(row)}`, form, headers(type), row.on[0]);
        await judge(`${row.key} form: ${shape}`, send);
      }
    }
  }, 3_000_000);

  it('takes any query', async () => {
    token = (await newKey(app.service.store.keys)).token;
    for (const row of rows.filter(({ on }) => on.includes('GET'))) {
      const values = ['a', '9', '1,', '.', 'a@', '%25', '%C3%9F', '+'];
      for (const name of Object.keys(row.params().shape)) {
        if (!isNew('query', row.params(), name)) continue;
        for (const value of SOAK ? values : [inTurn(values)]) {
          const query = `${name}=${value.repeat(sizeUpTo(MAX_QUERY) / value.length)}`;
          await judge(`${row.key} ${name}: ${value}`, async () =>
            http.request(`http://127.0.0.1/v2${pathOf(row)}?${query}`, { headers: headers() }),
          );
        }
      }
      for (const [shape, make] of SOAK ? Object.entries(FORMS) : [inTurn(Object.entries(FORMS))])
        await judge(`${row.key}: ${shape}`, async () =>
          http.request(`http://127.0.0.1/v2${pathOf(row)}?${make?.(sizeUpTo(MAX_QUERY))}`, { headers: headers() }),
        );
    }
  }, 3_000_000);
});

describe('every address', () => {
  it('takes any query and any path', async () => {
    const bases = ['/abilities', '/categories', '/abilities/svc/list-updates-v1', '/abilities/svc/list-updates-v1/run'];
    const fixed = ['/.well-known/oauth-protected-resource', '/v2/openapi.json', '/readyz', '/mcp'];
    const asks = (path: string) => async () =>
      http.request(`http://127.0.0.1${path}`, { headers: { Authorization: login } });
    for (const base of [...bases, ...fixed])
      for (const [shape, make] of Object.entries(FORMS)) {
        const query = make(MAX_QUERY).replaceAll('a[', 'input[a][').slice(0, MAX_QUERY);
        await judge(`GET ${base}: ${shape}`, asks(`${base}?${query}`));
      }
    for (const base of ['/abilities/', '/wp-json/wp-abilities/v1/', '/v2/', '/v2/sites/', '/mcp/', '/'])
      for (const part of ['/', '%2f', '%41', '../', 'a/', 'a'])
        await judge(`GET ${base}${part}…`, asks(`${base}${part.repeat(MAX_QUERY / part.length)}x`));
  });
});

describe('the messages of MCP', () => {
  const BODIES: Readonly<Record<string, (json: string) => string>> = {
    'tools/list': (json) => `"method":"tools/list","params":{"cursor":${json},${META}}`,
    'prompts/get': (json) => `"method":"prompts/get","params":{"name":"x","arguments":${json},${META}}`,
    'resources/read': (json) => `"method":"resources/read","params":{"uri":${json},${META}}`,
    'completion/complete': (json) =>
      `"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"svc://sites/{id}"},"argument":{"name":"id","value":"a"},"context":{"arguments":${json}},${META}}`,
    'subscriptions/listen': (json) =>
      `"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":${json}},${META}}`,
    initialize: (json) =>
      `"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1","icons":${json}}}`,
    'tools/call': (json) => `"method":"tools/call","params":{"name":${json}}`,
    ping: (json) => `"method":"ping","params":{"_meta":${json}}`,
    'an answer': (json) => `"result":{"content":${json}}`,
  };
  const chosen = SOAK ? SHAPES : { ...LISTS, members: OTHERS.members, 'deep lists': OTHERS['deep lists'] };
  const messages = Object.entries(BODIES).flatMap(([name, body]) =>
    Object.entries(chosen).map(([shape, make]) => {
      const message = `{"jsonrpc":"2.0","id":7,${body(make?.(sizeUpTo(MAX_BODY - FRAME)) ?? '')}}`;
      return { what: `${name}: ${shape}`, method: name, message };
    }),
  );

  it('over HTTP', async () => {
    for (const { what, method, message } of messages)
      await judge(`mcp ${what}`, post('/mcp', message, mcpHeaders(method.includes(' ') ? 'ping' : method)));
    const batch = (part: string, count: number) => `[${Array<string>(count).fill(part).join()}]`;
    for (const body of [batch('{}', 300_000), batch('{"jsonrpc":"2.0","id":1,"method":"ping"}', 9_000)])
      await judge('mcp batch', post('/mcp', body, mcpHeaders('ping')));
  });

  it('over stdio, where lines beyond a megabyte are refused as well', async () => {
    const [stdin, stdout, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
    let out = '';
    stdout.on('data', (chunk) => {
      out += String(chunk);
    });
    const core = await app.service.mcp();
    const served = serveStdio({ core, actor: LOCAL, signal: stop.signal, stdin, stdout });
    const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}\n`;
    const lines = [
      ...messages.filter(({ method }) => method !== 'initialize').map(({ message }) => message),
      'x'.repeat(12_000_000),
    ];
    stdin.write(hello);
    await waitFor(() => out.includes('"hello"'));
    for (const [index, line] of lines.entries()) {
      const echo = `{"jsonrpc":"2.0","id":"echo-${index}","method":"ping"}\n`;
      const times = await harmlessMegabytes(LIMIT, async () => {
        out = '';
        // In pieces, as a pipe delivers it.
        for (let at = 0; at < line.length; at += 65_536) stdin.write(line.slice(at, at + 65_536));
        stdin.write(`\n${echo}`);
        await waitFor(() => out.includes(`"echo-${index}"`));
      });
      expectShort(`stdio ${messages[index]?.what}: ${line.slice(0, 200)}`, times);
    }
    expect(out).toContain('The line is longer than 1048576 bytes.');
    stop.abort();
    await served;
  });
});

async function waitFor(done: () => boolean): Promise<void> {
  await expect.poll(done, { interval: 1 }).toBe(true);
}

/** Lists of a schema without a maximum length. */
function endless(schema: unknown, at: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, maxItems } = schema as { type?: unknown; maxItems?: unknown };
  const own = type === 'array' && maxItems === undefined ? [at] : [];
  return [...own, ...Object.entries(schema).flatMap(([name, part]) => endless(part, `${at}.${name}`))];
}

it('every list that a caller sends has a longest length', () => {
  const inputs = operations.flatMap((operation) => endless(jsonSchema(operation.input()), operation.id));
  // The lists of the batch are limited together, over all its groups.
  const params = routes
    .filter((row) => !row.path.endsWith('/batch'))
    .flatMap((row) => endless(jsonSchema(row.params()), row.key));
  expect([...inputs, ...params]).toEqual([]);
});
