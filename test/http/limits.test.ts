/**
 * Requests beyond any reasonable limit: refused with a message, the same on every interface, and never as an internal
 * error.
 */

import type { Hono } from 'hono';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { type TestApp, testApp } from '../support/harness.js';
import { newKey, newUser } from '../support/logins.js';

let app: TestApp;
let http: Hono<HttpEnv>;
let token: string;

beforeAll(async () => {
  app = await testApp({ sites: 1 });
  const { users, keys } = app.service.store;
  await newUser(users, 'ada', 'a password');
  token = (await newKey(keys)).token;
  http = await app.service.http();
});

interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of three interfaces
  body: any;
}

async function send(
  path: string,
  body: string | undefined,
  headers: Record<string, string> = {},
  method = body === undefined ? 'GET' : 'POST',
): Promise<Reply> {
  const reply = await http.request(`http://127.0.0.1${path}`, {
    method,
    headers: {
      Authorization: path.startsWith('/abilities')
        ? `Basic ${Buffer.from('ada:a password').toString('base64')}`
        : `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  return { status: reply.status, body: await reply.json() };
}

const RUN = '/abilities/svc/run-updates-v1/run';
const QUERY = '/abilities/svc/list-updates-v1/run';
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const lists = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const rpc = (args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"svc-list-updates-v1","arguments":{"site_ids_or_domains":${args}}}}`;

describe('a member that is named twice', () => {
  it.each([
    ['plainly', '{"site_ids_or_domains":[1],"site_ids_or_domains":[]}', 'site_ids_or_domains'],
    ['in another spelling', '{"types" :["plugins"],"t\\u0079pes"\n: []}', 'types'],
    ['further in', '{"site_ids_or_domains":[{"a":{"b":1,"b":2}}]}', 'b'],
  ])('%s is refused everywhere, for only the last one would count', async (_how, twice, name) => {
    const words = new RegExp(`names the member \\\\?"${name}\\\\?" twice`);
    const refused = [400, 'rest_invalid_json', expect.stringMatching(words)];
    const run = await send(RUN, `{"input":${twice}}`);
    expect([run.status, run.body.code, run.body.message]).toEqual(refused);
    const bare = await send(`${QUERY}?input=${encodeURIComponent(twice)}`, undefined);
    expect([bare.status, bare.body.message]).toEqual([400, expect.stringMatching(words)]);
    const rest = await send('/v2/tags/add', `{"name":"Twice","data":${twice}}`);
    expect([rest.status, rest.body.code, rest.body.message]).toEqual(refused);
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"svc-run-updates-v1","arguments":${twice}}}`;
    const mcp = await send('/mcp', call);
    expect([mcp.status, mcp.body.error.code, mcp.body.error.message]).toEqual([
      400,
      -32700,
      expect.stringMatching(words),
    ]);
  });

  it('is one within an object: others, lists and texts may repeat it', async () => {
    const name = 'say \\"name\\": \\"name\\":';
    const reply = await send('/v2/tags/add', `{"name":"${name}","color":"#111111"}`);
    expect([reply.status, reply.body.data.name]).toEqual([200, 'say "name": "name":']);
    const items = await send('/abilities/svc/list-sites-v1/run?input=%7B%7D', undefined);
    expect(items.status).toBe(200);
    const batch = '{"create":[{"name":"One"},{"name":"Two"}]}';
    expect((await send('/v2/tags/batch', batch)).body.code).not.toBe('rest_invalid_json');
  });
});

describe('nesting', () => {
  it.each([
    ['lists', lists(100_000)],
    ['objects', objects(100_000)],
    ['lists just too deep', lists(65)],
  ])('of %s is refused everywhere', async (_what, deep) => {
    const words = /nested deeper than 64 levels/;
    const run = await send(RUN, `{"input":{"site_ids_or_domains":${deep}}}`);
    expect([run.status, run.body.code, run.body.message]).toEqual([
      400,
      'rest_invalid_json',
      expect.stringMatching(words),
    ]);
    const rest = await send('/v2/tags/add', `{"name":${deep}}`);
    expect([rest.status, rest.body.code, rest.body.message]).toEqual([
      400,
      'rest_invalid_json',
      expect.stringMatching(words),
    ]);
    const mcp = await send('/mcp', rpc(deep));
    expect([mcp.status, mcp.body.error.code, mcp.body.error.message]).toEqual([
      400,
      -32700,
      expect.stringMatching(words),
    ]);
  });

  it('does not count what stands in texts', async () => {
    const name = `${'['.repeat(100)}\\"${'{'.repeat(100)}\\\\`;
    expect((await send('/v2/tags/add', `{"name":"${name}"}`)).status).toBe(200);
    // Deep, but not too deep: only its name is refused.
    const unknown = await send('/v2/tags/add', `{"name":"plain","unknown":${lists(50)}}`);
    expect([unknown.status, Object.keys(unknown.body.data.params)]).toEqual([400, ['unknown']]);
  });

  it('of form fields goes to 32 levels', async () => {
    const fields = (levels: number) => `name=Deep${levels}&a${'[b]'.repeat(levels)}=1`;
    const known = await send('/v2/tags/add', fields(32), form);
    expect([known.status, Object.keys(known.body.data.params)]).toEqual([400, ['a']]);
    const refused = await send('/v2/tags/add', fields(33), form);
    expect([refused.status, refused.body.code]).toEqual([400, 'rest_invalid_param']);
    expect(refused.body.data.params).toEqual({ body: 'must contain no field nested deeper than 32 levels' });
  });
});

describe('numbers', () => {
  const empties = `[${Array<string>(300_000).fill('[]').join()}]`;

  it('of members are judged before the members', async () => {
    const run = await send(RUN, `{"input":{"site_ids_or_domains":${empties}}}`);
    expect(run).toMatchObject({
      status: 400,
      body: { code: 'ability_invalid_input', data: { field: 'site_ids_or_domains' } },
    });
    expect(run.body.message).toBe('site_ids_or_domains takes at most 5000 members.');
    const types = `[${Array<string>(100_000).fill('"x"').join()}]`;
    expect((await send(RUN, `{"input":{"types":${types}}}`)).body.message).toBe('types takes at most 5000 members.');
    const rest = await send('/v2/sites/sync', `{"include":${empties}}`);
    expect(rest.body.data.params).toEqual({ include: 'takes at most 5000 members' });
    const text = await send('/v2/sites/sync', `{"include":"${'1,'.repeat(5001)}"}`);
    expect(text.body.data.params).toEqual({ include: 'takes at most 5000 members' });
  });

  it('of findings end at 20, and the answer says how many were left out where that is known', async () => {
    const bad = JSON.stringify(Array(1000).fill('x'));
    const rest = await send(
      '/v2/sites/sync',
      `{"include":${JSON.stringify(Array.from({ length: 1000 }, (_, i) => `x${i}`))}}`,
    );
    expect(Object.keys(rest.body.data.params)).toHaveLength(20);
    const names = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`name${i}`, 1]));
    const strict = await send('/v2/settings/general/edit', JSON.stringify(names), {}, 'PUT');
    expect(strict.body.message).toMatch(/ and 980 more$/);
    expect((await send(RUN, `{"input":{"types":${bad}}}`)).body.data.field).toBe('types[0]');
  });

  it('of named members, form fields and messages have an end', async () => {
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`k${i}`, 1])));
    for (const path of ['/v2/tags/add', RUN])
      expect(await send(path, many)).toMatchObject({ status: 400, body: { code: 'rest_invalid_json' } });
    expect((await send('/mcp', many)).body.error.message).toBe('The body has more than 10,000 named members.');
    const refused = await send('/v2/tags/add', `name=x&${'a[]=1&'.repeat(1000)}`, form);
    expect(refused).toMatchObject({ status: 400, body: { code: 'rest_invalid_param', data: { field: 'body' } } });
    const query = await send(`${QUERY}?${'input[types][]=core&'.repeat(1001)}`, undefined);
    expect(query).toMatchObject({ status: 400, body: { code: 'ability_invalid_input' } });
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const batch = await send('/mcp', `[${Array<string>(51).fill(ping).join()}]`);
    expect([batch.status, batch.body.error.message]).toEqual([400, 'The body has more than 50 messages.']);
    const icons = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1","icons":${empties}}}}`;
    expect((await send('/mcp', icons)).status).toBe(400);
  });

  it('of characters are judged before patterns', async () => {
    const email = `"a@${'.'.repeat(900_000)} "`;
    const { body } = await send('/v2/settings/api-backups/vultr/edit', `{"account_email":${email}}`, {}, 'PUT');
    expect(body.data.params).toEqual({ account_email: 'takes at most 254 characters' });
  });
});

describe('lists in forms and queries', () => {
  it('put a member without an index behind the ones before it', async () => {
    const { body } = await send('/v2/sites/sync', 'include[7]=7&include[]=x&include[3]=3', form);
    // In the order of the indexes: 3, 7, then the one without.
    expect(Object.keys(body.data.params)).toEqual(['include[2]']);
  });
});
