import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Actor } from '../../src/runtime/actor.js';
import type { HttpListener } from '../../src/surfaces/http/server.js';
import { serveStdio } from '../../src/surfaces/mcp/stdio.js';
import { closing } from '../support/cleanup.js';
import { serveLocally } from '../support/local-server.js';
import { newKey } from '../support/logins.js';
import { LOCAL } from '../support/mcp-clients.js';
import { ACCEPT, INITIALIZE } from '../support/mcp-messages.js';
import { addUser, basic, type Surfaces, startSurfaces } from '../support/surfaces.js';

let surfaces: Surfaces;
let listener: HttpListener;
let bearer: { all: string; read: string };
beforeAll(async () => {
  surfaces = await startSurfaces({ maxSessions: 5 });
  await addUser(surfaces, 'admin');
  const key = async (scope: 'read' | 'read_write') =>
    `Bearer ${(await newKey(surfaces.keys, { scope, description: scope })).token}`;
  bearer = { all: await key('read_write'), read: await key('read') };
  listener = await serveLocally(surfaces.http);
});

async function connect(actor: Actor = LOCAL, from: Surfaces = surfaces): Promise<Client> {
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await from.serverFor(actor).connect(theirs);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(mine);
  closing(client);
  return client;
}

async function connectHttp(
  authorization: string,
): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const transport = new StreamableHTTPClientTransport(new URL(`${listener.url}/mcp`), {
    requestInit: { headers: { authorization } },
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport as never);
  closing(client);
  return { client, transport };
}

function textOf(result: unknown): string {
  const [first] = (result as CallToolResult).content;
  return first?.type === 'text' ? first.text : '';
}

const call = (client: Client, name: string, args: Record<string, unknown> = {}) =>
  client.callTool({ name, arguments: args }) as Promise<CallToolResult>;

describe('tools/list', () => {
  it('shows each operation with schemas, all hints and its id', async () => {
    const { tools } = await (await connect()).listTools();
    expect(tools.map((tool) => tool.name)).toEqual(['svc-work-things-v1', 'svc-look-things-v1', 'svc-delete-thing-v1']);
    expect(tools[0]).toMatchObject({
      title: 'Work on things',
      description: 'Reports progress. Empty list means all.',
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
      inputSchema: { type: 'object', required: ['site_id_or_domain'] },
      outputSchema: { type: 'object', properties: { done: { type: 'number' } } },
      _meta: { id: 'svc/work-things-v1' },
    });
    expect(tools[1]?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false, openWorldHint: false });
    expect(tools[2]?.annotations).toMatchObject({ destructiveHint: true, idempotentHint: true, openWorldHint: false });
    for (const tool of tools) expect(tool.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it('is rendered once per set of rights', () => {
    const reader: Actor = { ...LOCAL, rights: ['read'] };
    expect(surfaces.registry.listTools(reader)).toBe(surfaces.registry.listTools({ ...reader, name: 'other' }));
    expect(surfaces.registry.listTools(LOCAL)).toBe(
      surfaces.registry.listTools({ ...LOCAL, rights: ['write', 'read'] }),
    );
  });

  it.each<[string, Parameters<typeof startSurfaces>[0], Actor['rights'], string[]]>([
    ['a reader', {}, ['read'], ['svc-look-things-v1']],
    ['a writer', {}, ['write'], ['svc-work-things-v1', 'svc-delete-thing-v1']],
    ['a read-only server', { read_only: true }, ['read', 'write'], ['svc-look-things-v1']],
    ['some toolsets', { toolsets: ['tags'] }, ['read', 'write'], ['svc-delete-thing-v1']],
    ['none', { toolsets: [] }, ['read', 'write'], []],
  ])('%s', async (_name, change, rights, names) => {
    const other = await startSurfaces(change);
    const { tools } = await (await connect({ ...LOCAL, rights }, other)).listTools();
    expect(tools.map((tool) => tool.name)).toEqual(names);
  });

  it('greets with a name, a version and instructions', async () => {
    const client = await connect();
    expect(client.getServerVersion()).toMatchObject({ name: 'sitefleet', title: 'Sitefleet' });
    expect(client.getInstructions()).toContain('dry_run');
  });
});

describe('tools/call', () => {
  it('takes the tool name and the exact id, and answers the same as structure and text', async () => {
    const client = await connect();
    for (const name of ['svc-look-things-v1', 'svc/look-things-v1']) {
      const result = await call(client, name, { page: '2' });
      expect(result.structuredContent).toMatchObject({ page: 2, caller: 'local:null:mcp' });
      expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
      expect(result.isError).toBeUndefined();
    }
  });

  it('works without arguments', async () => {
    const result = await (await connect()).callTool({ name: 'svc-look-things-v1' });
    expect(result.structuredContent).toMatchObject({ page: 1 });
  });

  it('says of a failure everything a model needs', async () => {
    const result = await call(await connect(), 'svc-work-things-v1', { site_id_or_domain: 'x.example', fail: 'known' });
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toBeUndefined();
    expect(textOf(result)).toBe(
      [
        'svc_ambiguous_site: x.example names several sites.',
        'Field: site_id_or_domain',
        'Next step: Use an id.',
        'Details: {"site_ids":[1,2]}',
      ].join('\n'),
    );
  });

  it('names the field of a bad argument', async () => {
    const client = await connect();
    expect(textOf(await call(client, 'svc-look-things-v1', { pgae: 1 }))).toMatch(
      /^ability_invalid_input: pgae .*\nField: pgae/,
    );
    expect(textOf(await call(client, 'svc-delete-thing-v1', { tag_id: 1 }))).toContain('dry_run: true');
  });

  it('keeps internals inside and logs them', async () => {
    const result = await call(await connect(), 'svc-work-things-v1', { site_id_or_domain: 1, fail: 'bug' });
    expect(textOf(result)).toContain('svc_internal_error');
    expect(textOf(result)).not.toContain('secret internals');
    expect(surfaces.logged.some(({ facts }) => (facts.err as Error | undefined)?.message === 'secret internals')).toBe(
      true,
    );
  });

  it.each([
    ['frobnicate', 'tools/list'],
    ['lookThings', 'svc-look-things-v1'],
    ['svc_look_things_v1', 'svc-look-things-v1'],
    ['things-delete', 'svc-delete-thing-v1'],
  ])('unknown %s', async (name, hint) => {
    const result = await call(await connect(), name);
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining(hint)]);
  });

  it('says why a hidden tool is hidden, and does not run it', async () => {
    const reader = await call(await connect({ ...LOCAL, rights: ['read'] }), 'svc-delete-thing-v1', {
      tag_id: 1,
      confirm: true,
    });
    expect(textOf(reader)).toMatch(/^svc_permission_denied: .*right to write/);
    const other = await startSurfaces({ toolsets: ['sites'] });
    const off = await call(await connect(LOCAL, other), 'svc/delete-thing-v1', { tag_id: 1, confirm: true });
    expect(textOf(off)).toContain('SITEFLEET_TOOLSETS');
  });

  it('reports progress, not more often than ten times a second, and the end always', async () => {
    const seen: { progress: number; total?: number | undefined }[] = [];
    const started = performance.now();
    const result = await (await connect()).callTool(
      { name: 'svc-work-things-v1', arguments: { site_id_or_domain: 1, steps: 100 } },
      undefined,
      { onprogress: (progress) => seen.push(progress) },
    );
    const seconds = (performance.now() - started) / 1000;
    expect(result.structuredContent).toEqual({ done: 100 });
    expect(seen.at(-1)).toMatchObject({ progress: 100, total: 100, message: 'step 100' });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.length).toBeLessThanOrEqual(Math.ceil(seconds * 10) + 2);
    expect(seen.map((one) => one.progress)).toEqual([...seen.map((one) => one.progress)].sort((a, b) => a - b));
  });

  it('stops the work when the call is cancelled', async () => {
    const cancel = new AbortController();
    const before = surfaces.steps();
    const calling = (await connect()).callTool(
      { name: 'svc-work-things-v1', arguments: { site_id_or_domain: 1, steps: 1000 } },
      undefined,
      { signal: cancel.signal, onprogress: () => cancel.abort() },
    );
    await expect(calling).rejects.toThrow();
    const registry = surfaces.core.registry.runningCalls;
    await expect.poll(() => registry.size).toBe(0);
    expect(surfaces.steps() - before).toBeLessThan(1000);
  });
});

describe('/mcp', () => {
  it('serves a whole session over HTTP to a key and to a user', async () => {
    for (const authorization of [bearer.all, basic('admin', 'correct horse')]) {
      const { client, transport } = await connectHttp(authorization);
      expect((await client.listTools()).tools).toHaveLength(3);
      expect((await call(client, 'svc-look-things-v1', { page: 4 })).structuredContent).toMatchObject({ page: 4 });
      await transport.terminateSession();
    }
  });

  it('shows a read key only what reads', async () => {
    const { client } = await connectHttp(bearer.read);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['svc-look-things-v1']);
    expect(textOf(await call(client, 'svc-delete-thing-v1', { tag_id: 1, confirm: true }))).toContain(
      'svc_permission_denied',
    );
  });

  it('streams progress of one call while others of the session answer as JSON', async () => {
    const { client } = await connectHttp(bearer.all);
    const seen: number[] = [];
    const slow = client.callTool(
      { name: 'svc-work-things-v1', arguments: { site_id_or_domain: 1, steps: 120 } },
      undefined,
      {
        onprogress: ({ progress }) => seen.push(progress),
      },
    );
    const quick = await Promise.all(
      Array.from({ length: 10 }, (_, i) => call(client, 'svc-look-things-v1', { page: i + 1 })),
    );
    expect(quick.map((result) => result.structuredContent?.page)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect((await slow).structuredContent).toEqual({ done: 120 });
    expect(seen.at(-1)).toBe(120);
  });

  function raw(body: unknown, headers: Record<string, string> = {}, method = 'POST') {
    return fetch(`${listener.url}/mcp`, {
      method,
      headers: { ...ACCEPT, authorization: bearer.all, ...headers },
      ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
    });
  }
  async function open(headers: Record<string, string> = {}): Promise<string> {
    const response = await raw(INITIALIZE, headers);
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  }
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

  it('answers plain JSON unless progress is wanted', async () => {
    const session = { 'mcp-session-id': await open() };
    const plain = await raw(list, session);
    expect(plain.headers.get('content-type')).toContain('application/json');
    await plain.text();
    const wanting = await raw({ ...list, params: { _meta: { progressToken: 'p' } } }, session);
    expect(wanting.headers.get('content-type')).toContain('text/event-stream');
    await wanting.text();
  });

  const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };

  it('compresses long answers for clients that take it, in both eras', async () => {
    const old = { 'mcp-session-id': await open() };
    for (const [headers, body] of [
      [old, list],
      [modern, { ...list, params: { _meta } }],
    ] as const) {
      const plain = await raw(body, { ...headers, 'accept-encoding': 'identity' });
      expect([plain.status, plain.headers.get('content-encoding')]).toEqual([200, null]);
      const text = await plain.text();
      for (const encoding of ['br', 'gzip']) {
        const packed = await raw(body, { ...headers, 'accept-encoding': encoding });
        expect([packed.headers.get('content-encoding'), await packed.text()]).toEqual([encoding, text]);
      }
    }
  });

  it('lists the same tools each time, under the id of each request, as JSON and as an event stream', async () => {
    const { result: known } = mcpMessage(await (await raw(list, { 'mcp-session-id': await open() })).text());
    expect(known?.tools).toContainEqual(expect.objectContaining({ name: 'svc-delete-thing-v1' }));
    for (const [headers, meta] of [
      [{ 'mcp-session-id': await open() }, {}],
      [modern, _meta],
    ] as const) {
      for (const id of [1, 'two', '"tools":[]', '"tools":['])
        for (const extra of [{}, { progressToken: id }]) {
          const response = await raw({ ...list, id, params: { _meta: { ...meta, ...extra } } }, headers);
          expect(response.status).toBe(200);
          const message = mcpMessage(await response.text());
          expect([message.id, message.result?.tools]).toEqual([id, known?.tools]);
        }
    }
  });

  it('answers a repeated request for the list like the first, and only that', async () => {
    const request = { ...list, params: { _meta } };
    const send = async (body: unknown, headers: Record<string, string>) => {
      const response = await raw(body, { ...modern, ...headers });
      return { status: response.status, text: await response.text() };
    };
    const names = ({ text }: { text: string }) =>
      ((mcpMessage(text).result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
    const first = await send(request, {});
    expect(first.status).toBe(200);
    expect(names(first).length).toBeGreaterThan(1);
    for (let again = 0; again < 3; again++) expect(await send(request, {})).toEqual(first);
    // Twelve others push it out, and it comes back the same.
    for (let id = 10; id < 22; id++) expect(mcpMessage((await send({ ...request, id }, {})).text).id).toBe(id);
    expect(await send(request, {})).toEqual(first);
    expect(names(await send(request, { authorization: bearer.read }))).toEqual(['svc-look-things-v1']);
    expect((await send(request, { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await send(request, { 'mcp-method': 'tools/call' })).status).toBe(400);
    expect((await send(request, { origin: 'https://elsewhere.example' })).status).toBe(403);
  });

  it('reads messages as UTF-8 only', async () => {
    const text = JSON.stringify({ ...INITIALIZE, id: 'Café' });
    const send = (body: Buffer<ArrayBuffer>) =>
      fetch(`${listener.url}/mcp`, { method: 'POST', headers: { ...ACCEPT, authorization: bearer.all }, body });
    expect((await send(Buffer.from(text))).status).toBe(200);
    const spoilt = await send(Buffer.from(text, 'latin1'));
    expect([spoilt.status, await spoilt.json()]).toMatchObject([400, { error: { code: -32700 } }]);
  });

  it('asks for a key, and for no login that a browser would prompt for', async () => {
    const response = await fetch(`${listener.url}/mcp`, {
      method: 'POST',
      headers: ACCEPT,
      body: JSON.stringify(INITIALIZE),
    });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="svc"');
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      error: { data: { code: 'svc_rest_authentication_error', data: { status: 401 } } },
    });
  });

  it('binds a session to its principal', async () => {
    const session = { 'mcp-session-id': await open() };
    const other = await raw(list, { ...session, authorization: bearer.read });
    expect([other.status, await other.json()]).toMatchObject([404, { error: { code: -32001 } }]);
    expect((await raw(list, session)).status).toBe(200);
  });

  it('ends a session on DELETE', async () => {
    const session = { 'mcp-session-id': await open() };
    expect((await raw(undefined, session, 'DELETE')).status).toBe(200);
    expect((await raw(list, session)).status).toBe(404);
  });

  it.each<[string, unknown, Record<string, string>, number, number]>([
    ['no session', list, {}, 400, -32000],
    ['an unknown session', list, { 'mcp-session-id': 'nothing' }, 404, -32001],
    ['no JSON', '{', {}, 400, -32700],
    ['another media type', INITIALIZE, { 'content-type': 'text/plain' }, 415, -32000],
    ['an Accept without events', INITIALIZE, { accept: 'application/json' }, 406, -32000],
  ])('refuses %s', async (_name, body, headers, status, code) => {
    const before = surfaces.mcp.sessions.size;
    const response = await raw(body, headers);
    expect([response.status, await response.json()]).toMatchObject([status, { jsonrpc: '2.0', error: { code } }]);
    expect(surfaces.mcp.sessions.size).toBe(before);
  });

  it('initializes a session once, and has one listener until its client disconnects', async () => {
    const session = { 'mcp-session-id': await open() };
    const again = await raw(INITIALIZE, session);
    expect([again.status, await again.json()]).toMatchObject([400, { error: { code: -32600 } }]);
    const first = await raw(undefined, session, 'GET');
    const second = await raw(undefined, session, 'GET');
    expect([first.status, second.status]).toEqual([200, 409]);
    await second.text();
    await first.body?.cancel();
    const third = async () => {
      const response = await raw(undefined, session, 'GET');
      await response.body?.cancel();
      return response.status;
    };
    await expect.poll(third).toBe(200);
  });

  it('refuses other methods', async () => {
    const response = await raw(undefined, {}, 'PUT');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
  });

  it('forgets a session that was idle for half an hour', async () => {
    const session = { 'mcp-session-id': await open() };
    surfaces.clock.time += 29 * 60_000;
    expect((await raw(list, session)).status).toBe(200);
    surfaces.clock.time += 31 * 60_000;
    expect((await raw(list, session)).status).toBe(404);
  });

  it('ends the answer of a cancelled request', async () => {
    const session = { 'mcp-session-id': await open() };
    const work = {
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'svc-work-things-v1', arguments: { site_id_or_domain: 1, steps: 1000 } },
    };
    const before = surfaces.begun();
    const running = raw(work, session);
    await expect.poll(() => surfaces.begun()).toBeGreaterThan(before);
    const told = await raw({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, session);
    expect(told.status).toBe(202);
    expect(await (await running).json()).toMatchObject({ id: 7, error: { code: -32800 } });
  });

  it('answers only to its own names', async () => {
    const rebound = await surfaces.http.request('http://evil.example/mcp', { method: 'POST' });
    expect([rebound.status, await rebound.json()]).toMatchObject([
      403,
      { error: { data: { code: 'svc_forbidden_origin' } } },
    ]);
    const page = await raw(INITIALIZE, { origin: 'https://evil.example' });
    expect([page.status, await page.json()]).toMatchObject([
      403,
      { jsonrpc: '2.0', error: { data: { code: 'svc_forbidden_origin' } } },
    ]);
    // A page on this machine is another origin as well: any local program may serve it.
    expect((await raw(INITIALIZE, { origin: 'http://localhost:6274' })).status).toBe(403);
    expect((await raw(INITIALIZE, { origin: listener.url })).status).toBe(200);
  });
});

describe('stdio', () => {
  function start(signal = new AbortController().signal) {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const lines: string[] = [];
    stdout
      .setEncoding('utf8')
      .on('data', (text: string) => lines.push(...text.split('\n').filter((line) => line !== '')));
    const served = serveStdio({ core: surfaces.core, actor: LOCAL, signal, stdin, stdout });
    const send = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    return { stdin, lines, served, send };
  }
  const work = (id: number, steps: number) => ({
    id,
    method: 'tools/call',
    params: { name: 'svc-work-things-v1', arguments: { site_id_or_domain: 1, steps } },
  });

  it('answers what was asked before stdin ended, then ends', async () => {
    const { stdin, lines, served, send } = start();
    send(INITIALIZE);
    send(work(2, 20));
    stdin.end();
    await served;
    expect(lines.map((line) => JSON.parse(line).id)).toEqual([1, 2]);
    expect(JSON.parse(lines[1] ?? '').result.structuredContent).toEqual({ done: 20 });
  });

  it('survives a line that is no JSON', async () => {
    const { stdin, lines, served, send } = start();
    stdin.write('nonsense\n');
    send(INITIALIZE);
    stdin.end();
    await served;
    const answers = lines.map((line) => JSON.parse(line) as { id: number | null; error?: { code: number } });
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32700],
      [1, undefined],
    ]);
  });

  it('ends at once on a signal', async () => {
    const stop = new AbortController();
    const { served, send, lines } = start(stop.signal);
    send(INITIALIZE);
    const before = [surfaces.begun(), surfaces.steps()] as const;
    send(work(2, 1000));
    await expect.poll(() => surfaces.begun()).toBeGreaterThan(before[0]);
    stop.abort();
    await served;
    expect(surfaces.steps() - before[1]).toBeLessThan(1000);
    expect(lines).toHaveLength(1);
  });

  it('does not wait for a call that was cancelled', async () => {
    const { stdin, served, send } = start();
    send(INITIALIZE);
    send(work(2, 1000));
    send({ method: 'notifications/cancelled', params: { requestId: 2 } });
    stdin.end();
    const before = surfaces.steps();
    await served;
    expect(surfaces.steps() - before).toBeLessThan(1000);
  });
});

interface Message {
  id: unknown;
  result?: { tools?: object[] };
}

/** The last message of a body, which is JSON or an event stream. */
function mcpMessage(body: string): Message {
  const events = body.split('\n').filter((line) => line.startsWith('data: {'));
  return JSON.parse(events.at(-1)?.slice('data: '.length) ?? body) as Message;
}
