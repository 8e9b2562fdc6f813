/** Logins that may only read and ask for much at once: what is left of the sites for all others. */

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { SYSTEM } from '../support/harness.js';
import { holdBack } from '../support/hold-back.js';
import { type RestApp, restApp } from './client.js';

const SITES = 6;
const CONTENT = /comment|post/;

/** Connected sites of which one is called at a time, and which hold back their content. */
async function busyApp() {
  const app = await restApp({ sites: SITES, config: { concurrency: 1 } });
  const sites = Array.from({ length: SITES }, (_, index) => app.fleet.site(index));
  const ids: number[] = [];
  for (const index of sites.keys()) ids.push(await app.connect(index));
  const held = sites.map((site) => holdBack(site, CONTENT));
  return {
    app,
    ids,
    /** Resolves when a site was asked for content. */
    waiting: Promise.race(held.map(({ waiting }) => waiting)),
    letGo: () => {
      for (const each of held) each.letGo();
    },
    /** How many sites were asked for content until now. */
    asked: () => sites.filter(({ calls }) => calls.some(({ function: name }) => CONTENT.test(name))).length,
  };
}

/** Calls that wait for their turn. */
function queued({ service }: RestApp): number {
  const { child } = service.ctx({ actor: SYSTEM, request_id: 'test', signal: new AbortController().signal });
  return (child as unknown as { load(): { queued: number } }).load().queued;
}

it.each(['/comments', '/posts'])('what reads from all sites yields to a call to one: %s', async (path) => {
  const { app, ids, waiting, letGo, asked } = await busyApp();
  const reading = app.rest(`GET ${path}`, { token: app.tokens.read });
  await waiting;
  await expect.poll(() => queued(app)).toBe(SITES - 1);
  const checked = app.rest(`POST /sites/${ids[SITES - 1]}/check`).then(({ status }) => ({ status, before: asked() }));
  await expect.poll(() => queued(app)).toBe(SITES);
  letGo();
  // Every eighth place is that of who waits longest.
  expect(await checked).toEqual({ status: 200, before: expect.toSatisfy((sites: number) => sites <= 2) });
  expect((await reading).status).toBe(200);
  expect(asked()).toBe(SITES);
});

it('a login reads from many sites twice at a time; some calls wait, more are refused, and others are not concerned', async () => {
  const { app, waiting, letGo } = await busyApp();
  const { read, write } = { read: app.tokens.read, write: app.tokens.read_write };
  const reads = Array.from({ length: 10 }, () => app.rest('GET /comments', { token: read }));
  await waiting;
  await expect.poll(() => queued(app)).toBe(2 * SITES - 1);
  const refused = await app.rest('GET /posts', { token: read });
  expect(refused).toMatchObject({ status: 429, body: { code: 'svc_rest_too_many_requests' } });
  expect(refused.headers.get('retry-after')).toBe('30');
  const other = app.rest('GET /posts', { token: write });
  await expect.poll(() => queued(app)).toBe(3 * SITES - 1);
  letGo();
  expect((await Promise.all([other, ...reads])).map(({ status }) => status)).toEqual(Array(11).fill(200));
  expect((await app.rest('GET /comments', { token: read })).status).toBe(200);
});

it('of reads of single sites, ten of one login run at a time', async () => {
  const { app, ids, waiting, letGo } = await busyApp();
  const reads = Array.from({ length: 30 }, (_, n) =>
    app.rest(`GET /comments/${ids[n % SITES]}`, { token: app.tokens.read }),
  );
  await waiting;
  await expect.poll(() => queued(app)).toBe(9);
  letGo();
  expect((await Promise.all(reads)).map(({ status }) => status)).toEqual(Array(30).fill(200));
});

describe('answers that their caller does not read', () => {
  /** Asks over connections of which nothing is read until they are closed. */
  async function unreadApp() {
    const app = await restApp({ sites: 2, fleet: { plugins: 400 } });
    const mcp = await app.service.http();
    const open: ServerResponse[] = [];
    const ask = async (path: string, token: string) => {
      const outgoing = new ServerResponse(new IncomingMessage(new Socket()));
      open.push(outgoing);
      return app.http.request(`http://127.0.0.1/v2${path}`, auth(token), { outgoing });
    };
    /** The same over MCP. */
    const call = async (body: object, token: string) => {
      const outgoing = new ServerResponse(new IncomingMessage(new Socket()));
      open.push(outgoing);
      const accept = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' };
      const headers = { ...auth(token).headers, ...accept, 'mcp-protocol-version': '2026-07-28', ...of(body) };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      return mcp.request('http://127.0.0.1/mcp', init, { outgoing });
    };
    return { app, open, ask, call };
  }

  it('of exports of the log, three of one login wait at a time', async () => {
    const { app, open, ask } = await unreadApp();
    const { read, read_write } = app.tokens;
    for (let n = 0; n < 3; n++) expect((await ask('/actions/export', read)).status).toBe(200);
    const refused = await ask('/actions/export', read);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect((await ask('/actions/export', read_write)).status).toBe(200);
    open[0]?.emit('close');
    expect((await ask('/actions/export', read)).status).toBe(200);
  });

  it('of several calls over MCP at once, four of one login wait at a time', async () => {
    const { app, open, call } = await unreadApp();
    const { read, read_write } = app.tokens;
    // Answered with an error, as they name no session.
    for (let n = 0; n < 4; n++) expect((await call([ping, ping], read)).status).toBe(400);
    expect((await call([ping, ping], read)).status).toBe(429);
    expect((await call([ping, ping], read_write)).status).toBe(400);
    open[0]?.emit('close');
    expect((await call([ping, ping], read)).status).toBe(400);
  });

  it('have 32 MB of one login over MCP', async () => {
    const { app, open, call } = await unreadApp();
    const { read, read_write } = app.tokens;
    for (const index of [0, 1]) await app.connect(index);
    const list = tool(LIST, { per_page: 200 });
    const bytes = (await (await call(list, read_write)).text()).length;
    expect(bytes).toBeGreaterThan(65_536);
    const fit = Math.ceil((32 * 1024 * 1024) / bytes);
    for (let n = 0; n < fit; n++) expect((await call(list, read)).status).toBe(200);
    expect((await call(list, read)).status).toBe(429);
    expect((await call(list, read_write)).status).toBe(200);
    for (const outgoing of open) outgoing.emit('close');
    expect((await call(list, read)).status).toBe(200);
  });

  it('of callers that have hung up are not counted', async () => {
    const { app, open, ask, call } = await unreadApp();
    const { read } = app.tokens;
    for (const again of [() => ask('/actions/export', read), () => call([ping, ping], read)])
      for (let n = 0; n < 5; n++) {
        const reply = again();
        open.at(-1)?.destroy();
        expect((await reply).status).not.toBe(429);
      }
    expect((await ask('/actions/export', read)).status).toBe(200);
  });

  it('have 32 MB of one login', async () => {
    const { app, open, ask } = await unreadApp();
    const { read, read_write } = app.tokens;
    await app.connect(0);
    const list = '/sites';
    const bytes = (await (await app.http.request(`http://127.0.0.1/v2${list}`, auth(read))).text()).length;
    expect(bytes).toBeGreaterThan(65_536);
    const fit = Math.ceil((32 * 1024 * 1024) / bytes);
    for (let n = 0; n < fit; n++) expect((await ask(list, read)).status).toBe(200);
    expect((await ask('/tags', read)).status).toBe(429);
    expect((await ask(list, read_write)).status).toBe(200);
    open[0]?.emit('close');
    expect((await ask('/tags', read)).status).toBe(200);
  });
});

const LIST = 'svc-list-updates-v1';
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const tool = (name: string, args: object) => {
  const meta = { protocolVersion: '2026-07-28', clientInfo: { name: 'x', version: '1' }, clientCapabilities: {} };
  const _meta = Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [`io.modelcontextprotocol/${key}`, value]),
  );
  return { ...ping, method: 'tools/call', params: { name, arguments: args, _meta } };
};
const of = (body: object): Record<string, string> =>
  'method' in body && body.method === 'tools/call' ? { 'mcp-method': 'tools/call', 'mcp-name': LIST } : {};
const auth = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
